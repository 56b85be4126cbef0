"""Writes StableHLO text of model programs: PYTHONPATH=tools python -m gen --out testdata/models

Without other options: every program, for 8 devices, at sizes that a CPU executes in about a second.
The other variants are written under a name that says so, e.g. gpt-real-48layers-64devices.mlir.
Only shapes are needed, so real sizes take no memory; JAX runs on as many forced CPU devices as the
program has.
"""

import argparse
import importlib
import os
import pathlib
import sys


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m gen", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("testdata/models"),
                        help="folder to write to (default: %(default)s)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="write this program only (may be given several times)")
    parser.add_argument("--layers", type=int, metavar="N",
                        help="layers of the programs that have a choice (default: 4; mlp: 2)")
    parser.add_argument("--real", action="store_true",
                        help="sizes of a real model, computed in bf16")
    parser.add_argument("--devices", type=int, choices=[8, 64], default=8,
                        help="size of the device mesh (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the names of the programs")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    # Read by JAX when it is imported.
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.devices}"
    from gen import FAMILIES, program, text

    programs = {}
    for family in FAMILIES:
        programs |= importlib.import_module(f"gen.{family}").PROGRAMS
    if args.list:
        print(*programs, sep="\n")
        return 0
    if unknown := set(args.only or ()) - programs.keys():
        print(f"no program is named {', '.join(sorted(unknown))}; there are: {', '.join(programs)}",
              file=sys.stderr)
        return 2

    options = program.Options(devices=args.devices, layers=args.layers, real=args.real)
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.only or programs:
        path = args.out / f"{name}{options.suffix}.mlir"
        path.write_text(text.of(name, programs[name](options), options))
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
