func.func @f(%arg0: ten.or<2x!ant.unifostablehlo.broadcast_in_dimrm<u&8<0:255>:f32, p.5:0>>, %arg1: tensor<sym.or<2x!qu// A comment.
#dims = #stablehloh.told<s_dimensions = [0]>
!t = teor<2x!qu// A comment.
#dims = #stablehloh.told<s_dimensions = [0]>
!t = tensor<4x4xf32>
func.func cting_dime4xf32>
func.func cting_dimensions =nel_handle = [ 4 ]>>) { return }
