#!/usr/bin/env python3
"""Compares our propagation with that of the Shardy in jaxlib, value by value.

    tools/compare_propagation.py [--rules] [--keep DIR] PROGRAM.mlir ...

Each program is prepared with jaxlib: private calls are inlined and constants split (or not, with
`--split-here`), so that both sides see the same ops, and every op gets a number (`shard.id`). Then Shardy's import and propagation
passes run on it, and so does `cargo run --example propagate -- --dump`, and the shardings of all
values with the same number are compared. With `--rules`, the sharding rules of all ops are compared
too. Exit status 1 if anything differs.

Needs jaxlib 0.12 (`tools/setup python` makes a `.venv` with it) and our text crate.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir._mlir_libs import _jax_mlir_ext  # noqa: E402
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo  # noqa: E402
from jaxlib.mlir.passmanager import PassManager  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = "shard.id"
PREPARE = "symbol-dce,sdy-lift-inlined-meshes"
SPLIT = "sdy-constant-or-scalar-splitter"
PROPAGATE = (
    "sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce,"
    "sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-pre-order-funcs,"
    "sdy-user-priority-propagate"
)


def context() -> ir.Context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    result = ir.Context()
    result.append_dialect_registry(registry)
    result.load_all_available_dialects()
    stablehlo.register_dialect(result)
    sdy.register_dialect(result)
    chlo.register_dialect(result)
    mhlo.register_mhlo_dialect(result)
    result.allow_unregistered_dialects = True
    return result


def run(module: ir.Module, passes: str) -> float:
    manager = PassManager.parse(f"builtin.module({passes})")
    manager.enable_verifier(False)
    start = time.perf_counter()
    manager.run(module.operation)
    return time.perf_counter() - start


def walk(operation):
    """Every op inside an op, outer ones first."""
    for region in operation.regions:
        for block in region:
            for op in block:
                yield op.operation
                yield from walk(op.operation)


def inline_calls(module: ir.Module) -> None:
    """Puts the bodies of called functions in the place of their calls, inner calls included."""
    functions = {}
    for op in module.body.operations:
        if op.operation.name == "func.func":
            functions[ir.StringAttr(op.attributes["sym_name"]).value] = op.operation

    def remap(op, values) -> None:
        for at, operand in enumerate(op.operands):
            if operand in values:
                op.operands[at] = values[operand]
        for inner in walk(op):
            for at, operand in enumerate(inner.operands):
                if operand in values:
                    inner.operands[at] = values[operand]

    def inline(call) -> None:
        callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        body = callee.regions[0].blocks[0]
        values = dict(zip(body.arguments, call.operands))
        with ir.InsertionPoint(call):
            for op in body.operations:
                op = op.operation
                if op.name == "func.return":
                    returned = [values.get(value, value) for value in op.operands]
                    for old, new in zip(call.results, returned):
                        old.replace_all_uses_with(new)
                    continue
                clone = op.clone()
                remap(clone, values)
                values.update(zip(op.results, clone.results))
        call.erase()

    while calls := [op for op in walk(module.operation) if op.name == "func.call"]:
        for call in calls:
            inline(call)


def prepare(text: str, split: bool = True) -> ir.Module:
    module = ir.Module.parse(text)
    inline_calls(module)
    run(module, f"{PREPARE},{SPLIT}" if split else PREPARE)
    i64 = ir.IntegerType.get_signless(64)
    for number, op in enumerate(walk(module.operation)):
        op.attributes[TAG] = ir.IntegerAttr.get(i64, number)
    return module


def tag(op) -> int | None:
    return ir.IntegerAttr(op.attributes[TAG]).value if TAG in op.attributes else None


def plain(sharding: str) -> str:
    """A sharding without the name of its mesh."""
    text = re.sub(r"^(#sdy\.sharding)?<@\"?[^,]*?\"?, ", "", sharding).removesuffix(">")
    return re.sub(r"p\d+(?=[,\]])", "", text)


def per_value(attribute) -> list[str]:
    """The shardings of a list, each as text."""
    text = str(attribute)
    inner = text[text.index("[") + 1 : text.rindex("]")]
    parts, depth, start = [], 0, 0
    for at, char in enumerate(inner):
        if char in "<[{(":
            depth += 1
        elif char in ">]})":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(inner[start:at].strip())
            start = at + 1
    if inner.strip():
        parts.append(inner[start:].strip())
    return parts


def shardy_shardings(module: ir.Module) -> dict[str, str]:
    """The sharding of each value: op number and result, block parameter, argument, result."""
    found: dict[str, str] = {}

    def key_of(value) -> str | None:
        owner = value.owner
        if isinstance(owner, ir.Block):
            parent = owner.owner
            number = tag(parent.operation)
            if number is None:
                return None
            region = next(
                at for at, r in enumerate(parent.operation.regions) if owner in list(r)
            )
            return f"{number} param {region} {ir.BlockArgument(value).arg_number}"
        number = tag(owner)
        return None if number is None else f"{number} result {ir.OpResult(value).result_number}"

    for op in walk(module.operation):
        if op.name == "func.func":
            number = tag(op)
            for kind, attribute in (("arg", "arg_attrs"), ("out", "res_attrs")):
                if attribute not in op.attributes:
                    continue
                for at, attrs in enumerate(op.attributes[attribute]):
                    attrs = ir.DictAttr(attrs)
                    if "sdy.sharding" in attrs:
                        found[f"{number} {kind} {at}"] = plain(str(attrs["sdy.sharding"]))
            continue
        if op.name == "sdy.data_flow_edge":
            if "sharding" in op.attributes:
                key = key_of(op.operands[0])
                found[key] = plain(str(op.attributes["sharding"]))
            continue
        number = tag(op)
        if number is None:
            continue
        if "sharding" in op.attributes:
            found[f"{number} result 0"] = plain(str(op.attributes["sharding"]))
        elif "sdy.sharding" in op.attributes:
            for at, sharding in enumerate(per_value(op.attributes["sdy.sharding"])):
                found.setdefault(f"{number} result {at}", plain(sharding))
    return {key: value for key, value in found.items() if not is_open(value)}


def kept(module: ir.Module) -> set[int]:
    """The numbers of the ops that are still there, once: Shardy's passes drop what nothing uses,
    and copy constants."""
    found = collections.Counter(tag(op) for op in walk(module.operation))
    return {number for number, count in found.items() if number is not None and count == 1}


def op_of(key: str) -> int:
    return int(key.split()[0])


def is_open(sharding: str) -> bool:
    return re.fullmatch(r"\[(\{\?\}(, )?)*\]", sharding) is not None


def rules_of(module: ir.Module) -> dict[int, str]:
    """Shardy's rule of each op, without what is around it."""
    run(module, "func.func(sdy-populate-op-sharding-rules)")
    found = {}
    for op in walk(module.operation):
        if "sdy.sharding_rule" in op.attributes:
            text = str(op.attributes["sdy.sharding_rule"])
            found[tag(op)] = text.removeprefix("#sdy.op_sharding_rule<").removesuffix(">")
    return found


def ours(
    binary: str, path: pathlib.Path, *flags: str
) -> tuple[dict[str, str], dict[int, str], str]:
    done = subprocess.run([binary, "--dump", *flags, path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr}")
    shardings, rules = {}, {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(": ")
        if key.endswith(" rule"):
            rules[int(key.removesuffix(" rule"))] = value
        elif not is_open(value):
            shardings[key] = value
    return shardings, rules, done.stderr.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--rules", action="store_true", help="compare the sharding rules too")
    parser.add_argument(
        "--split-here", action="store_true", help="each side splits constants with its own pass"
    )
    parser.add_argument("--keep", type=pathlib.Path, help="keep the prepared programs here")
    parser.add_argument("--show", type=int, default=10, help="differences to show for a program")
    parser.add_argument("--binary", help="the example program, built")
    options = parser.parse_args()
    binary = options.binary
    if binary is None:
        build = ["cargo", "build", "--release", "-p", "shard-propagate", "--example", "propagate"]
        subprocess.run(build, cwd=ROOT, check=True)
        target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
        binary = str(pathlib.Path(target) / "release" / "examples" / "propagate")
    folder = options.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    different = False
    for program in options.programs:
        with context(), ir.Location.unknown():
            module = prepare(program.read_text(), not options.split_here)
            path = folder / program.name
            path.write_text(module.operation.get_asm(print_generic_op_form=True))
            rules = rules_of(module) if options.rules else {}
            module = ir.Module.parse(path.read_text())
            seconds = run(module, PROPAGATE)
            (folder / f"{program.stem}.shardy.mlir").write_text(str(module))
            theirs, there = shardy_shardings(module), kept(module)
        mine, my_rules, note = ours(binary, path, *["--split"] * options.split_here)
        keys = [key for key in theirs.keys() | mine.keys() if op_of(key) in there]
        keys.sort(key=op_of)
        wrong = [key for key in keys if theirs.get(key) != mine.get(key)]
        print(
            f"{program.name}: {len(keys) - len(wrong)} of {len(keys)} sharded values equal; "
            f"Shardy {seconds * 1000:.0f} ms; {note}"
        )
        for key in wrong[: options.show]:
            print(f"  {key}: Shardy {theirs.get(key)}, here {mine.get(key)}")
        bad = [op for op in sorted(rules) if rules[op] != my_rules.get(op)]
        if options.rules:
            print(f"  {len(rules) - len(bad)} of {len(rules)} rules equal")
        for op in bad[: options.show]:
            print(f"  {op}: Shardy {rules[op]}\n  {'':{len(str(op))}}    here {my_rules.get(op)}")
        different |= bool(wrong or bad)
    sys.exit(different)


if __name__ == "__main__":
    main()
