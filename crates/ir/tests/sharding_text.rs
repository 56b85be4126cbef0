//! Texts of shardings: sdy and HLO.

mod sharding_support;

use proptest::prelude::*;
use shard_ir::*;
use sharding_support::*;

proptest! {
    #[test]
    fn sdy_text_round_trips((mesh, sharding) in mesh_and_sharding()) {
        let forms = [
            (sharding.text(&mesh, "mesh").to_string(), Some("mesh")),
            (sharding.stripped_text(&mesh, "a mesh").to_string(), Some("a mesh")),
            (sharding.bare_text(&mesh).to_string(), None),
        ];
        for (text, symbol) in forms {
            let parsed = parse_sharding(&text, &mesh, mesh_id());
            let mesh_symbol = symbol.map(str::to_owned);
            prop_assert_eq!(parsed, Ok(ParsedSharding { mesh_symbol, sharding: sharding.clone() }));
        }
    }

    #[test]
    fn mesh_text_round_trips(mesh in mesh()) {
        prop_assert_eq!(parse_mesh(&mesh.to_string()), Ok(mesh));
    }

    #[test]
    fn hlo_and_mesh_agree_on_every_tile((mesh, mut sharding) in mesh_and_sharding()) {
        sharding.combiner = Combiner::Sum;
        let rank = sharding.rank();
        let hlo = HloSharding::from_mesh(&sharding, &mesh, &[])
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let text = hlo.to_string();
        prop_assert_eq!(text.parse(), Ok(hlo.clone()), "{}", text);
        let map = sharding.tile_map(&mesh).ok_or_else(|| TestCaseError::fail("no map"))?;
        let unreduced = sharding.is_unreduced();
        let tiled = matches!(hlo.kind, HloShardingKind::Tiled(_));
        if tiled || !unreduced {
            for device in 0..mesh.device_count() {
                let id = mesh.device_id(device).unwrap_or(u64::MAX);
                prop_assert_eq!(hlo.tile_of(rank, id), map.tile(device), "{}", text);
            }
        }

        // Onto the mesh it came from, and onto a mesh of its own.
        let on_mesh = hlo.on_mesh(&mesh, mesh_id(), rank);
        if mesh.device_ids.is_none() {
            prop_assert!(on_mesh.is_ok(), "{}: {:?}", text, on_mesh);
        }
        let own = hlo.to_mesh(mesh_id(), rank, mesh.device_count())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(own.mesh.verify(), Ok(()));
        prop_assert_eq!(own.sharding.verify(&own.mesh, rank), Ok(()));
        let back = on_mesh.ok().map(|(sharding, manual)| (mesh.clone(), sharding, manual));
        for (other, back, manual) in back.into_iter().chain([(own.mesh, own.sharding, own.manual)]) {
            prop_assert!(manual.is_empty());
            prop_assert_eq!(back.is_unreduced(), unreduced);
            prop_assert_eq!(axes::product(&back.unreduced), axes::product(&sharding.unreduced));
            let other_map = back.tile_map(&other).ok_or_else(|| TestCaseError::fail("no map"))?;
            for device in 0..mesh.device_count() {
                let id = mesh.device_id(device).unwrap_or(u64::MAX);
                let there = other.logical_index(id).and_then(|device| other_map.tile(device));
                prop_assert_eq!(there, map.tile(device), "{} on {}", text, other);
            }
        }
    }

    #[test]
    fn named_hlo_round_trips((mesh, sharding) in mesh_and_sharding()) {
        let sharding = sharding.without_priorities();
        let rank = sharding.rank();
        let named = NamedSharding::from_mesh(&sharding, &mesh, &[]);
        let hlo = HloSharding::from(HloShardingKind::Named(Box::new(named)));
        let text = hlo.to_string();
        prop_assert_eq!(text.parse(), Ok(hlo.clone()), "{}", text);
        let back = hlo.to_mesh(mesh_id(), rank, mesh.device_count());
        let back = back.map(|back| (back.mesh, back.sharding));
        prop_assert_eq!(back, Ok((mesh, sharding)), "{}", text);
    }

    #[test]
    fn one_mesh_serves_several_shardings(
        (mesh, shardings) in natural_mesh().prop_flat_map(|mesh| {
            let shardings = prop::collection::vec(sharding(&mesh, 2), 1..4);
            (Just(mesh), shardings)
        })
    ) {
        let hlo: Vec<HloSharding> = shardings
            .iter()
            .map(|sharding| {
                let sharding = sharding.clone().with_unreduced(&[], Combiner::Sum);
                HloSharding::from_mesh(&sharding, &mesh, &[])
            })
            .collect::<Result<_, _>>()
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        if let Some(common) = common_mesh(&hlo, mesh.device_count()) {
            for sharding in &hlo {
                let on = sharding.on_mesh(&common, mesh_id(), 2);
                let (on, _) = on.map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert!(on.mentioned_axes().all(|axis| axis.is_whole(&common)));
                prop_assert_eq!(HloSharding::from_mesh(&on, &common, &[]), Ok(sharding.clone()));
            }
        }
    }

    #[test]
    fn parsers_return_on_any_text(text in "[\\[\\]{}<>=@#'\"\\\\:,?()T/*a-z0-9 _]{0,60}") {
        let mesh = Mesh::new(&[("a", 4), ("b", 2)]);
        let _ = parse_sharding(&text, &mesh, mesh_id());
        let _ = parse_mesh(&text);
        if let Ok(sharding) = text.parse::<HloSharding>() {
            prop_assert_eq!(sharding.to_string().parse(), Ok(sharding));
        }
    }

    #[test]
    fn parsers_return_on_damaged_text(
        at in any::<prop::sample::Index>(),
        which in any::<prop::sample::Index>(),
        with in "[\\[\\]{}=,0-9é]{0,3}",
    ) {
        let texts = [
            "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dims={manual, replicated} shard_as 1}",
            "{mesh['a'=2,'b'=4], device_ids=([2,4]T(1,0)), [{'a', ?}, {'b':(1)2}], manual={'b':(2)2}}",
            "{{maximal device=3}, {unreduced}, {devices=[2]0,1 metadata={op_name=\"x\"}}}",
            "#sdy.sharding<@mesh, [{\"a\":(1)2, ?}p1, {}], replicated={\"b\"}>",
            "<[\"a\"=2, \"b\"=4], device_ids=[1,0,2,3,4,5,6,7]>",
        ];
        let text = which.get(&texts);
        let at = at.index(text.len());
        let damaged = format!("{}{with}{}", &text[..at], &text[(at + with.len()).min(text.len())..].trim_start_matches('é'));
        let mesh = Mesh::new(&[("a", 4), ("b", 2)]);
        let _ = parse_sharding(&damaged, &mesh, mesh_id());
        let _ = parse_mesh(&damaged);
        if let Ok(sharding) = damaged.parse::<HloSharding>() {
            let _ = sharding.to_mesh(mesh_id(), 2, 8);
            prop_assert_eq!(sharding.to_string().parse(), Ok(sharding));
        }
    }
}

fn xyzw() -> Mesh {
    Mesh::new(&[("x", 2), ("y", 8), ("z", 2), ("w", 3)])
}

#[test]
fn sdy_text() -> Result<(), ShardingTextError> {
    let mesh = xyzw();
    for (text, printed) in [
        ("[{x,?},{\"y\":(1)2}p1,{}]", "[{\"x\", ?}, {\"y\":(1)2}p1, {}]"),
        (
            "[{ ? }p0], unreduced={w}, replicated={z}",
            "[{?}p0], replicated={\"z\"}, unreduced={\"w\"}",
        ),
        ("[], unreduced=max{x, y:(2)4}", "[], unreduced=max{\"x\", \"y\":(2)4}"),
        ("<@m, [{y:(1)8}]>", "[{\"y\"}]"),
        ("#sdy.sharding<@\"m m\", [{}]>", "[{}]"),
    ] {
        let parsed = parse_sharding(text, &mesh, mesh_id())?;
        assert_eq!(parsed.sharding.bare_text(&mesh).to_string(), printed);
    }
    let sharding = parse_sharding("[{x}], unreduced=min{w}", &mesh, mesh_id())?.sharding;
    let text = sharding.text(&mesh, "mesh.1").to_string();
    assert_eq!(text, "#sdy.sharding<@mesh.1, [{\"x\"}], unreduced=min{\"w\"}>");
    assert_eq!(parse_mesh("data=4, model=2")?, Mesh::new(&[("data", 4), ("model", 2)]));
    assert_eq!(parse_mesh("<[], device_ids=[3]>")?, Mesh::maximal(3));
    Ok(())
}

#[test]
fn mistakes_are_explained() {
    let mesh = Mesh::new(&[("data", 4), ("model", 2)]);
    for (text, offset, message) in [
        (
            "[{\"dat\"},{}]",
            2,
            "unknown mesh axis \"dat\": the mesh has \"data\" (size 4), \"model\" (size 2)",
        ),
        ("[{data}", 7, "expected `,` or `]` after a dimension sharding, found the end"),
        ("[{?,data}]", 3, "expected `}` after `?`, which comes last in a dimension, found `,`"),
        ("[{data}q1]", 7, "expected a priority such as `p1`, found `q1`"),
        (
            "{data}",
            0,
            "expected `[` before the dimension shardings, as in `[{\"x\"}, {}]`, found `{`",
        ),
        (
            "[{}], reduced={data}",
            6,
            "expected `replicated={...}` or `unreduced={...}`, each at most once",
        ),
        ("[{data:(1)99999999999}]", 10, "the size of a sub-axis is beyond 32 bits"),
        ("[{}] x", 5, "`x` follows the end of the sharding"),
    ] {
        let error = parse_sharding(text, &mesh, mesh_id()).err();
        let expected = ShardingTextError { offset, message: message.to_owned() };
        assert_eq!(error, Some(expected), "{text}");
    }
    let error = parse_mesh("a=2,a=4").map_err(|error| error.to_string());
    let text = "mesh axis \"a\" is declared twice; axis names are unique in a mesh (at offset 0)";
    assert_eq!(error, Err(text.to_owned()));
}

#[test]
fn wrong_shardings_are_refused() -> Result<(), ShardingTextError> {
    let mesh = xyzw();
    for (text, message) in [
        (
            "[{x}]",
            "the sharding has 1 dimension shardings, but the tensor has rank 2; write one {} for each dimension",
        ),
        (
            "[{x}, {x}]",
            "axis \"x\" is used twice in one sharding; an axis can split one dimension, or be replicated, or be unreduced",
        ),
        (
            "[{y:(1)4}, {y:(2)4}]",
            "\"y\":(1)4 and \"y\":(2)4 overlap: they share devices of one axis, and an axis part can be used only once in a sharding",
        ),
        (
            "[{y:(1)2}, {y}]",
            "\"y\":(1)2 and \"y\" overlap: they share devices of one axis, and an axis part can be used only once in a sharding",
        ),
        (
            "[{y:(1)3}, {}]",
            "sub-axis \"y\":(1)3 doesn't divide its axis of size 8: pre-size times size is 3, which must be a divisor of 8",
        ),
        (
            "[{y:(1)1}, {}]",
            "sub-axis \"y\":(1)1 needs a pre-size of at least 1 and a size of at least 2",
        ),
        (
            "[{y:(1)2, y:(2)2}, {}]",
            "\"y\":(1)2 and \"y\":(2)2 follow one another directly; write them as one: \"y\":(1)4",
        ),
        (
            "[{}, {}], replicated={z, x}",
            "the replicated axes aren't in the order of the mesh: \"x\" comes before \"z\"",
        ),
        (
            "[{}p1, {}]",
            "dimension 0 has priority p1, but it is closed and has no axes, so the priority has no effect; leave it out, or open the dimension: {?}p1",
        ),
    ] {
        let sharding = parse_sharding(text, &mesh, mesh_id())?.sharding;
        let error = sharding.verify(&mesh, 2).map_err(|error| error.to_string());
        assert_eq!(error, Err(message.to_owned()), "{text}");
    }
    let halves = parse_sharding("[{x:(1)2}, {x:(3)2}]", &Mesh::new(&[("x", 12)]), mesh_id())?;
    let error = halves.sharding.verify(&Mesh::new(&[("x", 12)]), 2);
    assert!(matches!(error, Err(ShardingError::IncompatibleSubAxes { .. })), "{error:?}");
    Ok(())
}

#[test]
fn hlo_text_is_printed_as_it_was_read() -> Result<(), ShardingTextError> {
    for text in [
        "{replicated}",
        "{manual}",
        "{unreduced}",
        "{unknown}",
        "{maximal device=42}",
        "{}",
        "{devices=[2,1,4]0,1,2,3,4,5,6,7}",
        "{devices=[4,2]<=[2,4]T(1,0)}",
        "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
        "{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}",
        "{devices=[2,2]<=[4] last_tile_dims={unreduced, manual}}",
        "{manual shard_as 1}",
        "{devices=[2,1]<=[2] shard_like 1 metadata={op_name=\"a}b\"}}",
        "{{replicated}, {maximal device=5}, {manual}, {unreduced}, {devices=[2]<=[2]}, /*index=5*/{replicated}}",
        "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'a'}, {'c', 'b', ?}]}",
        "{mesh['a'=2,'b'=4], [{'b':(2)2}, {?}], replicated={'a'}, unreduced=max{'b':(1)2}}",
        "{mesh['a'=2,'b'=4,'c'=4,'d'=2], device_ids=([4,16]T(1,0)), [{'a'}]}",
        "{mesh['x'=2,'y'=2], device_ids=(0,3,1,2), [{'x'}]}",
        "{mesh[], replicated}",
        "{mesh['a'=2,'b'=4], manual}",
        "{mesh['a'=2,'b'=4], unreduced}",
        "{maximal_mesh[device_id=5]}",
        "{mesh['a.b'=2,'<axis> def'=4,'z/w'=2], [{'a.b'}, {'<axis> def':(2)2, 'z/w'}]}",
        "{mesh['a'=2,'b'=4], [{'a'}], manual={'b':(2)2}, metadata={{op_name=\"foo\"}, {op_name=\"bar\"}}}",
        "{{mesh['a'=2,'b'=2], [{'a'}, {}]}, {devices=[2,2]<=[4] last_tile_dim_replicate}}",
    ] {
        assert_eq!(text.parse::<HloSharding>()?.to_string(), text);
    }
    let old: HloSharding = "{mesh[a=2,b=4], [{a}, {b:(1)2}]}".parse()?;
    assert_eq!(old.to_string(), "{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2}]}");
    let normal: HloSharding = "{devices=[2,2]0,1,2,3 last_tile_dims={replicated}}".parse()?;
    assert_eq!(normal.to_string(), "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}");
    Ok(())
}

#[test]
fn hlo_mistakes_are_refused() {
    for text in [
        "replicated",
        "{replicated",
        "{replicated manual devices=[2]0,1}",
        "{devices=[2,2]0,1}",
        "{devices=[2]<=[4]}",
        "{devices=[4]<=[2,2]T(0,0)}",
        "{devices=[4]<=[2,2]T(0)}",
        "{devices=[0]<=[0]}",
        "{devices=[4294967296,4294967296,4294967296]<=[4294967296,4294967296,4294967296]}",
        "{maximal}",
        "{last_tile_dim_replicate}",
        "{devices=[2]0,1 last_tile_dims={manual, replicated}}",
        "{mesh['a'=2], [{'b'}]}",
        "{mesh['a'=2,'a'=2], replicated}",
        "{mesh['a'=2], replicated, [{'a'}]}",
        "{{{replicated}}}",
    ] {
        assert!(text.parse::<HloSharding>().is_err(), "{text}");
    }
}

#[test]
fn hlo_from_and_to_meshes() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = Mesh::new(&[("x", 2), ("y", 4), ("z", 2)]);
    for (sdy, hlo) in [
        ("[{x}, {}]", "{devices=[2,1,8]<=[16] last_tile_dim_replicate}"),
        ("[{y}, {x}]", "{devices=[4,2,2]<=[2,4,2]T(1,0,2) last_tile_dim_replicate}"),
        ("[{}, {z, x, y}]", "{devices=[1,16]<=[8,2]T(1,0)}"),
        ("[{y:(2)2}, {}]", "{devices=[2,1,8]<=[4,2,2]T(1,0,2) last_tile_dim_replicate}"),
        ("[{}, {}]", "{replicated}"),
        ("[{}, {}], unreduced={x, y, z}", "{unreduced}"),
        (
            "[{}, {z}], unreduced={y}",
            "{devices=[1,2,4,2]<=[2,4,2]T(2,1,0) last_tile_dims={unreduced, replicated}}",
        ),
    ] {
        let sharding = parse_sharding(sdy, &mesh, mesh_id())?.sharding;
        let printed = HloSharding::from_mesh(&sharding, &mesh, &[])?;
        assert_eq!(printed.to_string(), hlo, "{sdy}");
        assert!(printed.on_mesh(&mesh, mesh_id(), 2)?.0.is_equivalent(&sharding), "{sdy}");
    }
    let manual: Vec<AxisRef> = mesh.axis("y").into_iter().collect();
    let sharding = parse_sharding("[{x}]", &mesh, mesh_id())?.sharding;
    let partly = HloSharding::from_mesh(&sharding, &mesh, &manual)?;
    let text = "{devices=[2,4,2]<=[16] last_tile_dims={manual, replicated}}";
    assert_eq!(partly.to_string(), text);
    assert_eq!(partly.on_mesh(&mesh, mesh_id(), 1)?, (sharding, manual.into()));

    // A mesh of its own: named axes where the tiling allows it, the order of devices where not.
    let own: HloSharding = "{devices=[4,2,2]<=[2,4,2]T(1,0,2) last_tile_dim_replicate}".parse()?;
    let own = own.to_mesh(mesh_id(), 2, 16)?;
    assert_eq!(own.mesh.to_string(), "<[\"_axis_0\"=2, \"_axis_1\"=4, \"_axis_2\"=2]>");
    assert_eq!(own.sharding.bare_text(&own.mesh).to_string(), "[{\"_axis_1\"}, {\"_axis_0\"}]");
    let odd: HloSharding = "{devices=[2,2]0,1,3,2}".parse()?;
    let odd = odd.to_mesh(mesh_id(), 2, 4)?;
    let text = "<[\"_axis_0\"=2, \"_axis_1\"=2], device_ids=[0, 1, 3, 2]>";
    assert_eq!(odd.mesh.to_string(), text);
    let list: HloSharding = "{devices=[2,2]0,2,1,3}".parse()?;
    assert_eq!(list.to_mesh(mesh_id(), 2, 4)?.mesh.device_ids, None);

    // Named shardings on another mesh of the same devices.
    for (named, sdy) in [
        ("{mesh[], replicated}", "[{}, {}]"),
        ("{mesh['a'=16], manual}", "[{}, {}]"),
        ("{mesh['a'=16], [{'a':(2)4}]}", "[{y}, {}]"),
        ("{mesh['a'=8,'b'=2], device_ids=([2,8]T(1,0)), [{}, {'a'}]}", "[{}, {y, z}]"),
    ] {
        let sharding = named.parse::<HloSharding>()?.on_mesh(&mesh, mesh_id(), 2)?.0;
        assert_eq!(sharding, parse_sharding(sdy, &mesh, mesh_id())?.sharding, "{named}");
    }
    let other: HloSharding = "{mesh['a'=3], [{'a'}]}".parse()?;
    assert!(other.on_mesh(&mesh, mesh_id(), 1).is_err());

    // Copies have no order, and are listed sorted.
    let shuffled = Mesh::new(&[("x", 2), ("y", 3)]).with_device_ids(&[4, 0, 2, 5, 1, 3]);
    let sharding = parse_sharding("[{x}]", &shuffled, mesh_id())?.sharding;
    let text = HloSharding::from_mesh(&sharding, &shuffled, &[])?.to_string();
    assert_eq!(text, "{devices=[2,3]<=[3,2]T(1,0) last_tile_dim_replicate}");
    let shuffled = Mesh::new(&[("x", 2), ("y", 3)]).with_device_ids(&[4, 0, 1, 5, 2, 3]);
    let text = HloSharding::from_mesh(&sharding, &shuffled, &[])?.to_string();
    assert_eq!(text, "{devices=[2,3]0,1,4,2,3,5 last_tile_dim_replicate}");

    let wrong: HloSharding = "{devices=[2,2]0,2,1,1}".parse()?;
    assert_eq!(wrong.to_mesh(mesh_id(), 2, 4), Err(HloShardingError::NotAPermutation));
    assert!(wrong.to_mesh(mesh_id(), 2, 8).is_err() && wrong.to_mesh(mesh_id(), 1, 4).is_err());
    Ok(())
}
