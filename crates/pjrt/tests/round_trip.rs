//! Arrays of every element type come back from every CPU plugin as they were, in row-major order.

mod common;

use common::{cpu_plugins, f32s, label};
use shard_ir::ElementType::{self, *};
use shard_pjrt::{Client, CompileOptions, Error, HostArray, InputError, Program};

/// Types that every plugin build carries.
const TYPES: &[ElementType] = &[
    I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, BF16, F16, F32, F64, C64, C128, F8E4M3FN, F8E5M2,
];

/// Types that the plugin of API 0.81 can't compile a copy of: it throws a C++ exception, which
/// ends the process.
const NEWER_TYPES: &[ElementType] = &[I4, UI4];

/// Distinct bytes; booleans are 0 or 1, and 4-bit integers fit into 4 bits.
fn array(element_type: ElementType, dims: &[i64]) -> HostArray {
    let count: i64 = dims.iter().product();
    let size = count as usize * element_type.storage_bytes();
    let byte = |position: usize| match element_type {
        I1 => (position % 2) as u8,
        I4 | UI4 => (position % 7) as u8,
        // Small enough to be an ordinary number in every float type.
        _ => 0x11 + position as u8 % 0x30,
    };
    HostArray::new(element_type, dims.to_vec(), (0..size).map(byte).collect()).expect("it fits")
}

fn transposed(array: &HostArray) -> HostArray {
    let (rows, columns) = (array.dims[0] as usize, array.dims[1] as usize);
    let size = array.element_type.storage_bytes();
    let element = |position: usize| {
        let (row, column) = (position % rows, position / rows);
        &array.bytes[(row * columns + column) * size..][..size]
    };
    let bytes = (0..rows * columns).flat_map(element).copied().collect();
    HostArray::new(array.element_type, vec![array.dims[1], array.dims[0]], bytes).expect("it fits")
}

#[test]
fn every_element_type_comes_back() {
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, 1).expect("a client");
        assert_eq!(client.platform_name(), "cpu");
        assert_eq!(client.device_count(), 1);
        let newer = if plugin.api_version() >= (0, 100) { NEWER_TYPES } else { &[] };
        for ty in TYPES.iter().chain(newer) {
            let text = format!(
                "func.func @main(%a: tensor<3x5x{ty}>, %s: tensor<{ty}>, %e: tensor<0x4x{ty}>)
                   -> (tensor<5x3x{ty}>, tensor<3x5x{ty}>, tensor<{ty}>, tensor<0x4x{ty}>) {{
                  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x5x{ty}>) -> tensor<5x3x{ty}>
                  return %t, %a, %s, %e
                    : tensor<5x3x{ty}>, tensor<3x5x{ty}>, tensor<{ty}>, tensor<0x4x{ty}>
                }}"
            );
            let context = format!("{ty} on {}", label(&plugin));
            let executable = client
                .compile(&Program::Mlir(&text), &CompileOptions::default())
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            let inputs = vec![array(*ty, &[3, 5]), array(*ty, &[]), array(*ty, &[0, 4])];
            let results = executable
                .execute(std::slice::from_ref(&inputs))
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            let [matrix, scalar, empty] = inputs.try_into().expect("three inputs");
            let expected = vec![transposed(&matrix), matrix, scalar, empty];
            assert_eq!(results, [expected], "{context}");
        }
    }
}

#[test]
fn types_without_buffers_are_refused() {
    let plugin = cpu_plugins().swap_remove(0);
    let client = Client::cpu(&plugin, 1).expect("a client");
    let text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }";
    let executable =
        client.compile(&Program::Mlir(text), &CompileOptions::default()).expect("it compiles");
    let index = HostArray { element_type: Index, dims: vec![1], bytes: vec![0; 8] };
    let error = executable.execute(&[vec![index]]).expect_err("it is refused");
    assert!(matches!(error, Error::Input(InputError::ElementType(_))), "{error}");
}

#[test]
fn wrong_inputs_are_errors() {
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, 2).expect("a client");
        let text =
            "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }";
        let executable = client
            .compile(&Program::Mlir(text), &CompileOptions::replicas(2))
            .expect("it compiles");
        let good = || f32s(&[2], [1.0, 2.0]);
        let refused = |inputs: &[Vec<HostArray>]| executable.execute(inputs).expect_err("refused");

        let error = refused(&[vec![good()]]);
        let devices = InputError::Devices { expected: 2, found: 1 };
        assert!(matches!(&error, Error::Input(input) if *input == devices), "{error}");

        let error = refused(&[vec![good()], vec![]]);
        let uneven = InputError::Uneven { first: 1, device: 1, found: 0 };
        assert!(matches!(&error, Error::Input(input) if *input == uneven), "{error}");

        let short = HostArray { bytes: vec![0; 7], ..good() };
        let error = refused(&[vec![good()], vec![short]]);
        assert_eq!(error.to_string(), "an array of 2xf32 takes 8 bytes, not 7");

        let negative = HostArray { dims: vec![-2], ..good() };
        let error = refused(&[vec![good()], vec![negative]]);
        assert_eq!(error.to_string(), "-2xf32 is not a shape that fits in memory");

        let error = refused(&[vec![], vec![]]);
        let arguments = InputError::Arguments { expected: 1, found: 0 };
        assert!(matches!(&error, Error::Input(input) if *input == arguments), "{error}");

        let three = f32s(&[3], [0.0; 3]);
        let error = refused(&[vec![good()], vec![three.clone()]]);
        assert_eq!(
            error.to_string(),
            "argument 0 is a f32[2] on each device; device 1 got a f32[3]"
        );

        // Buffers that were made for another program.
        let other = text.replace("2xf32", "3xf32");
        let other = client
            .compile(&Program::Mlir(&other), &CompileOptions::replicas(2))
            .expect("it compiles");
        let buffers = other.upload(&[vec![three.clone()], vec![three]]).expect("they fit it");
        let error = executable.run(&buffers).expect_err("they are refused");
        assert!(matches!(&error, Error::Input(InputError::Argument { .. })), "{error}");

        // Buffers of another client.
        let other = Client::cpu(&plugin, 2).expect("a second client");
        let other =
            other.compile(&Program::Mlir(text), &CompileOptions::replicas(2)).expect("it compiles");
        let buffers = other.upload(&[vec![good()], vec![good()]]).expect("they are uploaded");
        let error = executable.run(&buffers).expect_err("they are refused");
        assert!(matches!(&error, Error::Input(InputError::OtherClient { device: 0 })), "{error}");

        // After all that the program still runs.
        assert_eq!(
            executable.execute(&[vec![good()], vec![good()]]).expect("it runs"),
            [vec![good()], vec![good()]]
        );
    }
}

#[test]
fn bad_programs_and_options_are_errors() {
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, 2).expect("a client");
        let error = client
            .compile(&Program::Mlir("func.func @main( oops"), &CompileOptions::default())
            .expect_err("it is refused");
        let text = error.to_string();
        assert!(error.plugin_error().is_some(), "{text}");
        assert!(text.contains(&plugin.path().display().to_string()), "{text}");

        let text =
            "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }";
        let compile = |options: CompileOptions| client.compile(&Program::Mlir(text), &options);
        let error = compile(CompileOptions::replicas(0)).expect_err("it is refused");
        assert!(matches!(error, Error::Input(InputError::DeviceCount(0))), "{error}");
        let error = compile(CompileOptions {
            device_assignment: Some(vec![0]),
            ..CompileOptions::replicas(2)
        })
        .expect_err("it is refused");
        assert!(matches!(error, Error::Input(InputError::Assignment { .. })), "{error}");
        let error = compile(CompileOptions::replicas(3)).expect_err("there are two devices");
        assert!(error.plugin_error().is_some(), "{error}");
        let flag = ("xla_no_such_flag".to_owned(), shard_pjrt::FlagValue::Bool(true));
        let error = compile(CompileOptions { flags: vec![flag], ..CompileOptions::default() })
            .expect_err("there is no such flag");
        assert!(error.plugin_error().is_some(), "{error}");
    }
    let plugin = cpu_plugins().swap_remove(0);
    let error = Client::cpu(&plugin, 0).expect_err("no devices");
    assert!(matches!(error, Error::Input(InputError::DeviceCount(0))), "{error}");
}
