"""Executes StableHLO's self-checking programs on the interpreter.

  tools/conformance interpret CHECKOUT [--only PATTERN] [--failures FILE] [--show N]

Over a checkout of openxla/stablehlo: the programs of `stablehlo/testdata` (static shapes), which
check their results with calls of `@check.expect_*`, and those of `stablehlo/tests/interpret`, which
are split at `// -----` and state checks, programs of several devices among them. A program passes
if `shard-opt run` exits with 0: every op was executed and every check holds. Exit status 1 if less
than 99 % of either pass.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHARD_OPT = os.environ.get("SHARD_OPT", "target/release/shard-opt")
CHECK = re.compile(r"(?:@check\.\w+|^\s*check\.\w+)", re.MULTILINE)
THRESHOLD = 0.99


def run(name: str, text: str) -> tuple[str, int, str]:
    """Name, number of checks that don't hold (or weren't reached), and what was said."""
    checks = len(CHECK.findall(text))
    with tempfile.TemporaryDirectory() as folder:
        command = [SHARD_OPT, "run", "-", "--elements=8", f"--probe-output-dir={folder}"]
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return name, checks, "takes more than 300 s"
    if done.returncode == 0:
        return name, 0, ""
    wrong = done.stderr.count("the check doesn't hold")
    return name, wrong or max(checks, 1), done.stderr.strip()


def programs(checkout: pathlib.Path) -> dict[str, list[tuple[str, str]]]:
    base = checkout / "stablehlo"
    suites: dict[str, list[tuple[str, str]]] = {"testdata": [], "interpret": []}
    for file in sorted((base / "testdata").glob("*.mlir")):
        text = file.read_text()
        # Shapes that are known at run time only belong to the refiner's tests.
        if "check." in text and "dynamic" not in file.name:
            suites["testdata"].append((file.name, text))
    for file in sorted((base / "tests" / "interpret").rglob("*.mlir")):
        for number, part in enumerate(re.split(r"^// -----.*$", file.read_text(), flags=re.M)):
            if CHECK.search(part):
                suites["interpret"].append((f"{file.name}#{number}", part))
    return suites


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--only", default="", help="programs whose name matches this expression")
    parser.add_argument("--failures", type=pathlib.Path, help="file for what failing programs say")
    parser.add_argument("--show", type=int, default=20, help="failures that are printed")
    args = parser.parse_args()
    if not (args.checkout / "stablehlo" / "testdata").is_dir():
        print(f"conformance: {args.checkout} is no checkout of openxla/stablehlo", file=sys.stderr)
        return 2
    status = 0
    failures = []
    for suite, list_ in programs(args.checkout).items():
        list_ = [(name, text) for name, text in list_ if re.search(args.only, name)]
        if not list_:
            continue
        checks = sum(len(CHECK.findall(text)) for _, text in list_)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda item: run(*item), list_))
        failed = [(name, said) for name, wrong, said in done if said or wrong]
        wrong = sum(wrong for _, wrong, _ in done)
        share = 1 - len(failed) / len(list_)
        checked = 1 - wrong / max(checks, 1)
        print(f"{suite}: {len(list_) - len(failed)} of {len(list_)} programs pass"
              f" ({share:.2%}), {checks - wrong} of {checks} checks hold ({checked:.2%})")
        failures += failed
        if min(share if suite == "testdata" else checked, 1) < THRESHOLD:
            status = 1
    kinds = collections.Counter(first_line(said) for _, said in failures)
    for kind, count in kinds.most_common(args.show):
        print(f"  {count:5}  {kind}")
    for name, said in failures[:args.show]:
        print(f"  {name}: {first_line(said)}")
    if args.failures:
        args.failures.write_text("".join(f"==== {name}\n{said}\n" for name, said in failures))
    return status


def first_line(said: str) -> str:
    """What is said first, without its place and without numbers."""
    line = said.splitlines()[0] if said else ""
    line = re.sub(r"^\S+?:(\d+:\d+:)?\s*", "", line)
    return re.sub(r"\d+", "N", line)[:150]


if __name__ == "__main__":
    sys.exit(main())
