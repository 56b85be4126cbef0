//! A module's computations and instructions, found by their ids.

use rustc_hash::FxHashMap;

use crate::error::DecodeError;
use crate::proto;

/// An instruction, by the positions of its computation and of itself in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub computation: usize,
    pub position: usize,
}

/// A module whose references are checked: operands come before their users, and called
/// computations before their callers, so that nothing refers to itself.
pub(super) struct Graph<'a> {
    module: &'a proto::Module,
    pub entry: usize,
    computations: FxHashMap<i64, usize>,
    /// For each computation, the positions of its instructions.
    instructions: Vec<FxHashMap<i64, usize>>,
}

impl<'a> Graph<'a> {
    pub fn new(module: &'a proto::Module) -> Result<Self, DecodeError> {
        let computations: FxHashMap<i64, usize> = (module.computations.iter().enumerate())
            .map(|(position, computation)| (computation.id, position))
            .collect();
        let instructions = (module.computations.iter())
            .map(|computation| {
                (computation.instructions.iter().enumerate())
                    .map(|(position, instruction)| (instruction.id, position))
                    .collect()
            })
            .collect();
        let entry = computations.get(&module.entry_computation_id).copied();
        let entry = entry.ok_or_else(|| {
            DecodeError::Dangling(format!("no computation {}", module.entry_computation_id))
        })?;
        let graph = Graph { module, entry, computations, instructions };
        graph.check()?;
        Ok(graph)
    }

    fn check(&self) -> Result<(), DecodeError> {
        for (computation, proto) in self.module.computations.iter().enumerate() {
            for (position, instruction) in proto.instructions.iter().enumerate() {
                let node = Node { computation, position };
                let operands = instruction.operand_ids.iter();
                let called = instruction.called_computation_ids.iter();
                let before =
                    |id: &i64| self.position(computation, *id).is_some_and(|p| p < position);
                let callee = |id: &i64| self.callee(*id).is_some_and(|p| p < computation);
                if !operands.clone().all(before) || !called.clone().all(callee) {
                    return Err(DecodeError::Dangling(format!(
                        "{} refers to what doesn't come before it",
                        self.name(node)
                    )));
                }
            }
            if self.position(computation, proto.root_id).is_none() {
                return Err(DecodeError::Dangling(format!(
                    "the computation {} has no root",
                    String::from_utf8_lossy(&proto.name)
                )));
            }
        }
        Ok(())
    }

    fn position(&self, computation: usize, id: i64) -> Option<usize> {
        self.instructions[computation].get(&id).copied()
    }

    fn callee(&self, id: i64) -> Option<usize> {
        self.computations.get(&id).copied()
    }

    pub fn len(&self) -> usize {
        self.module.computations.len()
    }

    pub fn module(&self) -> &'a proto::Module {
        self.module
    }

    pub fn computation(&self, computation: usize) -> &'a proto::Computation {
        &self.module.computations[computation]
    }

    pub fn instructions(&self, computation: usize) -> &'a [proto::Instruction] {
        &self.computation(computation).instructions
    }

    pub fn get(&self, node: Node) -> &'a proto::Instruction {
        &self.instructions(node.computation)[node.position]
    }

    pub fn name(&self, node: Node) -> String {
        String::from_utf8_lossy(&self.get(node).name).into_owned()
    }

    pub fn root(&self, computation: usize) -> Node {
        let root = self.computation(computation).root_id;
        // Checked when the graph was made.
        Node { computation, position: self.position(computation, root).unwrap_or(0) }
    }

    /// The instruction's operands.
    pub fn operands(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let computation = node.computation;
        (self.get(node).operand_ids.iter())
            .filter_map(move |id| self.position(computation, *id))
            .map(move |position| Node { computation, position })
    }

    pub fn operand(&self, node: Node, position: usize) -> Option<Node> {
        self.operands(node).nth(position)
    }

    /// The computations that the instruction calls.
    pub fn called(&self, node: Node) -> impl Iterator<Item = usize> + '_ {
        self.get(node).called_computation_ids.iter().filter_map(|id| self.callee(*id))
    }

    /// The instruction's backend configuration, wherever the module keeps it.
    pub fn backend_config(&self, node: Node) -> &'a [u8] {
        use proto::payload::Source;
        let instruction = self.get(node);
        match instruction.backend_config_payload.as_ref().and_then(|p| p.source.as_ref()) {
            Some(Source::Value(bytes)) => bytes,
            Some(Source::Id(id)) => {
                let position = usize::try_from(*id).unwrap_or(usize::MAX);
                self.module.payloads.get(position).map_or(&[], Vec::as_slice)
            }
            None => &instruction.backend_config,
        }
    }
}
