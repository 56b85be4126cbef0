//! Reports of the model programs, and the JSON form.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use shard_opt::report::{self, Form, Report, ReportOptions};
use shard_opt::{PartitionOptions, Topology, partition_text};

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "mlir"));
    files.sort();
    files
}

fn report_of(text: &str) -> Report {
    let made = partition_text(text, &PartitionOptions::default()).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    Report::new(&made.partitioned, &ReportOptions::default())
}

fn model(name: &str) -> String {
    let file = models().into_iter().find(|file| file.file_stem().unwrap() == name).unwrap();
    std::fs::read_to_string(file).unwrap()
}

/// The collectives in a form that doesn't change with the cost model: sorted, without times.
fn list(report: &Report) -> String {
    let mut lines: Vec<(String, u64)> = Vec::new();
    for entry in &report.collectives {
        let place = entry.location.as_deref().unwrap_or("?");
        let place = place.rsplit('/').next().unwrap_or_default();
        let place = place.rsplit_once(':').map_or(place, |(line, _)| line);
        let axes = entry.axes.as_ref().map_or("?".to_owned(), |axes| axes.join(","));
        let reason = entry.reason.as_deref().unwrap_or("no reason");
        let line = format!(
            "{} {axes} {} {} B for {place}: {reason}",
            entry.op, entry.payload_type, entry.wire_bytes
        );
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += entry.count,
            None => lines.push((line, entry.count)),
        }
    }
    lines.sort();
    let mut text = String::new();
    for (line, count) in lines {
        let _ = writeln!(text, "{count:>3} x {line}");
    }
    for total in &report.totals.by_op {
        let _ = writeln!(text, "{}: {}, {} B", total.op, total.count, total.wire_bytes);
    }
    for fallback in &report.fallbacks {
        let _ = writeln!(text, "fallback: {}", fallback.message);
    }
    text
}

#[test]
fn collectives_of_the_models() {
    for file in models() {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let report = report_of(&std::fs::read_to_string(&file).unwrap());
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name.clone(), list(&report));
        });
        for entry in &report.collectives {
            assert!(entry.location.is_some(), "{name}: {entry:?}");
            assert!(entry.reason.is_some(), "{name}: {entry:?}");
            assert!(entry.axes.is_some(), "{name}: {entry:?}");
            assert!(entry.group_size > 1, "{name}: {entry:?}");
        }
    }
}

#[test]
fn tables_fit_the_terminal() {
    for file in models() {
        let report = report_of(&std::fs::read_to_string(&file).unwrap());
        for width in [60, 80, 100, 140] {
            let text = report::render(&report, Form::Text, Some(width));
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{}: {line}", file.display());
            }
            assert!(text.lines().count() <= 56, "{}:\n{text}", file.display());
        }
    }
}

#[test]
fn text_of_a_small_model() {
    let report = report_of(&model("mlp"));
    // Times are estimates, and change with the cost model.
    let text = report::render(&report, Form::Text, None);
    let words = text.replace("  ", " \u{1}").split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut shown: Vec<String> = Vec::new();
    for word in words {
        let unit = word.trim_start_matches('\u{1}').trim_end();
        if matches!(unit, "ns" | "µs" | "ms" | "s") {
            shown.pop();
            shown.push(word.replace(unit, "(time)"));
        } else if unit.ends_with('%') {
            shown.push(word.replace(unit, "(share)"));
        } else {
            shown.push(word);
        }
    }
    let text = shown.join(" ").replace('\u{1}', " ");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn a_report_of_the_printed_program_agrees() {
    for name in ["mlp", "gpt_scan", "moe"] {
        let options = PartitionOptions::default();
        let made = partition_text(&model(name), &options).unwrap();
        let before = Report::new(&made.partitioned, &ReportOptions::default());
        let module = shard_opt::text::parse(&made.text, &Default::default()).into_result().unwrap();
        let whole = &made.partitioned.whole;
        let mesh = shard_opt::passes::meshes::main_mesh(whole).unwrap();
        let mesh = Some(whole.meshes[mesh].mesh.clone());
        let options = ReportOptions { mesh, ..ReportOptions::default() };
        let after = Report::of_local(&module, &options).unwrap();
        assert_eq!(before.collectives, after.collectives, "{name}");
        assert_eq!(before.totals, after.totals, "{name}");
        assert_eq!(before.memory.arguments_bytes, after.memory.arguments_bytes, "{name}");
        // Without the mesh, groups are along parts of one axis of all devices.
        let blind = Report::of_local(&module, &ReportOptions::default()).unwrap();
        assert_eq!(blind.mesh.axes.len(), 1);
        assert_eq!(before.totals.wire_bytes, blind.totals.wire_bytes, "{name}");
    }
}

#[test]
fn json_has_what_the_contract_names() {
    let report = report_of(&model("mlp"));
    let json: serde_json::Value =
        serde_json::from_str(&report::render(&report, Form::Json, None)).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["mesh"]["axes"][0]["name"], "data");
    assert_eq!(json["mesh"]["axes"][0]["size"], 4);
    for list in ["parameters", "results"] {
        for field in ["index", "name", "global_shape", "local_shape", "element_type", "sharding"] {
            assert!(!json[list][0][field].is_null(), "{list}.{field}");
        }
    }
    for field in [
        "op",
        "wire_bytes",
        "payload_bytes",
        "axes",
        "group_size",
        "count",
        "location",
        "reason",
        "estimated_seconds",
    ] {
        assert!(!json["collectives"][0][field].is_null(), "collectives.{field}");
    }
    assert!(json["fallbacks"].is_array());
    for field in ["whole_flops", "device_flops", "ratio_to_even", "repeated"] {
        assert!(!json["compute"][field].is_null(), "compute.{field}");
    }
    for field in ["arguments_bytes", "results_bytes", "peak_bytes", "large_replicated"] {
        assert!(!json["memory"][field].is_null(), "memory.{field}");
    }
}

#[cfg(feature = "schemars")]
#[test]
fn the_schema_describes_the_report() {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
    assert_eq!(schema["title"], "Report");
    let fields = schema["properties"].as_object().unwrap();
    let report = serde_json::to_value(report_of(&model("mlp"))).unwrap();
    for key in report.as_object().unwrap().keys() {
        assert!(fields.contains_key(key), "{key}");
    }
}

#[test]
fn wire_bytes_follow_the_formulas() {
    let report = report_of(&model("gpt_fsdp"));
    for entry in &report.collectives {
        let (group, payload) = (entry.group_size, entry.payload_bytes);
        let wire = match entry.op.as_str() {
            "all_reduce" => (2 * payload * (group - 1)).div_ceil(group),
            "all_gather" | "reduce_scatter" | "all_to_all" => {
                (payload * (group - 1)).div_ceil(group)
            }
            _ => payload,
        };
        assert_eq!(entry.wire_bytes, wire, "{entry:?}");
    }
}

const SORT: &str = r#"
module @m {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) {
    %y = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %y : tensor<8x16xf32>
  }
}
"#;

#[test]
fn advice_avoids_what_it_says() {
    let report = report_of(SORT);
    let [fallback] = &report.fallbacks[..] else { panic!("{:?}", report.fallbacks) };
    assert_eq!(fallback.op, "sort");
    assert_eq!(fallback.axes, ["data"]);
    let advised = "[{\"data\"}, {}] (in JAX: P('data', None))";
    assert!(fallback.remedy.contains(advised), "{}", fallback.remedy);
    assert!(fallback.remedy.contains("to avoid it, shard the argument x"), "{}", fallback.remedy);

    let mut options = PartitionOptions::default();
    options.import.arguments = vec![("x".to_owned(), "P('data', None)".to_owned())];
    let made = partition_text(SORT, &options).unwrap();
    let after = Report::new(&made.partitioned, &ReportOptions::default());
    assert!(after.fallbacks.is_empty(), "{:?}", after.fallbacks);
    assert!(after.totals.wire_bytes < report.totals.wire_bytes);
}

#[test]
fn no_advice_where_there_is_none() {
    let text = SORT.replace("8x16x", "16x").replace("dimension = 1", "dimension = 0");
    let text = text.replace("[{}, {\"data\"}]", "[{\"data\"}]");
    let report = report_of(&text);
    let [fallback] = &report.fallbacks[..] else { panic!("{:?}", report.fallbacks) };
    assert!(fallback.remedy.starts_with("no annotation avoids it"), "{}", fallback.remedy);
    assert_eq!((fallback.bytes, report.totals.wire_bytes), (48, 48));
}

/// One value that three ops gather, and three values that one line gathers.
const SHARED: &str = r#"
module @m {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%x: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> (tensor<3xf32>, tensor<3xf32>, tensor<5xf32>) {
    %0 = stablehlo.slice %y [1:4] : (tensor<16xf32>) -> tensor<3xf32>
    %1 = stablehlo.slice %y [3:6] : (tensor<16xf32>) -> tensor<3xf32>
    %2 = stablehlo.slice %y [3:8] : (tensor<16xf32>) -> tensor<5xf32>
    return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<5xf32>
  }
}
"#;

#[test]
fn a_value_that_is_gathered_once_counts_once() {
    let report = report_of(SHARED);
    let gathered: u64 = report.fallbacks.iter().map(|fallback| fallback.bytes).sum();
    assert_eq!((gathered, report.totals.wire_bytes), (48, 48));
    assert_eq!(report.fallbacks.len(), 1, "{:?}", report.fallbacks);
}

#[test]
fn a_topology_of_another_size_is_said() {
    let made = partition_text(&model("mlp"), &PartitionOptions::default()).unwrap();
    let topology = Topology::parse("v4:2x2x4").unwrap();
    let options = ReportOptions { topology, ..ReportOptions::default() };
    let report = Report::new(&made.partitioned, &options);
    assert!(!report.topology.fits);
    assert!(report.totals.estimated_seconds > 0.0);
    assert!(report::render(&report, Form::Text, None).contains("another number of devices"));
}

/// HLO text with Shardy's annotations says all that the program does.
#[test]
fn models_as_hlo_text_are_partitioned_alike() {
    for file in models() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed = shard_opt::text::parse(&text, &shard_opt::text::ParseOptions::default());
        let mut module = parsed.into_result().unwrap();
        shard_opt::passes::stablehlo_to_hlo::run(&mut module).unwrap();
        let hlo = shard_opt::text::print_hlo(&module).unwrap();
        let facts = |report: &Report| {
            let collectives = report
                .collectives
                .iter()
                .map(|entry| (entry.op.clone(), entry.axes.clone(), entry.wire_bytes, entry.count));
            let mut collectives: Vec<_> = collectives.collect();
            collectives.sort();
            let shardings = [&report.parameters, &report.results]
                .map(|list| list.iter().map(|entry| entry.sharding.clone()).collect::<Vec<_>>());
            (collectives, shardings, report.compute.device_flops)
        };
        assert_eq!(facts(&report_of(&text)), facts(&report_of(&hlo)), "{name}");
    }
}
