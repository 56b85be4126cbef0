func.func @f(%arg0: tensor<2x!quantype_exvensions<bounds = [ 4 ]>>) { return }
