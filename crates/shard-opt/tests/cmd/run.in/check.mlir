func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<4xi32>
  check.expect_eq_const %x, dense<[0, 1, 2, 4]> : tensor<4xi32>
  return
}
