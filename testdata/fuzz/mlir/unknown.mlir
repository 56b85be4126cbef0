sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: !foo.bar<"a>", [1, 2], (x) -> y>, %arg1: tensor<4x!quant.uniform<i8:f32, 2.000000e+00:15>>, %arg2: tensor<*xf32>, %arg3: tuple<>, %arg4: (i32) -> (i32, f32), %arg5: tensor<4xi37>, %arg6: memref<4xf32, strided<[1]>>) {
  %0:2 = "foo.op"(%arg0, %arg1) <{p = #foo.attr<{"a"}: 0->1>, q = affine_map<(d0) -> (d0)>}> ({
  ^bb0(%arg7: index):
  "cf.br"(%arg7)[^bb1] : (index) -> ()
  ^bb1(%1: index):
  "foo.end"()[^bb1, ^bb0] : () -> ()
  }, {
  }) {a = #foo<bar>, b = [1, 2.500000e+00, 3 : i8, unit, i32, "s\22", @a::@"b c"], c = -5 : index, d = 0x7FC00000 : f32, e, f = array<f32: 1.000000e+00, 2.500000e+00>, g = array<i64>, h = #stablehlo<comparison_direction EQ>, i = dense<"text"> : tensor<1x!foo.string>, "j k" = {}, l = 340282366920938463463374607431768211455 : i128} : (!foo.bar<"a>", [1, 2], (x) -> y>, tensor<4x!quant.uniform<i8:f32, 2.000000e+00:15>>) -> (i32, none)
  return
}
