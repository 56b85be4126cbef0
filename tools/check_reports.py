"""Compares `shard-opt report` on XLA's dumps, and `shard-opt convert`'s HLO, with what XLA counts.

  .venv/bin/python tools/check_reports.py [--shard-opt target/debug/shard-opt] FILE...

Each program is partitioned and compiled by XLA's CPU client, which dumps the HLO after SPMD
partitioning and after all its passes. Both dumps go to `shard-opt report --format=json` and to
jaxlib's parser, whose instructions are counted: per collective, the kind, the size of its groups,
what a device sends each time (see xla_partition.py), and, in the optimised dump, how often it
runs, where XLA knows.

The program as HLO text (`shard-opt convert --to=hlo`), with its shardings in the form that Shardy
reads, goes the same way: XLA must make the same collectives of it. Exit status 1 if anything
differs.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jaxlib_tools
import xla_partition
from jaxlib import _hlo, xla_client
from jaxlib.mlir import ir

DUMPS = {
    "after SPMD partitioning": "*.after_spmd-partitioning.*.txt",
    "optimised": "*.cpu_after_optimizations.txt",
}

def count(text: str, devices: int) -> collections.Counter:
    """(kind, group size, wire bytes, runs or None) of each collective that the entry reaches."""
    hlo = xla_partition.Hlo(_hlo.hlo_module_from_text(text), devices)
    return collections.Counter(
        (found["kind"].replace("-", "_"), found["group_size"], found["wire_bytes"], found["count"])
        for found in hlo.collectives())


def report(shard_opt: pathlib.Path, path: pathlib.Path) -> collections.Counter:
    command = [str(shard_opt), "report", str(path), "--format=json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()}")
    found: collections.Counter = collections.Counter()
    for entry in json.loads(result.stdout)["collectives"]:
        size = None if entry["op"] == "collective_permute" else entry["group_size"]
        runs = None if entry.get("count_unknown") else entry["count"]
        found[entry["op"], size, entry["wire_bytes"], runs] += 1
    return found


def without_runs(counter: collections.Counter, unknown: bool) -> collections.Counter:
    """The counts without how often each runs, where the other side doesn't know."""
    result: collections.Counter = collections.Counter()
    for (kind, size, wire, runs), number in counter.items():
        result[kind, size, wire, None if unknown else runs] += number
    return result


def parse(text: str) -> ir.Module:
    """A program in MLIR or HLO text (in the current context)."""
    if not text.startswith("HloModule"):
        return jaxlib_tools.parse(text)
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    computation = xla_client.XlaComputation(proto)
    module = ir.Module.parse(xla_client._xla.mlir.xla_computation_to_mlir_module(computation))
    number = re.search(r"num_partitions=(\d+)", text)
    kind = ir.IntegerType.get_signless(32)
    module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(
        kind, int(number[1]) if number else 1)
    return module


def dump(path: pathlib.Path) -> None:
    """Compiles a program; XLA_FLAGS says where the dumps go."""
    text = path.read_text()
    with jaxlib_tools.context():
        jaxlib_tools.compile_for_cpu(parse(text), jaxlib_tools.uses_shardy(text))


def dump_into(folder: pathlib.Path, path: pathlib.Path) -> None:
    """The same in a process of its own."""
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=spmd-partition.*"}
    subprocess.run([sys.executable, __file__, "--dump", str(path)], env=environment, check=True)


def check(shard_opt: pathlib.Path, path: pathlib.Path, folder: pathlib.Path) -> bool:
    dump_into(folder, path)
    text = path.read_text()
    with jaxlib_tools.context():
        replicas, partitions = jaxlib_tools.devices_of(jaxlib_tools.parse(text))
    same = True
    totals = {}
    for name, pattern in DUMPS.items():
        found = sorted(folder.glob(pattern))
        if not found:
            print(f"FAILED  {path.name}, {name}: XLA wrote no such dump")
            same = False
            continue
        theirs = totals[name] = count(found[-1].read_text(), replicas * partitions)
        ours = report(shard_opt, found[-1])
        # Trip counts are written in the last dump only; where XLA knows none, ours stand alone.
        unknown = any(runs is None for *_, runs in theirs)
        theirs, ours = without_runs(theirs, unknown), without_runs(ours, unknown)
        sent = sum(wire * number * (runs or 1) for (_, _, wire, runs), number in theirs.items())
        if ours == theirs:
            runs = "written" if unknown else "run"
            print(f"ok      {path.name}, {name}: {sum(theirs.values())} collectives, "
                  f"{sent:,} bytes {runs}")
            continue
        same = False
        print(f"FAILED  {path.name}, {name}: (kind, group size, wire bytes, runs)")
        for key in sorted(set(ours) | set(theirs), key=str):
            if ours[key] != theirs[key]:
                print(f"          {key}: XLA has {theirs[key]}, the report {ours[key]}")
    return same and check_hlo(shard_opt, path, folder / "hlo", totals["optimised"],
                              replicas * partitions)


def check_hlo(shard_opt: pathlib.Path, path: pathlib.Path, folder: pathlib.Path,
              expected: collections.Counter, devices: int) -> bool:
    """Whether XLA makes of the program as HLO text what it makes of the program."""
    folder.mkdir()
    text = folder / f"{path.stem}.hlo"
    subprocess.run([str(shard_opt), "convert", str(path), "--to=hlo", "-o", str(text)], check=True)
    dump_into(folder, text)
    found = count(sorted(folder.glob(DUMPS["optimised"]))[-1].read_text(), devices)
    if found == expected:
        print(f"ok      {path.name}: as HLO text, the same collectives")
        return True
    print(f"FAILED  {path.name}: as HLO text, XLA makes {found}, not {expected}")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--shard-opt", type=pathlib.Path, metavar="PATH",
                        default=pathlib.Path(os.environ.get("SHARD_OPT", "target/debug/shard-opt")))
    parser.add_argument("--dump", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.dump:
        for path in args.files:
            dump(path)
        return 0
    same = True
    for path in args.files:
        with tempfile.TemporaryDirectory() as folder:
            same &= check(args.shard_opt, path, pathlib.Path(folder))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
