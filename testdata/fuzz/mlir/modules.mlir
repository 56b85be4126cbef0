module @outer attributes {a.b = @x::@y} {
module @inner {
sdy.mesh @m = <["x"=2]>
func.func private @g(%arg0: tensor<2xf32> {a.c}) -> tensor<2xf32>
func.func @h(%arg0: tensor<2xf32>) -> tensor<2xf32> {
%0 = call @g(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
return {a.d} %0 : tensor<2xf32>
}
}
}
{-# dialect_resources: { builtin: { blob: "0x04000000000000000000803F" } } #-}
