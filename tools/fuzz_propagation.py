#!/usr/bin/env python3
"""Random shardings on real programs: do we propagate them as jaxlib's Shardy does?

    tools/fuzz_propagation.py [--runs N] [--seed S] [--keep DIR] PROGRAM.mlir ...

Takes the shardings out of a program, puts random ones in (on arguments, results of ops and of the
function; open and closed, with priorities, sub-axes, replicated axes), adds constraints, barriers and
sharding groups, and compares as `tools/compare_propagation.py` does. A program that differs is kept.
"""

import argparse
import os
import pathlib
import pickle
import random
import re
import sys

import compare_propagation as compare
from jaxlib.mlir import ir

MESHES = [
    '<["a"=2, "b"=2, "c"=2]>',
    '<["a"=4, "b"=2]>',
    '<["a"=8]>',
    '<["a"=2, "b"=4, "c"=1, "d"=2]>',
    '<["a"=3, "b"=4]>',
]


class Shardings:
    """Makes shardings over one mesh."""

    def __init__(self, rng: random.Random, mesh: str):
        self.rng = rng
        self.axes = [
            (name.strip().strip('"'), int(size))
            for name, size in (part.split("=") for part in mesh.strip("<>[]").split(","))
        ]
        self.prioritised = rng.random() < 0.3

    def pieces(self) -> list[str]:
        """The axes, some of them in two pieces."""
        pieces = []
        for name, size in self.axes:
            if size > 2 and size % 2 == 0 and self.rng.random() < 0.25:
                pieces += [f'"{name}":(1)2', f'"{name}":(2){size // 2}']
            else:
                pieces.append(f'"{name}"')
        return pieces

    def make(self, rank: int, closed: float = 0.5, without: frozenset[str] = frozenset()) -> str:
        rng = self.rng
        pieces = [piece for piece in self.pieces() if piece.split('"')[1] not in without]
        rng.shuffle(pieces)
        dims: list[list[str]] = [[] for _ in range(rank)]
        replicated = []
        for piece in pieces:
            where = rng.random()
            if where < 0.4 and rank:
                dims[rng.randrange(rank)].append(piece)
            elif where < 0.48:
                replicated.append(piece)
        texts = []
        for axes in dims:
            is_open = rng.random() >= closed
            text = "{" + ", ".join(axes + ["?"] * is_open) + "}"
            if self.prioritised and rng.random() < 0.5 and (axes or is_open):
                text += f"p{rng.randrange(3)}"
            texts.append(text)
        order = {name: at for at, (name, _) in enumerate(self.axes)}
        replicated.sort(key=lambda p: (order[p.split('"')[1]], p))
        tail = f", replicated={{{', '.join(replicated)}}}" if replicated else ""
        return merged(f"<@mesh, [{', '.join(texts)}]{tail}>", self.axes)


def merged(text: str, axes) -> str:
    """Two pieces of an axis side by side are one."""
    for name, size in axes:
        pair = f'"{name}":(1)2, "{name}":(2){size // 2}'
        text = text.replace(pair, f'"{name}"')
    return text


def rank_of(value) -> int | None:
    return rank_of_type(value.type)


def rank_of_type(type_) -> int | None:
    return type_.rank if isinstance(type_, ir.RankedTensorType) else None


def randomise(text: str, rng: random.Random) -> str:
    module = ir.Module.parse(text)
    meshes = [op.operation for op in module.body.operations if op.operation.name == "sdy.mesh"]
    if "sdy.manual_computation" in text:
        # Its shapes are for this mesh.
        mesh = str(meshes[0].attributes["mesh"]).removeprefix("#sdy.mesh")
        make = Shardings(rng, mesh)
    else:
        mesh = rng.choice(MESHES)
        make = Shardings(rng, mesh)
        for op in meshes:
            op.erase()
        with ir.InsertionPoint.at_block_begin(module.body):
            ir.Operation.create(
                "sdy.mesh",
                attributes={
                    "sym_name": ir.StringAttr.get("mesh"),
                    "mesh": ir.Attribute.parse(f"#sdy.mesh{mesh}"),
                },
            )
    density = rng.choice([0.02, 0.1, 0.3])
    ops = list(compare.walk(module.operation))
    for op in ops:
        if op.name == "func.func":
            function(op, make, rng)
            continue
        if "sdy.sharding" in op.attributes:
            del op.attributes["sdy.sharding"]
        if op.name == "sdy.sharding_constraint":
            sharding = make.make(rank_of(op.results[0]), 0.5, manual_axes(op))
            op.attributes["sharding"] = ir.Attribute.parse("#sdy.sharding" + sharding)
            continue
        parent = op.parent.name if op.parent else ""
        inside = parent not in (
            "func.func",
            "stablehlo.while",
            "stablehlo.case",
            "sdy.manual_computation",
        )
        ranks = [rank_of(result) for result in op.results]
        if inside or not ranks or None in ranks or op.name.startswith("sdy."):
            continue
        if rng.random() < density / 3:
            lists = ", ".join(make.make(rank, 0.3, manual_axes(op)) for rank in ranks)
            op.attributes["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding_per_value<[{lists}]>")
        if rng.random() < density / 3 and len(ranks) == 1 and ranks[0] > 0:
            constrain(op, make, rng)
    if rng.random() < 0.3:
        group(ops, rng)
    return module.operation.get_asm(print_generic_op_form=True)


def manual_axes(op) -> frozenset[str]:
    """The axes along which the region that an op is in is local."""
    axes: set[str] = set()
    while op := op.parent:
        if op.name == "sdy.manual_computation":
            axes |= set(re.findall(r'"(\w+)"', str(op.attributes["manual_axes"])))
    return frozenset(axes)


def function(op, make: Shardings, rng: random.Random) -> None:
    kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
        dicts = []
        for type_ in types:
            rank = rank_of_type(type_)
            attrs = {}
            if rank is not None and rng.random() < 0.4:
                attrs["sdy.sharding"] = ir.Attribute.parse("#sdy.sharding" + make.make(rank))
            dicts.append(ir.DictAttr.get(attrs))
        if dicts:
            op.attributes[name] = ir.ArrayAttr.get(dicts)


def constrain(op, make: Shardings, rng: random.Random) -> None:
    """A constraint or barrier behind an op, which some of the op's users take."""
    value = op.results[0]
    users = list(value.uses)
    sharding = make.make(rank_of(value), 0.5, manual_axes(op))
    attributes = {"sharding": ir.Attribute.parse("#sdy.sharding" + sharding)}
    name = "sdy.sharding_constraint"
    if rng.random() < 0.2:
        direction = rng.randrange(3)
        i32 = ir.IntegerType.get_signless(32)
        attributes = {"allowed_direction": ir.IntegerAttr.get(i32, direction)}
        name = "sdy.propagation_barrier"
    block = op.operation.block
    following = [other.operation for other in block]
    at = following.index(op.operation)
    if at + 1 >= len(following):
        return
    with ir.InsertionPoint(following[at + 1]):
        new = ir.Operation.create(name, results=[value.type], operands=[value], attributes=attributes)
    for use in users:
        if rng.random() < 0.7:
            use.owner.operands[use.operand_number] = new.results[0]


def group(ops, rng: random.Random) -> None:
    """Two results of one shape in a sharding group."""
    shapes: dict[str, list] = {}
    for op in ops:
        if op.parent and op.parent.name == "func.func" and len(op.results) == 1:
            if (rank_of(op.results[0]) or 0) > 0:
                shapes.setdefault(str(op.results[0].type.shape), []).append(op)
    several = [ops for ops in shapes.values() if len(ops) > 1]
    if not several:
        return
    i64 = ir.IntegerType.get_signless(64)
    for op in rng.sample(rng.choice(several), 2):
        following = [other.operation for other in op.operation.block]
        with ir.InsertionPoint(following[following.index(op.operation) + 1]):
            ir.Operation.create(
                "sdy.sharding_group",
                operands=[op.results[0]],
                attributes={"group_id": ir.IntegerAttr.get(i64, 0)},
            )


def use_everything(module: ir.Module) -> None:
    """Gives every unused result of the main function a user, or Shardy's passes drop its op."""
    for op in module.body.operations:
        if op.operation.name == "func.func":
            block = op.regions[0].blocks[0]
            ops = [inner.operation for inner in block]
            unused = [r for inner in ops for r in inner.results if not list(r.uses)]
            with ir.InsertionPoint(ops[-1]):
                ir.Operation.create(
                    "stablehlo.custom_call",
                    operands=unused,
                    attributes={
                        "call_target_name": ir.StringAttr.get("use"),
                        "has_side_effect": ir.BoolAttr.get(True),
                    },
                )


def shardy(text: str, rng: random.Random, path: pathlib.Path):
    """Writes a random version of a program, and propagates it with Shardy."""
    with compare.context(), ir.Location.unknown():
        module = compare.prepare(randomise(text, rng))
        path.write_text(module.operation.get_asm(print_generic_op_form=True))
        module = ir.Module.parse(path.read_text())
        module.operation.verify()
        compare.run(module, compare.PROPAGATE)
        path.with_suffix(".shardy.mlir").write_text(str(module))
        return compare.shardy_shardings(module), compare.kept(module)


def in_child(function, *arguments):
    """Runs a function in a process of its own: Shardy aborts on some programs. Returns its result,
    or why there is none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 2)
        try:
            result = function(*arguments)
        except Exception as error:
            result = str(error)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 and data else "Shardy aborts"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20, help="for each program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("/tmp/fuzz_propagation"))
    parser.add_argument("--show", type=int, default=4)
    parser.add_argument("--binary", required=True, help="the example program, built")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    different = skipped = total = 0
    for program in options.programs:
        with compare.context(), ir.Location.unknown():
            module = compare.prepare(program.read_text())
            use_everything(module)
            text = module.operation.get_asm(print_generic_op_form=True)
        for run in range(options.seed, options.seed + options.runs):
            path = options.keep / f"{program.stem}.{run}.mlir"
            got = in_child(shardy, text, random.Random(f"{program.name} {run}"), path)
            if isinstance(got, str):
                skipped += 1
                print(f"{program.stem} {run}: skipped: {got[:150]!r}")
                continue
            theirs, there = got
            mine, _, _ = compare.ours(options.binary, path)
            keys = [key for key in theirs.keys() | mine.keys() if compare.op_of(key) in there]
            keys.sort(key=compare.op_of)
            wrong = [key for key in keys if theirs.get(key) != mine.get(key)]
            total += 1
            if not wrong:
                path.unlink()
                path.with_suffix(".shardy.mlir").unlink()
                continue
            different += 1
            print(f"{program.stem} {run}: {len(wrong)} of {len(keys)} differ ({path})")
            for key in wrong[: options.show]:
                print(f"  {key}: Shardy {theirs.get(key)}, here {mine.get(key)}")
    print(f"{total - different} of {total} programs equal, {skipped} skipped")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
