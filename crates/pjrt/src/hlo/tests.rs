//! Modules made by hand, with what plugins at hand don't print.

use prost::Message;

use super::{Collective, CollectiveKind, OptimizedModule, Times};
use crate::error::DecodeError;
use crate::proto;

const F32: i32 = 11;
const S32: i32 = 4;
const PRED: i32 = 1;

fn array(element_type: i32, dims: &[i64]) -> proto::Shape {
    proto::Shape { element_type, dimensions: dims.to_vec(), ..proto::Shape::default() }
}

fn tuple(shapes: &[proto::Shape]) -> proto::Shape {
    proto::Shape { element_type: 13, tuple_shapes: shapes.to_vec(), ..proto::Shape::default() }
}

/// An instruction; those of a computation are numbered from 1 by [`computation`].
fn op(opcode: &str, shape: proto::Shape, operands: &[i64]) -> proto::Instruction {
    proto::Instruction {
        name: opcode.into(),
        opcode: opcode.into(),
        shape: Some(shape),
        operand_ids: operands.to_vec(),
        ..proto::Instruction::default()
    }
}

fn parameter(shape: proto::Shape) -> proto::Instruction {
    op("parameter", shape, &[])
}

fn calling(mut instruction: proto::Instruction, computations: &[i64]) -> proto::Instruction {
    instruction.called_computation_ids = computations.to_vec();
    instruction
}

fn configured(mut instruction: proto::Instruction, config: &str) -> proto::Instruction {
    instruction.backend_config = config.into();
    instruction
}

fn constant(value: i32) -> proto::Instruction {
    let literal = proto::Literal { s32s: vec![value], ..proto::Literal::default() };
    proto::Instruction { literal: Some(literal), ..op("constant", array(S32, &[]), &[]) }
}

fn element(shape: proto::Shape, tuple: i64, index: i64) -> proto::Instruction {
    proto::Instruction { tuple_index: index, ..op("get-tuple-element", shape, &[tuple]) }
}

fn compare(direction: &str, lhs: i64, rhs: i64) -> proto::Instruction {
    let shape = array(PRED, &[]);
    proto::Instruction {
        comparison_direction: direction.into(),
        ..op("compare", shape, &[lhs, rhs])
    }
}

/// The last instruction is the root.
fn computation(id: i64, mut instructions: Vec<proto::Instruction>) -> proto::Computation {
    for (position, instruction) in instructions.iter_mut().enumerate() {
        instruction.id = position as i64 + 1;
    }
    let root_id = instructions.len() as i64;
    proto::Computation { id, root_id, instructions, name: format!("computation.{id}").into() }
}

/// The last computation is the entry.
fn module(computations: Vec<proto::Computation>) -> proto::Module {
    let entry = computations.last().map_or(0, |computation| computation.id);
    proto::Module { computations, entry_computation_id: entry, ..proto::Module::default() }
}

fn read(module: proto::Module) -> OptimizedModule {
    OptimizedModule::decode(&module.encode_to_vec(), 4, 2).expect("it can be read")
}

fn only(module: &OptimizedModule) -> &Collective {
    match module.collectives() {
        [collective] => collective,
        other => panic!("one collective is expected: {other:?}"),
    }
}

fn reduction() -> proto::Instruction {
    op("all-reduce", array(F32, &[8]), &[1])
}

fn group_size(instruction: proto::Instruction) -> u64 {
    let entry = computation(1, vec![parameter(array(F32, &[8])), instruction]);
    only(&read(module(vec![entry]))).group_size
}

#[test]
fn groups_in_every_form() {
    let with = |change: &dyn Fn(&mut proto::Instruction)| {
        let mut instruction = reduction();
        instruction.channel_id = 1;
        instruction.use_global_device_ids = true;
        change(&mut instruction);
        group_size(instruction)
    };
    let group = |ids: &[i64]| proto::ReplicaGroup { replica_ids: ids.to_vec() };
    let iota = proto::IotaReplicaGroupList { num_replica_groups: 2, num_devices_per_group: 4 };
    let lists = vec![group(&[0, 1, 2]), group(&[3, 4, 5, 6, 7])];
    assert_eq!(with(&|_| {}), 8);
    assert_eq!(with(&|i| i.replica_groups = lists.clone()), 5);
    assert_eq!(
        with(&|i| {
            i.collective_device_list = Some(proto::CollectiveDeviceList {
                replica_groups: lists.clone(),
                iota_replica_group_list: None,
            });
        }),
        5
    );
    assert_eq!(
        with(&|i| {
            i.collective_device_list = Some(proto::CollectiveDeviceList {
                replica_groups: vec![],
                iota_replica_group_list: Some(iota.clone()),
            });
        }),
        4
    );
    assert_eq!(with(&|i| i.iota_collective_device_list = Some(iota.clone())), 4);
    let sizes = [2, 4].map(|size| proto::MeshAxis { size });
    let axes = |axes: Vec<proto::AxisRef>| {
        with(&|i| {
            i.mesh_axes_replica_group_list = Some(proto::MeshAxesReplicaGroupList {
                mesh: Some(proto::Mesh { axes: sizes.to_vec() }),
                axes: axes.clone(),
            });
        })
    };
    let axis = |index, size: Option<i64>| proto::AxisRef {
        mesh_axis_index: index,
        sub_axis_info: size.map(|size| proto::SubAxis { size }),
    };
    assert_eq!(axes(vec![axis(1, None)]), 4);
    assert_eq!(axes(vec![axis(0, None), axis(1, None)]), 8);
    assert_eq!(axes(vec![axis(1, Some(2))]), 2);
    // Malformed: all devices.
    assert_eq!(axes(vec![axis(7, None)]), 8);
}

#[test]
fn groups_in_every_mode() {
    // Four replicas of two partitions.
    let with = |opcode: &str, channel_id, use_global_device_ids, groups: &[&[i64]]| {
        group_size(proto::Instruction {
            channel_id,
            use_global_device_ids,
            replica_groups: groups
                .iter()
                .map(|ids| proto::ReplicaGroup { replica_ids: ids.to_vec() })
                .collect(),
            ..op(opcode, array(F32, &[8]), &[1])
        })
    };
    assert_eq!(with("all-reduce", 0, false, &[]), 4);
    assert_eq!(with("all-reduce", 0, false, &[&[0, 1], &[2, 3]]), 2);
    assert_eq!(with("all-reduce", 1, true, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]), 2);
    // Replica ids, each with its partitions.
    assert_eq!(with("all-reduce", 1, false, &[&[0, 1], &[2, 3]]), 4);
    assert_eq!(with("all-gather-start", 1, false, &[&[0, 1], &[2, 3]]), 4);
    // Partition ids.
    assert_eq!(with("all-to-all", 1, false, &[]), 2);
    assert_eq!(with("all-to-all", 0, false, &[]), 4);
}

#[test]
fn asynchronous_pairs_count_once() {
    let shape = || array(F32, &[8]);
    let wrapped = computation(1, vec![parameter(shape()), op("all-to-all", shape(), &[1])]);
    let state = tuple(&[shape(), shape()]);
    let entry = computation(
        2,
        vec![
            parameter(shape()),
            calling(op("async-start", state.clone(), &[1]), &[1]),
            calling(op("async-update", state.clone(), &[2]), &[1]),
            calling(op("async-done", shape(), &[3]), &[1]),
            op("all-gather-start", tuple(&[shape(), array(F32, &[32])]), &[1]),
            op("all-gather-done", array(F32, &[32]), &[5]),
            op("all-reduce-start", shape(), &[1]),
            op("all-reduce-done", shape(), &[7]),
            op("collective-permute-start", state, &[1]),
            op("collective-permute-done", shape(), &[9]),
        ],
    );
    let module = read(module(vec![wrapped, entry]));
    let found: Vec<_> = module
        .collectives()
        .iter()
        .map(|c| (c.kind, c.payload_bytes, c.group_size, c.wire_bytes, c.times.count))
        .collect();
    assert_eq!(
        found,
        [
            (CollectiveKind::AllToAll, 32, 4, 24, 1),
            (CollectiveKind::AllGather, 128, 4, 96, 1),
            (CollectiveKind::AllReduce, 32, 4, 48, 1),
            (CollectiveKind::CollectivePermute, 32, 4, 32, 1),
        ]
    );
}

/// A loop whose state is a counter and an array, with a reduction in its body. `step` computes
/// instruction 4 of the body from the counter, instruction 2, and the constant, instruction 3.
fn counting_loop(
    from: i32,
    step: (&str, i32),
    (direction, limit): (&str, i32),
    config: &str,
) -> Times {
    let state = || tuple(&[array(S32, &[]), array(F32, &[8])]);
    let scalar = || array(S32, &[]);
    let body = computation(
        1,
        vec![
            parameter(state()),
            element(scalar(), 1, 0),
            constant(step.1),
            op(step.0, scalar(), &[2, 3]),
            element(array(F32, &[8]), 1, 1),
            op("all-reduce", array(F32, &[8]), &[5]),
            op("tuple", state(), &[4, 6]),
        ],
    );
    // The comparison is in a fusion, as compilers like it.
    let fused = computation(
        2,
        vec![
            proto::Instruction { parameter_number: 1, ..parameter(scalar()) },
            parameter(scalar()),
            compare(direction, 2, 1),
        ],
    );
    let condition = computation(
        3,
        vec![
            parameter(state()),
            element(scalar(), 1, 0),
            constant(limit),
            calling(op("fusion", array(PRED, &[]), &[2, 3]), &[2]),
        ],
    );
    let entry = computation(
        4,
        vec![
            parameter(array(F32, &[8])),
            constant(from),
            op("copy", scalar(), &[2]),
            op("tuple", state(), &[3, 1]),
            configured(calling(op("while", state(), &[4]), &[1, 3]), config),
        ],
    );
    only(&read(module(vec![body, fused, condition, entry]))).times
}

#[test]
fn trip_counts() {
    let exact = |count| Times { count, exact: true };
    let unknown = Times { count: 1, exact: false };
    assert_eq!(counting_loop(0, ("add", 1), ("LT", 12), ""), exact(12));
    assert_eq!(counting_loop(3, ("add", 2), ("LE", 9), ""), exact(4));
    assert_eq!(counting_loop(10, ("subtract", 3), ("GT", 0), ""), exact(4));
    assert_eq!(counting_loop(1, ("multiply", 2), ("NE", 64), ""), exact(6));
    assert_eq!(counting_loop(5, ("add", 1), ("LT", 5), ""), exact(0));
    // It never ends, or not soon enough.
    assert_eq!(counting_loop(0, ("add", 0), ("LT", 5), ""), unknown);
    assert_eq!(counting_loop(0, ("add", 1), ("LT", i32::MAX), ""), unknown);
    // An operation that isn't followed.
    assert_eq!(counting_loop(64, ("divide", 2), ("GT", 1), ""), unknown);
    // What the compiler wrote down is believed.
    let config = r#"{"known_trip_count":{"n":"7"},"known_init_step":{"init":"0","step":"1"}}"#;
    assert_eq!(counting_loop(0, ("divide", 1), ("LT", 5), config), exact(7));
}

#[test]
fn operations_of_contractions() {
    // A batch of 3 products of 4x5 and 5x6, twice.
    let numbers = proto::DotDimensionNumbers { lhs_contracting_dimensions: vec![2] };
    let dot = proto::Instruction {
        dot_dimension_numbers: Some(numbers),
        ..op("dot", array(F32, &[3, 4, 6]), &[1, 2])
    };
    let inputs = || vec![parameter(array(F32, &[3, 4, 5])), parameter(array(F32, &[3, 5, 6]))];
    let product = computation(1, [inputs(), vec![dot]].concat());
    let call = || calling(op("call", array(F32, &[3, 4, 6]), &[1, 2]), &[1]);
    let entry = computation(2, [inputs(), vec![call(), call()]].concat());
    assert_eq!(read(module(vec![product, entry])).contraction_flops(), 2 * 2 * 3 * 4 * 5 * 6);

    // An image of 2x8x8 with 3 features, a kernel of 3x3 to 5 features, padded all around: in
    // each direction 8·3 pairs but for one at each end.
    let side = || proto::WindowDimension {
        stride: 1,
        padding_low: 1,
        window_dilation: 1,
        base_dilation: 1,
    };
    let numbers = proto::ConvolutionDimensionNumbers {
        kernel_input_feature_dimension: 2,
        kernel_spatial_dimensions: vec![0, 1],
        output_batch_dimension: 0,
        output_feature_dimension: 3,
        input_spatial_dimensions: vec![1, 2],
        output_spatial_dimensions: vec![1, 2],
    };
    let convolution = proto::Instruction {
        window: Some(proto::Window { dimensions: vec![side(), side()] }),
        convolution_dimension_numbers: Some(numbers),
        ..op("convolution", array(F32, &[2, 8, 8, 5]), &[1, 2])
    };
    let image = parameter(array(F32, &[2, 8, 8, 3]));
    let kernel = parameter(array(F32, &[3, 3, 3, 5]));
    let entry = computation(1, vec![image, kernel, convolution]);
    let flops = read(module(vec![entry])).contraction_flops();
    assert_eq!(flops, 2 * 2 * 3 * 5 * 22 * 22);
}

#[test]
fn a_configuration_in_the_module() {
    let shape = || array(F32, &[8]);
    let source = proto::payload::Source::Id(0);
    let copy = proto::Instruction {
        backend_config_payload: Some(proto::Payload { source: Some(source) }),
        ..op("copy", shape(), &[1])
    };
    let mut module = module(vec![computation(1, vec![parameter(shape()), copy])]);
    module.payloads = vec![br#"{"window_config":{"estimated_cycles":"123"}}"#.to_vec()];
    let module = read(module);
    assert_eq!(module.instructions[1].estimated_cycles, Some(123));
    assert_eq!(module.estimated_cycles().cycles, 123);
}

#[test]
fn calls_add_up_and_branches_are_uncertain() {
    let shape = || array(F32, &[8]);
    let config = r#"{"window_config":{"estimated_cycles":"10"}}"#;
    let copies = |id| {
        let copy = configured(op("copy", shape(), &[1]), config);
        computation(id, vec![parameter(shape()), copy])
    };
    let add = computation(5, vec![parameter(array(F32, &[])), parameter(array(F32, &[]))]);
    let entry = computation(
        6,
        vec![
            parameter(shape()),
            calling(op("call", shape(), &[1]), &[1]),
            calling(op("call", shape(), &[2]), &[1]),
            calling(op("fusion", shape(), &[3]), &[2]),
            calling(op("conditional", shape(), &[4]), &[3, 4]),
            calling(op("reduce", shape(), &[5]), &[5]),
        ],
    );
    let module = read(module(vec![copies(1), copies(2), copies(3), copies(4), add, entry]));
    let copies: Vec<_> = module
        .instructions
        .iter()
        .filter(|instruction| instruction.opcode == "copy")
        .map(|copy| (copy.times.count, copy.times.exact, copy.fused))
        .collect();
    assert_eq!(copies, [(2, true, false), (1, true, true), (1, false, false), (1, false, false)]);
    let cycles = module.estimated_cycles();
    // The fusion's own estimate would stand for the copy in it.
    assert_eq!((cycles.cycles, cycles.estimated, cycles.exact), (40, 3, false));
    // What a reduction applies to elements doesn't run by itself.
    assert!(module.instructions.iter().all(|i| i.computation != "computation.5"));
}

#[test]
fn a_fused_reduce_scatter() {
    let whole = || array(F32, &[8]);
    let kinds = |kept: i64, name: &str| {
        let mut body = computation(
            1,
            vec![parameter(whole()), reduction(), op("dynamic-slice", array(F32, &[kept]), &[2])],
        );
        body.name = name.into();
        let mut fusion = calling(op("fusion", array(F32, &[kept]), &[1]), &[1]);
        fusion.metadata = Some(proto::OpMetadata {
            op_name: "jit(f)/psum_scatter".into(),
            source_file: "model.py".into(),
            source_line: 12,
            ..proto::OpMetadata::default()
        });
        let module = read(module(vec![body, computation(2, vec![parameter(whole()), fusion])]));
        let found = only(&module);
        assert_eq!(found.op_name, "jit(f)/psum_scatter");
        assert_eq!(found.source.as_ref().map(|source| source.line), Some(12));
        (found.kind, found.payload_bytes, found.wire_bytes)
    };
    // The group has four replicas.
    let scatter = (CollectiveKind::ReduceScatter, 32, 24);
    let reduce = (CollectiveKind::AllReduce, 32, 48);
    assert_eq!(kinds(2, "all-reduce-scatter.1"), scatter);
    assert_eq!(kinds(4, "all-reduce-scatter.1"), reduce);
    assert_eq!(kinds(2, "fused_computation"), reduce);
}

#[test]
fn malformed_modules_are_errors() {
    let shape = || array(F32, &[8]);
    let refused = |module: proto::Module| {
        OptimizedModule::decode(&module.encode_to_vec(), 1, 1).expect_err("it is malformed")
    };
    assert!(matches!(refused(proto::Module::default()), DecodeError::Dangling(_)));
    let itself = computation(1, vec![op("copy", shape(), &[1])]);
    assert!(matches!(refused(module(vec![itself])), DecodeError::Dangling(_)));
    let nowhere = computation(1, vec![calling(op("call", shape(), &[]), &[9])]);
    assert!(matches!(refused(module(vec![nowhere])), DecodeError::Dangling(_)));
    let recursive = computation(1, vec![calling(op("call", shape(), &[]), &[1])]);
    assert!(matches!(refused(module(vec![recursive])), DecodeError::Dangling(_)));
    assert!(matches!(refused(module(vec![computation(1, vec![])])), DecodeError::Dangling(_)));
    let bytes = [0xff; 16];
    assert!(matches!(OptimizedModule::decode(&bytes, 1, 1), Err(DecodeError::Bytes(_))));
    assert!(matches!(OptimizedModule::decode_with_config(&bytes), Err(DecodeError::Bytes(_))));
}
