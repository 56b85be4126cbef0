"""Reads and prints every HLO text of a checkout of XLA, and has XLA compare.

  .venv/bin/python tools/conformance_hlo.py CHECKOUT [--failures FILE] [--keep DIR]

Texts are the *.hlo files (cut at `// -----`) and the modules in raw strings of the parser's own
tests. jaxlib reads each text, and what `shard-opt` prints for it; its canonical prints of the two
must be equal, constants, metadata, configurations and schedules included. Texts that jaxlib refuses are
counted apart. Exit status 1 if less than 98 % of the others come back equal.

Known differences: two texts of XLA's translation tests contradict themselves (a window of another
size than the kernel's, an element of another shape than the tuple's), and the sign of `-0`, which
XLA prints and doesn't read, is kept here.
"""

import argparse
import collections
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jaxlib_tools
from jaxlib import _hlo

SHARD_OPT = os.environ.get("SHARD_OPT", "target/debug/shard-opt")
NEEDED = 0.98
PARSER_TESTS = ("xla/hlo/parser/hlo_parser_test.cc",)


def texts(checkout: pathlib.Path):
    """Yields the name and the text of each module."""
    for path in sorted(checkout.rglob("*.hlo")):
        name = str(path.relative_to(checkout))
        parts = re.split(r"^// -----.*\n", path.read_text(errors="replace"), flags=re.MULTILINE)
        for index, part in enumerate(parts):
            if part.strip():
                yield (name if len(parts) == 1 else f"{name}#{index}"), part
    for test in PARSER_TESTS:
        source = (checkout / test).read_text()
        for match in re.finditer(r'R"(\w*)\((.*?)\)\1"', source, flags=re.DOTALL):
            if re.search(r"^\s*(HloModule|ENTRY|%?[\w.-]+ (\(.*\) -> .* )?\{)", match[2]):
                line = source.count("\n", 0, match.start()) + 1
                yield f"{test}:{line}", match[2]


def printed(text: str) -> str:
    """XLA's print of a text, everything included."""
    options = _hlo.HloPrintOptions.canonical()
    options.print_large_constants = True
    options.print_metadata = True
    options.print_backend_config = True
    options.print_control_dependencies = True
    options.print_extra_attributes = True
    return _hlo.hlo_module_from_text(text).to_string(options)


def ours(text: str, folder: pathlib.Path, number: int) -> tuple[bool, str]:
    path = folder / f"{number}.hlo"
    path.write_text(text)
    run = subprocess.run([SHARD_OPT, path, "--input-format=hlo"], capture_output=True, text=True,
                         timeout=120, check=False)
    path.unlink()
    return run.returncode == 0, run.stdout if run.returncode == 0 else run.stderr


def judge(name: str, text: str, folder: pathlib.Path, number: int) -> tuple[str, str, str]:
    valid, expected = jaxlib_tools.in_child(printed, text)
    read, found = ours(text, folder, number)
    if not read and "panicked" in found:
        return "panicked", name, found
    if not valid:
        return ("both refuse" if not read else "XLA refuses"), name, expected
    if not read:
        return "not read", name, found
    valid, back = jaxlib_tools.in_child(printed, found)
    if not valid:
        return "print refused", name, back
    if back != expected:
        lines = difflib.unified_diff(expected.splitlines(), back.splitlines(), "XLA", "ours",
                                     lineterm="", n=0)
        return "differs", name, "\n".join(line[:400] for line, _ in zip(lines, range(20)))
    return "equal", name, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, metavar="CHECKOUT")
    parser.add_argument("--failures", type=pathlib.Path, help="write what went wrong to a file")
    args = parser.parse_args()
    all_texts = list(texts(args.checkout))
    if not all_texts:
        print(f"{args.checkout} has no HLO texts: is it a checkout of XLA?", file=sys.stderr)
        return 1
    results = []
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool):
        jobs = [pool.submit(judge, name, text, pathlib.Path(folder), number)
                for number, (name, text) in enumerate(all_texts)]
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            results.append(job.result())
            if sys.stderr.isatty():
                print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    results.sort(key=lambda result: (result[0], result[1]))
    counts = collections.Counter(result[0] for result in results)
    if args.failures:
        bad = [f"== {kind}: {name}\n{said}\n" for kind, name, said in results if kind != "equal"]
        args.failures.write_text("\n".join(bad))
    judged = sum(count for kind, count in counts.items() if "refuse" not in kind)
    judged += counts["print refused"]
    for kind, count in sorted(counts.items()):
        print(f"{count:6} {kind}")
    share = counts["equal"] / judged
    print(f"{counts['equal']} of {judged} texts that XLA reads come back equal: {share:.2%}")
    return 0 if share >= NEEDED and not counts["panicked"] else 1


if __name__ == "__main__":
    sys.exit(main())
