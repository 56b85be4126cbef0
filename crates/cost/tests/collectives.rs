//! Times against hand calculation, and what must hold of any of them.

use proptest::prelude::*;
use shard_cost::CollectiveKind::*;
use shard_cost::*;
use shard_ir::{AxisRef, ElementType, Mesh};

const KINDS: [CollectiveKind; 6] =
    [AllGather, AllReduce, ReduceScatter, AllToAll, Permute, Shift { places: 1 }];

fn axes(mesh: &Mesh, names: &[&str]) -> Vec<AxisRef> {
    names.iter().filter_map(|name| mesh.axis(name)).collect()
}

fn microseconds(
    topology: &str,
    mesh: &Mesh,
    kind: CollectiveKind,
    names: &[&str],
    bytes: u64,
) -> f64 {
    let topology = Topology::parse(topology).unwrap_or_default();
    let placement = topology.place(mesh);
    let seconds = placement.map(|placed| placed.seconds(kind, &axes(mesh, names), bytes));
    seconds.unwrap_or(f64::NAN) * 1e6
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected * 1e-9, "{found} instead of {expected}");
}

fn cube() -> Mesh {
    Mesh::new(&[("x", 4), ("y", 4), ("z", 4)])
}

/// "How to Scale Your Model": bf16[1024,4096] split over X and Y of a 4x4x4 slice, gathered over X
/// alone in 23 µs, over both in 46 µs.
#[test]
fn the_books_gathers() {
    let local = 2 * 1024 * 4096 / 16;
    let alone = microseconds("v4:4x4x4", &cube(), AllGather, &["x"], local);
    assert_eq!(alone.floor(), 23.0);
    let both = microseconds("v4:4x4x4", &cube(), AllGather, &["x", "y"], local);
    assert_eq!(both.floor(), 46.0);
}

#[test]
fn rings() {
    let (mesh, w, v) = (cube(), 45e9, (64u64 << 20) as f64);
    let bytes = 64 << 20;
    let time = |kind, names: &[&str]| microseconds("v4:4x4x4", &mesh, kind, names, bytes);
    let us = 1e6;
    assert_close(time(ReduceScatter, &["x"]), v / (2.0 * w) * us);
    assert_close(time(AllReduce, &["x"]), v / w * us);
    let twice = 2.0 * (v + v / 4.0 + v / 16.0) / (2.0 * w) * us;
    assert_close(time(AllReduce, &["x", "y", "z"]), twice);
    assert_close(time(ReduceScatter, &["x", "y", "z"]), v / (6.0 * w) * us);
    assert_close(time(AllToAll, &["y"]), 4.0 * v / (8.0 * w) * us);
    assert_close(time(AllToAll, &["y", "z"]), 4.0 * v / (8.0 * w) * us);
    assert_close(time(Shift { places: 1 }, &["y"]), v / w * us + 1.0);
    assert_close(time(Shift { places: 3 }, &["y"]), v / w * us + 1.0);
    assert_close(time(Shift { places: 2 }, &["y"]), 2.0 * v / w * us + 2.0);
    assert_close(time(Shift { places: 1 }, &["y", "z"]), v / w * us + 2.0);
    // Against the order of the dimensions, a shift is priced as any permute.
    assert_close(time(Shift { places: 1 }, &["z", "y"]), time(Permute, &["y", "z"]));
    // Small ones take the time of the way.
    assert_close(microseconds("v4:4x4x4", &mesh, AllGather, &["x"], 16), 2.0);
    assert_close(microseconds("v4:4x4x4", &mesh, AllReduce, &["x", "y"], 16), 8.0);
}

#[test]
fn lines() {
    let mesh = Mesh::new(&[("x", 2), ("y", 4), ("z", 4)]);
    let (w, v) = (45e9, (64u64 << 20) as f64);
    let time = |kind, names: &[&str]| microseconds("v4-64", &mesh, kind, names, 64 << 20);
    let us = 1e6;
    assert_close(time(ReduceScatter, &["y"]), v * 3.0 / (4.0 * w) * us + 3.0);
    assert_close(time(AllReduce, &["x"]), 2.0 * (v / (2.0 * w) * us + 1.0));
    assert_close(time(AllToAll, &["z"]), 4.0 * v / (4.0 * w) * us);
    assert_close(time(Shift { places: 1 }, &["z"]), v / w * us + 3.0);
}

/// The gradients of BERT (672 MB in bf16) on the v3 multipod: 10.2 ms at 70 GB/s a link, and the
/// way along 127 hops, twice.
#[test]
fn gradients_on_the_multipod() {
    let mesh = Mesh::new(&[("x", 128), ("y", 32)]);
    let slow = microseconds("v3:128x32", &mesh, AllReduce, &["x", "y"], 672_000_000);
    assert!((10.4e3..10.5e3).contains(&slow), "{slow}");
}

#[test]
fn spans_of_a_mesh_on_a_torus() -> Result<(), Box<dyn std::error::Error>> {
    let topology = Topology::parse("v4:4x4x8")?;
    let spans = |mesh: &Mesh, list: &[AxisRef]| -> Vec<(u64, f64, bool)> {
        let placed = topology.place(mesh).map(|placed| placed.spans(list));
        placed.unwrap_or_default().iter().map(|s| (s.size, s.stride, s.ring)).collect()
    };
    let mesh = Mesh::new(&[("data", 16), ("model", 8)]);
    let (data, model) = (mesh.axis("data").ok_or("data")?, mesh.axis("model").ok_or("model")?);
    assert_eq!(spans(&mesh, &[data]), [(4, 1.0, true), (4, 1.0, true)]);
    assert_eq!(spans(&mesh, &[model]), [(8, 1.0, true)]);
    assert_eq!(spans(&mesh, &[model, data]).len(), 3);
    let (major, minor) = model.split(2).ok_or("split")?;
    assert_eq!(spans(&mesh, &[major]), [(2, 4.0, true)]);
    assert_eq!(spans(&mesh, &[minor]), [(4, 1.0, false)]);
    assert_eq!(spans(&mesh, &[minor, major]), [(8, 1.0, true)]);
    let (_, rest) = minor.split(2).ok_or("split")?;
    assert_eq!(spans(&mesh, &[major, rest]), [(4, 2.0, false)]);
    let (far, _) = data.split(8).ok_or("split")?;
    assert_eq!(spans(&mesh, &[far]), [(4, 1.0, true), (2, 2.0, true)]);

    // The same mesh with its devices transposed runs along other dimensions.
    let ids: Vec<u64> = (0..128).map(|at| at % 8 * 16 + at / 8).collect();
    let turned = mesh.clone().with_device_ids(&ids);
    assert_eq!(spans(&turned, &[data]), [(2, 1.0, false), (8, 1.0, true)]);
    // Devices in no order at all: one line with long steps.
    let mut ids: Vec<u64> = (0..128).collect();
    ids.swap(3, 77);
    let shuffled = mesh.clone().with_device_ids(&ids);
    assert_eq!(spans(&shuffled, &[model]), [(8, 4.0, false)]);
    // So is a mesh that doesn't follow the dimensions.
    let odd = Topology::parse("v4:4x3x1")?;
    let mesh = Mesh::new(&[("x", 3), ("y", 4)]);
    let x = mesh.axis("x").ok_or("x")?;
    let placed = odd.place(&mesh)?;
    assert_eq!(placed.spans(&[x])[0].size, 3);
    assert!(placed.spans(&[x])[0].stride > 1.0);
    Ok(())
}

#[test]
fn bytes() {
    let sent = |kind| wire_bytes(kind, 1200, 4);
    assert_eq!(
        [AllReduce, AllGather, ReduceScatter, AllToAll, Permute].map(sent),
        [1800, 3600, 900, 900, 1200]
    );
    assert_eq!(payload_bytes(AllGather, 1200, 4), 4800);
    assert_eq!(payload_bytes(ReduceScatter, 1200, 4), 1200);
    assert!(KINDS.iter().all(|&kind| wire_bytes(kind, 1200, 1) == 0));
    assert_eq!(wire_bytes(AllGather, u64::MAX, u64::MAX), u64::MAX);
}

#[test]
fn names() -> Result<(), TopologyError> {
    let wraps = |name: &str| -> Result<Vec<(u32, bool)>, TopologyError> {
        let Network::Torus { dims, .. } = Topology::parse(name)?.network else { return Ok(vec![]) };
        Ok(dims.iter().map(|dim| (dim.size, dim.wraps)).collect())
    };
    assert_eq!(wraps("v4:2x2x2")?, [(2, false); 3]);
    assert_eq!(wraps("v4-8")?, [(2, false), (2, false), (1, false)]);
    assert_eq!(wraps("v4:2x4x4")?, [(2, false), (4, false), (4, false)]);
    assert_eq!(wraps("v4-384")?, [(4, true), (4, true), (12, true)]);
    assert_eq!(wraps("v3:128x32")?, [(128, false), (32, true)]);
    assert_eq!(Topology::parse("v4-4096")?.device_count(), Some(2048));
    assert_eq!(Topology::parse("even:8")?.device_count(), Some(8));
    assert_eq!(Topology::parse("even")?.device_count(), None);
    assert_eq!(Topology::default(), Topology::parse("even")?);
    for (name, _) in KNOWN_TOPOLOGIES {
        let example = name
            .replace("XxYxZ", "4x4x8")
            .replace("XxY", "8x8")
            .replace("-N", "-32")
            .replace('N', "8");
        Topology::parse(&example)?;
    }
    for name in [
        "",
        "v5:2x2",
        "v4:",
        "v4:0x2",
        "v4:2x2x2x2",
        "v4-12",
        "v3:2x2x2",
        "even:0",
        "even:x",
        "v4:99999999999",
    ] {
        assert!(Topology::parse(name).is_err(), "{name}");
    }
    let unknown = Topology::parse("h100:8").map_err(|error| error.to_string());
    assert!(unknown.is_err_and(|text| text.contains("`even:N`") && text.contains("`v4:XxYxZ`")));
    Ok(())
}

#[test]
fn a_mesh_must_have_the_devices_of_the_machine() -> Result<(), TopologyError> {
    let topology = Topology::parse("v4:2x2x2")?;
    let error = topology.place(&cube()).err().map(|error| error.to_string());
    let expected = "the mesh has 64 devices, but topology `v4:2x2x2` has 8; choose axis sizes whose product is 8, or another topology";
    assert_eq!(error.as_deref(), Some(expected));
    Ok(())
}

#[test]
fn files() -> Result<(), TopologyError> {
    for name in ["even", "even:8", "v4:4x4x4", "v3:128x32"] {
        let topology = Topology::parse(name)?;
        assert_eq!(Topology::from_json(&topology.to_json()), Ok(topology));
    }
    let text = Topology::parse("v4:4x4x4")?.to_json();
    let faster = text.replace("45000000000.0", "50000000000.0");
    let Network::Torus { link_bandwidth, .. } = Topology::from_json(&faster)?.network else {
        return Ok(());
    };
    assert_eq!(link_bandwidth.value, 50e9);
    assert!(Topology::from_json("{").is_err());
    assert!(Topology::from_json(&text.replace("45000000000.0", "-1.0")).is_err());
    assert!(Topology::from_json(&text.replace("\"size\": 4", "\"size\": 0")).is_err());
    let plain = r#"{"name": "mine", "device": {"name": "chip", "narrow_flops": 1e12,
        "single_flops": 1e12, "double_flops": 1e11, "memory_bytes": 1e9, "memory_bandwidth": 1e11},
        "network": {"kind": "even", "devices": 4, "bandwidth": 1e10, "latency": 0}}"#;
    assert_eq!(Topology::from_json(plain)?.device_count(), Some(4));
    Ok(())
}

#[test]
fn devices() -> Result<(), TopologyError> {
    let device = Topology::parse("v4:2x2x2")?.device;
    assert_eq!(device.peak_flops(ElementType::BF16), 275e12);
    assert!(device.peak_flops(ElementType::F64) < device.peak_flops(ElementType::F32));
    assert_eq!(device.memory_bytes.value, 32.0 * f64::from(1 << 30));
    assert_eq!(device.memory_bandwidth.value, 1.2e12);
    Ok(())
}

proptest! {
    #[test]
    fn more_bytes_take_longer_and_nothing_is_negative(
        name in prop::sample::select(vec!["even", "v4:2x2x2", "v4:4x4x4", "v4:4x8x8", "v3:4x32"]),
        by in prop::sample::select(vec![1u32, 2, 4, 8, 16]),
        bytes in 0u64..1 << 40,
        more in 0u64..1 << 30,
        swap in any::<(prop::sample::Index, prop::sample::Index)>(),
        reorder in any::<bool>(),
    ) {
        let topology = Topology::parse(name).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let count = topology.device_count().unwrap_or(64);
        prop_assume!(count.is_multiple_of(u64::from(by)));
        let mut mesh = Mesh::new(&[("a", by), ("b", (count / u64::from(by)) as u32)]);
        if reorder {
            let mut ids: Vec<u64> = (0..count).collect();
            let (a, b) = (swap.0.index(ids.len()), swap.1.index(ids.len()));
            ids.swap(a, b);
            mesh = mesh.with_device_ids(&ids);
        }
        let placed = topology.place(&mesh).map_err(|e| TestCaseError::fail(e.to_string()))?;
        for list in [&["a"][..], &["b"], &["a", "b"], &["b", "a"]] {
            let list = axes(&mesh, list);
            let group: u64 = list.iter().map(|axis| u64::from(axis.size)).product();
            let covered: u64 = placed.spans(&list).iter().map(|span| span.size).product();
            prop_assert!(name == "even" || covered == group);
            for kind in KINDS {
                let (less, longer) =
                    (placed.seconds(kind, &list, bytes), placed.seconds(kind, &list, bytes + more));
                prop_assert!(less.is_finite() && less >= 0.0 && less <= longer);
                prop_assert_eq!(less == 0.0, group == 1);
            }
            let scatter = placed.seconds(ReduceScatter, &list, bytes);
            let reduce = placed.seconds(AllReduce, &list, bytes);
            prop_assert!(reduce >= scatter);
            let gather = placed.seconds(AllGather, &list, bytes / group);
            prop_assert!(gather <= scatter * (1.0 + 1e-9));
        }
    }
}

#[test]
fn nonsense_axes_have_a_price() {
    let topology = Topology::parse("v4:4x4x4").unwrap_or_default();
    let mesh = cube();
    let Ok(placed) = topology.place(&mesh) else { return };
    for axis in [
        AxisRef::sub(shard_ir::AxisIndex(9), 1, 4),
        AxisRef::sub(shard_ir::AxisIndex(0), 3, 5),
        AxisRef::sub(shard_ir::AxisIndex(0), 0, u32::MAX),
        AxisRef::sub(shard_ir::AxisIndex(0), 1, 0),
    ] {
        for kind in KINDS {
            assert!(placed.seconds(kind, &[axis, axis], u64::MAX).is_finite());
        }
    }
}
