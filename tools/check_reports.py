"""Compares `shard-opt report` on XLA's dumps with a count by XLA's own HLO module.

  .venv/bin/python tools/check_reports.py [--shard-opt target/debug/shard-opt] FILE...

Each program is partitioned and compiled by XLA's CPU client, which dumps the HLO after SPMD
partitioning and after all its passes. Both dumps go to `shard-opt report --format=json` and to
jaxlib's parser, whose instructions are counted: per collective, the kind, the size of its groups,
what a device sends each time (see xla_partition.py), and, in the optimised dump, how often it
runs, where XLA knows. Exit status 1 if the two differ anywhere.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jaxlib_tools
import xla_partition
from jaxlib import _hlo

DUMPS = {
    "after SPMD partitioning": "*.after_spmd-partitioning.*.txt",
    "optimised": "*.cpu_after_optimizations.txt",
}
CALLED = xla_partition.CALLED


def shape_bytes(shape) -> int:
    """Bytes of an array, of a tuple's parts together."""
    if shape.is_tuple():
        return sum(map(shape_bytes, shape.tuple_shapes()))
    if not shape.is_array():
        return 0
    return math.prod(shape.dimensions()) * max(shape.numpy_dtype().itemsize, 1)


def count(text: str, devices: int) -> collections.Counter:
    """(kind, group size, wire bytes, runs or None) of each collective that the entry reaches."""
    module = _hlo.hlo_module_from_text(text)
    computations = {computation.name: computation for computation in module.computations()}
    entry = re.search(r"^ENTRY %?(\S+)", module.to_string(), re.MULTILINE)[1]
    found: collections.Counter = collections.Counter()

    def walk(name: str, runs: int | None) -> None:
        for instruction in computations[name].instructions():
            line = instruction.to_string()
            opcode = re.search(r" ([a-z][\w-]*)\(", line.split(" = ", 1)[1])[1]
            kind = opcode.removesuffix("-start")
            if kind in xla_partition.KINDS:
                shape = instruction.shape
                if opcode.endswith("-start") and kind in ("all-gather", "collective-permute"):
                    shape = shape.tuple_shapes()[1]
                group = xla_partition.group_size(line, devices)
                wire = round(xla_partition.wire_bytes(kind, shape_bytes(shape), group))
                size = None if kind == "collective-permute" else group
                found[kind.replace("-", "_"), size, wire, runs] += 1
                continue
            if opcode == "fusion":
                continue
            times = runs
            if opcode == "while":
                trips = xla_partition.TRIP_COUNT.search(line)
                times = runs * int(trips[1]) if trips and runs is not None else None
            for one, several in CALLED.findall(line):
                for called in [one] if one else re.findall(r"[\w.-]+", several):
                    walk(called, times)

    walk(entry, 1)
    return found


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


def dump(path: str, folder: str) -> None:
    """Compiles a program; XLA_FLAGS says where the dumps go."""
    text = pathlib.Path(path).read_text()
    with jaxlib_tools.context():
        module = jaxlib_tools.parse(text)
        jaxlib_tools.compile_for_cpu(module, jaxlib_tools.uses_shardy(text))


def check(shard_opt: pathlib.Path, path: pathlib.Path, folder: pathlib.Path) -> bool:
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=spmd-partition.*"}
    subprocess.run([sys.executable, __file__, "--dump", str(path)], env=environment, check=True)
    text = path.read_text()
    with jaxlib_tools.context():
        replicas, partitions = jaxlib_tools.devices_of(jaxlib_tools.parse(text))
    same = True
    for name, pattern in DUMPS.items():
        found = sorted(folder.glob(pattern))
        if not found:
            print(f"FAILED  {path.name}, {name}: XLA wrote no such dump")
            same = False
            continue
        theirs = count(found[-1].read_text(), replicas * partitions)
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
    return same


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
            dump(str(path), "")
        return 0
    same = True
    for path in args.files:
        with tempfile.TemporaryDirectory() as folder:
            same &= check(args.shard_opt, path, pathlib.Path(folder))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
