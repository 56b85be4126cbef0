func.func private @g(tensor<2xi32>) -> tensor<2xi32>
func.func @f(%arg0: tensor<2x?xf32>, %i: index, %x: tensor<2xi32>, %p: i1) {
%c = arith.constant 3 : index
%0 = arith.addi %i, %c overflow<nsw> : index
%1 = arith.cmpi slt, %i, %c : index
%2 = arith.select %p, %i, %c : index
%3 = arith.index_cast %x : tensor<2xi32> to tensor<2xindex>
%4 = tensor.dim %arg0, %c : tensor<2x?xf32>
%5 = tensor.extract %x[%i] : tensor<2xi32>
%6 = tensor.from_elements %i, %c : tensor<2xindex>
%7 = shape.shape_of %arg0 : tensor<2x?xf32> -> tensor<2xindex>
%8 = shape.const_shape [1, 2] : tensor<2xindex>
%w = shape.cstr_broadcastable %7, %8 : tensor<2xindex>, tensor<2xindex>
%9 = shape.assuming %w -> (tensor<2xi32>) { shape.assuming_yield %x : tensor<2xi32> }
%10 = scf.for %k = %i to %c step %c iter_args(%a = %x) -> (tensor<2xi32>) {
%v = tensor.insert %5 into %a[%k] : tensor<2xi32>
scf.yield %v : tensor<2xi32>
}
%11 = func.constant @g : (tensor<2xi32>) -> tensor<2xi32>
%12 = call_indirect %11(%x) : (tensor<2xi32>) -> tensor<2xi32>
%13 = chlo.broadcast_add %x, %x {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
check.expect_eq_const %x, dense<1> : tensor<2xi32>
check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xi32>, tensor<2xi32>
%14 = interpreter.probe %x, probe_id = "p" : tensor<2xi32>
return }
