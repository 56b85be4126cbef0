"""Takes StableHLO's test programs to HLO text and back, and has XLA judge both.

  .venv/bin/python tools/conformance_convert.py CHECKOUT [--sample N] [--failures FILE]

Over the static programs of a checkout of openxla/stablehlo: jaxlib must read the HLO text that
`shard-opt convert --to=hlo` makes, and MLIR the StableHLO that comes back. A sample of the programs
is executed on one CPU device before and after; the results must be the same, bit for bit. (The
programs' own checks are calls that XLA doesn't have; they are left out.) Programs that XLA refuses
before the trip are counted apart. Exit status 1 if any other fails.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

import jaxlib_tools
import numpy as np
from jaxlib import _hlo

SHARD_OPT = os.environ.get("SHARD_OPT", "target/debug/shard-opt")


def convert(text: str, to: str) -> str:
    source = "hlo" if to == "stablehlo" else "stablehlo"
    run = subprocess.run([SHARD_OPT, "convert", f"--to={to}", f"--input-format={source}"],
                         input=text, capture_output=True, text=True, check=False, timeout=300)
    if run.returncode != 0:
        raise RuntimeError(f"convert --to={to}: {run.stderr.strip()[:600]}")
    return run.stdout


def results(text: str) -> list[np.ndarray]:
    with jaxlib_tools.context():
        module = jaxlib_tools.parse(text)
        executable = jaxlib_tools.compile_for_cpu(module, False)
        return [np.asarray(array) for array in executable.execute([])]


def same(before: str, after: str) -> str:
    one, other = results(before), results(after)
    if len(one) != len(other):
        return f"{len(one)} results became {len(other)}"
    for index, (a, b) in enumerate(zip(one, other)):
        if a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            return f"result {index} differs: {a.ravel()[:4]} became {b.ravel()[:4]}"
    return ""


def read_by_mlir(text: str) -> None:
    with jaxlib_tools.context():
        jaxlib_tools.parse(text)


def read_by_xla(text: str) -> None:
    _hlo.hlo_module_from_text(text)


def read_all(original: str, hlo: str, back: str) -> None:
    read_by_mlir(original)
    read_by_xla(hlo)
    read_by_mlir(back)


def refusal(original: str, hlo: str, back: str) -> tuple[str, str]:
    """Which text is refused, and why; two empty strings where none is."""
    # Three processes cost more than what they do: only where one fails, each text is tried alone.
    if jaxlib_tools.in_child(read_all, original, hlo, back)[0]:
        return "", ""
    for kind, read, text in [("MLIR refuses the original", read_by_mlir, original),
                             ("XLA refuses the HLO", read_by_xla, hlo),
                             ("MLIR refuses what comes back", read_by_mlir, back)]:
        valid, said = jaxlib_tools.in_child(read, text)
        if not valid:
            return kind, said
    return "", ""


def judge(path: pathlib.Path, execute: bool) -> tuple[str, str, str]:
    text = path.read_text()
    text = "\n".join(line for line in text.splitlines()
                     if not re.search(r"stablehlo\.custom_call @check\.", line))
    try:
        hlo = convert(text, "hlo")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        valid, said = jaxlib_tools.in_child(read_by_mlir, text)
        if not valid:
            return "MLIR refuses the original", path.name, said
        return "not converted", path.name, str(error)
    try:
        back = convert(hlo, "stablehlo")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return "not converted back", path.name, str(error)
    kind, said = refusal(text, hlo, back)
    if kind:
        return kind, path.name, said
    if not execute:
        return "converted", path.name, ""
    valid, said = jaxlib_tools.in_child(same, text, back)
    if not valid:
        runs, reason = jaxlib_tools.in_child(lambda: results(text) and None)
        if not runs:
            return "XLA doesn't run the original", path.name, reason
        return "not run", path.name, said
    return ("differs" if said else "same values"), path.name, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, metavar="CHECKOUT")
    parser.add_argument("--sample", type=int, default=300, help="programs that are executed")
    parser.add_argument("--failures", type=pathlib.Path, help="write what went wrong to a file")
    args = parser.parse_args()
    files = sorted(path for path in (args.checkout / "stablehlo/testdata").glob("*.mlir")
                   if "_dynamic" not in path.name)
    if not files:
        print(f"{args.checkout} has no test programs: is it a checkout of openxla/stablehlo?",
              file=sys.stderr)
        return 1
    executed = set(random.Random(0).sample(files, min(args.sample, len(files))))
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(judge, path, path in executed) for path in files]
        outcomes = [job.result() for job in jobs]
    counts = collections.Counter(kind for kind, *_ in outcomes)
    print(f"{len(files):6} programs, {len(executed)} of them to execute")
    for kind, count in sorted(counts.items()):
        print(f"{count:6} {kind}")
    good = {"converted", "same values", "MLIR refuses the original", "XLA doesn't run the original"}
    if args.failures:
        bad = [f"== {kind}: {name}\n{said}\n" for kind, name, said in outcomes if kind not in good]
        args.failures.write_text("\n".join(bad))
    return 1 if any(kind not in good for kind in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
