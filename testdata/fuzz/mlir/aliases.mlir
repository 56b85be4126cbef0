// A comment.
#dims = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
!t = tensor<4x4xf32>
func.func @f(%a: !t) -> !t { // another
%0 = "stablehlo.dot_general"(%a, %a) {dot_dimension_numbers = #dims} : (!t, !t) -> !t loc(#loc2)
"foo.op"() {a = #later, b = #foo.bar<#later, !t, "#later">} : () -> ()
return %0 : !t } loc(#loc1)
#later = {x = !t}
#loc1 = loc(fused<"m">[#loc2, "f.py":3:4 to 5:6])
#loc2 = loc(callsite("n"("g.py":1:2 to :3) at unknown))
