"""What XLA makes of a program: its own partition's collectives, FLOPs and memory, as JSON.

  .venv/bin/python tools/xla_partition.py [--hlo DIR] FILE...
  .venv/bin/python tools/xla_partition.py --shardy-only FILE

Each file is compiled by XLA's CPU client, with Shardy where it has sdy shardings, for the devices
that it asks for, and the collectives are those of the optimised HLO module. A program that is partitioned
already comes out with its own collectives, so the same table compares the two.

Per collective: `kind`; `shape` of the result on a device; `bytes`, its size; `group_size`; `count`,
the times it runs (the product of the known trip counts of the loops around it; `null` where one
isn't known, and then once in the sums); `op_name` and `source`, from the metadata; and
`wire_bytes`, what a device sends each time: all-reduce 2(g-1)/g of the result, all-gather (g-1)/g
of the result, reduce-scatter and all-to-all (g-1)/g of the operand, collective-permute its operand.
`flops` is XLA's cost analysis for one device; it counts a loop's body as XLA does. `temp_bytes` and
the others are its memory analysis for one device.

--shardy-only prints the module after Shardy's propagation pipeline instead.
"""

import argparse
import json
import math
import pathlib
import re
import sys
from collections import defaultdict

import jaxlib_tools
from jaxlib.mlir import passmanager

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
         "collective-broadcast", "ragged-all-to-all")

OPCODE = re.compile(r" ([a-z][\w-]*)\(")
CALLED = re.compile(r"\b(?:body|condition|calls|to_apply|true_computation|false_computation)="
                    r"%?([\w.-]+)|branch_computations=\{([^}]*)\}")
TRIP_COUNT = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


def shape_bytes(shape) -> int:
    """Bytes of an array, of a tuple's parts together."""
    if shape.is_tuple():
        return sum(map(shape_bytes, shape.tuple_shapes()))
    if not shape.is_array():
        return 0
    return math.prod(shape.dimensions()) * max(shape.numpy_dtype().itemsize, 1)


def group_size(line: str, devices: int) -> int:
    """How many devices take part in a group of a collective, in any of the spellings."""
    if found := re.search(r"replica_groups=\[\d+,(\d+)\]<=", line):  # [groups,size]<=[...]
        return int(found[1])
    if found := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", line):  # mesh axes
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", found[1]))
        axes = re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", found[2])
        return math.prod(int(sub or sizes[axis]) for axis, sub in axes)
    if found := re.search(r"replica_groups=\{\{([\d, ]*)\}", line):  # lists
        return len(found[1].split(","))
    return devices  # replica_groups={}: all


def wire_bytes(kind: str, result: int, group: int) -> float:
    """What a device sends, from the size of the result on a device."""
    others = (group - 1) / group
    return {
        "all-reduce": 2 * others * result,
        "reduce-scatter": others * result * group,
        "collective-permute": result,
    }.get(kind, others * result)


class Hlo:
    """The collectives of an HLO module, as jaxlib holds it."""

    def __init__(self, module, devices: int):
        text = module.to_string()
        self.devices = devices
        self.computations = {each.name: each.instructions() for each in module.computations()}
        self.entry = re.search(r"^ENTRY %?(\S+)", text, re.MULTILINE)[1]
        self.stack_frames = StackFrames(text)

    def collectives(self) -> list[dict]:
        """All collectives that are reached from the entry, with how often each runs."""
        found = []

        def walk(computation: str, count: int, known: bool) -> None:
            for instruction in self.computations[computation]:
                line = instruction.to_string()
                opcode = OPCODE.search(line.split(" = ", 1)[1])[1]
                kind = opcode.removesuffix("-start")
                if kind in KINDS:
                    found.append(self.collective(kind, opcode, instruction, line, count, known))
                elif opcode != "fusion":
                    trips, trips_known = 1, True
                    if opcode == "while":
                        trip_count = TRIP_COUNT.search(line)
                        trips_known = trip_count is not None
                        trips = int(trip_count[1]) if trip_count else 1
                    for one, several in CALLED.findall(line):
                        for name in [one] if one else re.findall(r"[\w.-]+", several):
                            walk(name, count * trips, known and trips_known)

        walk(self.entry, 1, True)
        return found

    def collective(self, kind: str, opcode: str, instruction, line: str, count: int,
                   known: bool) -> dict:
        shape = instruction.shape
        if opcode.endswith("-start") and kind in ("all-gather", "collective-permute"):
            # The result is (operand, result, contexts...).
            shape = shape.tuple_shapes()[1]
        result = shape_bytes(shape)
        group = group_size(line, self.devices)
        op_name = re.search(r'op_name="([^"]*)"', line)
        return {
            "kind": kind,
            "shape": re.sub(r"\{[^}]*\}|/\*.*?\*/", "", str(shape)),
            "bytes": result,
            "group_size": None if kind == "collective-permute" else group,
            "count": count if known else None,
            "wire_bytes": round(wire_bytes(kind, result, group)),
            "op_name": op_name[1] if op_name else None,
            "source": self.stack_frames.source(line),
        }


class StackFrames:
    """The tables at the head of HLO text that `stack_frame_id` points into."""

    def __init__(self, text: str):
        def table(name: str) -> dict[str, str]:
            section = re.search(rf"^{name}\n((?:\d+ .*\n)+)", text, re.MULTILINE)
            return dict(row.split(" ", 1) for row in section[1].splitlines()) if section else {}

        self.files = table("FileNames")
        self.locations = table("FileLocations")
        self.frames = table("StackFrames")

    def source(self, line: str) -> str | None:
        """`file:line` of the innermost frame of an instruction."""
        if found := re.search(r'source_file="([^"]*)" source_line=(\d+)', line):
            return f"{found[1]}:{found[2]}"
        frame = re.search(r"stack_frame_id=(\d+)", line)
        try:
            location = re.search(r"file_location_id=(\d+)", self.frames[frame[1]])
            fields = dict(re.findall(r"(\w+)=(\d+)", self.locations[location[1]]))
            return f"{self.files[fields['file_name_id']].strip(chr(34))}:{fields['line']}"
        except (KeyError, TypeError):
            return None


def totals(collectives: list[dict]) -> dict[str, dict]:
    """By kind and altogether: how many are written, how often they run, what a device sends."""
    sums = defaultdict(lambda: {"written": 0, "run": 0, "wire_bytes": 0})
    for collective in collectives:
        for key in (collective["kind"], "all"):
            count = collective["count"] or 1
            sums[key]["written"] += 1
            sums[key]["run"] += count
            sums[key]["wire_bytes"] += count * collective["wire_bytes"]
    return dict(sums)


def report(path: pathlib.Path, hlo_folder: pathlib.Path | None) -> dict:
    text = path.read_text()
    with jaxlib_tools.context():
        module = jaxlib_tools.parse(text)
        replicas, partitions = jaxlib_tools.devices_of(module)
        shardy = jaxlib_tools.uses_shardy(text)
        executable = jaxlib_tools.compile_for_cpu(module, shardy)
    hlo = executable.hlo_modules()[0]
    if hlo_folder:
        hlo_folder.mkdir(parents=True, exist_ok=True)
        (hlo_folder / f"{path.stem}.hlo").write_text(hlo.to_string())
    collectives = Hlo(hlo, replicas * partitions).collectives()
    memory = executable.get_compiled_memory_stats()
    return {
        "file": str(path),
        "compiler": f"XLA CPU, {jaxlib_tools.VERSION}, {'Shardy' if shardy else 'no Shardy'}",
        "replicas": replicas,
        "partitions": partitions,
        "totals": totals(collectives),
        "flops": executable.cost_analysis().get("flops"),
        "temp_bytes": memory.temp_size_in_bytes,
        "argument_bytes": memory.argument_size_in_bytes,
        "result_bytes": memory.output_size_in_bytes,
        "aliased_bytes": memory.alias_size_in_bytes,
        "collectives": collectives,
    }


def propagate(text: str) -> str:
    """The module after Shardy's propagation pipeline."""
    with jaxlib_tools.context():
        module = jaxlib_tools.parse(text)
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(
            module.operation)
        return module.operation.get_asm(enable_debug_info=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--hlo", type=pathlib.Path, metavar="DIR",
                        help="write the optimised HLO to DIR too")
    parser.add_argument("--shardy-only", action="store_true",
                        help="run Shardy's propagation and print the module")
    args = parser.parse_args()
    if args.shardy_only:
        for path in args.files:
            print(propagate(path.read_text()))
        return 0
    print(json.dumps([report(path, args.hlo) for path in args.files], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
