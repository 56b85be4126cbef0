func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@late, [{"x"}]>}) -> (tensor<4xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@late, [{}]>}) { return %a : tensor<4xf32> }
sdy.mesh @late = <["x"=2, "y"=1], device_ids=[1, 0]> {foo = 1}
sdy.mesh @one = <[], device_ids=[3]>
