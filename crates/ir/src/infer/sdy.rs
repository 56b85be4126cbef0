//! The sdy dialect: its collectives work on global shapes, so that types don't change. Shardings
//! are checked by the verifier, which knows those of the operands.

use crate::ops::Sdy;

use super::context::{Cx, Found};
use super::{InferredType, creation};

pub(super) fn infer(cx: &mut Cx, kind: &Sdy) -> Found {
    match kind {
        Sdy::ShardingConstraint(_)
        | Sdy::Reshard(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge
        | Sdy::PropagationBarrier(_)
        | Sdy::SdyAllGather(_)
        | Sdy::SdyAllSlice(_)
        | Sdy::SdyAllToAll(_)
        | Sdy::SdyCollectivePermute(_)
        | Sdy::SdyAllReduce(_)
        | Sdy::SdyReduceScatter(_)
        | Sdy::ShardedToUnreduced(_)
        | Sdy::ReplicatedToUnreduced(_) => Some(vec![InferredType::Known(cx.operand_type(0))]),
        Sdy::ShardingGroup(_) => {
            cx.tensor(0, "operand")?;
            Some(Vec::new())
        }
        Sdy::SdyConstant(op) => creation::constant(cx, &op.value),
        Sdy::ManualComputation(_) => cx.all_given(),
        Sdy::NamedComputation(_) => {
            let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
            let operands = cx.operand_types();
            cx.same_types(("operands", &operands), ("parameters of the body", &params))?;
            Some(returns.into_iter().map(InferredType::Known).collect())
        }
    }
}
