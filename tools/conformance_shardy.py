"""Runs the tests of Shardy's passes with shard-opt in the place of `sdy_opt`.

  tools/conformance shardy-opt CHECKOUT [--only PATTERN] [-v]

Over a checkout of openxla/shardy: the lit tests of its dialect and of its import, propagation and
export passes. The commands of a test's RUN lines run with shard-opt, and LLVM's FileCheck judges
what it prints. Each file is counted as a whole, and each function with expectations of its own: the
comments before it and those in it, against what comes of its part of the file, or, where others of
the part fail, of the function with what it calls alone. Programs that only announce diagnostics
are one unit each: diagnostics have to be where they are announced, but not to have Shardy's words.

Passes that choose by price are listed apart: theirs and ours are both right. Tests that need the
interpreter (`run_sdy_interpreter_test.sh`) aren't part of this. Exit status 1 if a folder has fewer
functions than it should.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

SHARD_OPT = os.environ.get("SHARD_OPT", "target/release/shard-opt")
LLVM = os.environ.get("SHARD_OPT_LLVM", "/usr/lib/llvm-22")

# Folders under shardy/dialect/sdy, and the least share of functions that pass.
FOLDERS = {
    "transforms/propagation/test": 0.95,
    "transforms/propagation/debugging/test": 0.0,
    "transforms/import/test": 0.90,
    "transforms/export/test": 0.80,
    "ir/test": 0.80,
}

# Passes that decide by cost: what is best depends on what is priced.
BY_COST = re.compile(
    r"-sdy-(insert-explicit-reshards|reshard-to-collectives|convert-global-to-local"
    r"|pad-for-divisibility|resolve-permutation-factors|explicit-gather-scatter-batching"
    r"|per-instruction-partitioning)|enable-insert-explicit-collectives")

# Functions where shard-opt differs on purpose: a part of `file:function`, and why.
NEWER = "the rule that jaxlib's Shardy has, which is newer than the public sources"
WHOLE = "factors that a partitioned program needs whole, which Shardy's rule passes through"
EACH = "a warning for each program of a file, where Shardy's command gives one in all"
RULES = "op_sharding_rule_registry.mlir:"
EXCEPTIONS: list[tuple[str, str]] = [
    (RULES + "custom_call_eigh", WHOLE),
    (RULES + "custom_call_approx_topk", WHOLE),
    (RULES + "custom_call_partial_reduce", WHOLE),
    (RULES + "dynamic_update_slice", NEWER),
    (RULES + "reshape_scalar", NEWER),
    (RULES + "reshape_swap", NEWER),
    (RULES + "reshape_split_and_swap", NEWER),
    (RULES + "reshape_split_swap_and_merge", NEWER),
    (RULES + "reshape_size_one_dims", NEWER),
    (RULES + "reshape_merge_dim_then_size_one", NEWER),
    (RULES + "reshape_split_dim_then_size_one", NEWER),
    (RULES + "reshape_split_dim_with_intermediate_one", NEWER),
    ("import_func_calls.mlir[1]:", EACH),
    ("import_func_calls_add_data_flow_edges_on_named_computations_false.mlir[1]:", EACH),
]


class Command(NamedTuple):
    """A RUN line: what runs, and what FileCheck is told; None where only the status counts."""
    words: list[str]
    check: list[str] | None
    both: bool


class Verdict(NamedTuple):
    """A file's or function's name, and what is wrong with it; empty where it passes."""
    name: str
    wrong: str


def filecheck() -> str:
    for name in (f"{LLVM}/bin/FileCheck", "FileCheck-22"):
        if found := shutil.which(name):
            return found
    sys.exit("conformance: LLVM 22's FileCheck is missing; tools/setup mlir installs it")


def commands(text: str) -> list[Command] | None:
    """The commands of a test; None where one isn't `sdy_opt`, alone or piped into FileCheck."""
    joined = re.sub(r"\\\s*\n\s*//\s*RUN:", " ", text)
    found = []
    for line in re.findall(r"^\s*//\s*RUN:(.*)$", joined, re.M):
        first, *rest = line.split("|")
        words = shlex.split(first)
        if words[:1] != ["sdy_opt"] or len(rest) > 1 or "%t" in line:
            return None
        both = "2>&1" in words
        words = [word for word in words[1:] if word != "2>&1"]
        check = shlex.split(rest[0]) if rest else None
        if check and check[0] != "FileCheck":
            return None
        found.append(Command(words, check and check[1:], both))
    return found or None


def run(command: Command, program: pathlib.Path, checks: pathlib.Path, judge: str) -> str:
    """Runs a command on a program; the first thing that is wrong."""
    words = [SHARD_OPT] + [str(program) if word == "%s" else word for word in command.words]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60,
                              stderr=subprocess.STDOUT if command.both else subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return "takes more than 60 s"
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        return " | ".join(said[:3]) or f"exit status {done.returncode}"
    if command.check is None:
        return ""
    words = [judge] + [str(checks) if word == "%s" else word for word in command.check]
    judged = subprocess.run(words, input=done.stdout, capture_output=True, text=True)
    if judged.returncode == 0:
        return ""
    lines = judged.stderr.splitlines()
    said = [line.split(":", 3)[-1].strip() for line in lines if ": error:" in line][:1]
    at = next((i for i, line in enumerate(lines) if ": error:" in line), 0)
    seen = next((lines[i + 1] for i, line in enumerate(lines)
                 if "possible intended match" in line or "scanning from here" in line
                 and i + 1 < len(lines)), "")
    return f"{said[0] if said else '?'}: {'; '.join(lines[at + 1:at + 2]).strip()}\n" \
           f"        here: {seen.strip()}"


EXPECTED = re.compile(
    r"expected-(error|warning)(?:-re)?\s*(@[+-]\d+|@above|@below|@unknown)?\s*\{\{")


def announced(command: Command, program: pathlib.Path, text: str) -> str:
    """Runs a command on a program that announces diagnostics: errors and warnings are to be where
    it says, and nowhere else; their words are our own."""
    wanted = set()
    for number, line in enumerate(text.splitlines(), 1):
        for kind, place in EXPECTED.findall(line):
            distance = {"": 0, "@above": -1, "@below": 1}.get(place)
            if place != "@unknown":
                wanted.add((kind, number + (int(place[1:]) if distance is None else distance)))
    words = [SHARD_OPT] + [str(program) if word == "%s" else word for word in command.words
                           if not re.search("verify-diagnostics|split-input-file", word)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    place = rf"^{re.escape(str(program))}:(\d+):\d+: (error|warning):"
    found = {(kind, int(line)) for line, kind in re.findall(place, done.stderr, re.M)}
    if "@unknown" in text and done.returncode != 0 and not wanted:
        return ""
    if wanted == found and (done.returncode != 0) == any(kind == "error" for kind, _ in wanted):
        return ""
    said = " | ".join(line for line in done.stderr.splitlines() if ": error:" in line
                      or ": warning:" in line)
    return f"wanted {sorted(wanted - found)}, too much {sorted(found - wanted)}: {said[:300]}"


class Part:
    """A part of a file between lines `// -----`, cut into functions with their comments."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        starts = []
        for number, line in enumerate(lines):
            if not re.match(r"\s*func\.func\b", line):
                continue
            start = number
            while start and re.match(r"\s*(//.*)?$", lines[start - 1]):
                start -= 1
            starts.append(start)
        self.text = text
        self.head = "".join(lines[:starts[0]]) if starts else text
        ends = starts[1:] + [len(lines)]
        self.pieces = ["".join(lines[start:end]) for start, end in zip(starts, ends)]
        self.names = [re.search(r"func\.func[^@\n]*@([\w.$\"-]+)", piece) for piece in self.pieces]
        self.names = [name.group(1) if name else "?" for name in self.names]
        # What stands behind the last function: the end of a module in braces.
        self.tail = ""
        if self.head.count("{") - self.head.count("}") > 0:
            last, brace, rest = self.pieces[-1].rpartition("}") if starts else ("", "", "")
            self.pieces[-1:], self.tail = [last], brace + rest

    def checks(self, at: int, prefix: str) -> str:
        """The expectations of a function."""
        own = [line for line in self.pieces[at].splitlines() if re.search(prefix, line)]
        if own and re.search(r"-(NEXT|SAME):", own[0]):
            own.insert(0, f"// CHECK-LABEL: func{{{{.*}}}} @{self.names[at]}")
        return "\n".join(own) + "\n" if own else ""

    def next_label(self, at: int) -> str:
        """The label that the next function with one begins with."""
        labels = [line for piece in self.pieces[at + 1:] for line in piece.splitlines()
                  if re.search(r"CHECK-LABEL:.*func", line)]
        return labels[0] + "\n" if labels else ""

    def alone(self, at: int) -> str:
        """A function and those it refers to, as a program."""
        wanted, queue = set(), [at]
        while queue:
            now = queue.pop()
            if now in wanted:
                continue
            wanted.add(now)
            code = re.sub(r"//.*", "", self.pieces[now])
            queue += [i for i, name in enumerate(self.names) if f"@{name}" in code]
        return self.head + "".join(self.pieces[i] for i in sorted(wanted)) + self.tail


def functions(name: str, text: str, command: Command, judge: str, work: pathlib.Path) \
        -> list[Verdict]:
    """The verdict of every function with expectations, or of every program that announces
    diagnostics."""
    split = any("split-input-file" in word for word in command.words)
    parts = re.split(r"^// -----.*\n", text, flags=re.M) if split else [text]
    prefixes = next((word.split("=", 1)[1].split(",") for word in command.check or []
                     if "check-prefix" in word), ["CHECK"])
    prefix = rf"//\s*({'|'.join(prefixes)})(-[A-Z0-9]+)*(\{{LITERAL\}})?:"
    program, checks = work / "program.mlir", work / "checks.mlir"
    verdicts = []
    for number, source in enumerate(parts):
        part = Part(source)
        # Without checks or functions of its own, a part is one unit.
        if command.check is None:
            label = part.names[0] if part.names else "?"
            units = [(f"{label}", source, "")] if "expected-" in source or part.names else []
            if not split and len(part.names) > 1:
                units = [(part.names[i], part.alone(i), "") for i in range(len(part.names))]
        else:
            units = [(part.names[i], part.alone(i), part.checks(i, prefix))
                     for i in range(len(part.names))]
            units = [unit for unit in units if unit[2]]
        for label, alone, expected in units:
            # What comes of the part: up to the next function, or, of a function that is moved or
            # turned into others, anywhere. Where others of the part fail, of the function alone.
            ways = [(source, expected), (alone, expected)]
            if expected and label in part.names:
                ways.insert(0, (source, expected + part.next_label(part.names.index(label))))
            wrong = ""
            for tried, wanted in dict.fromkeys(ways):
                program.write_text(tried)
                checks.write_text(wanted)
                said = announced(command, program, tried) if command.check is None \
                    else run(command, program, checks, judge)
                if not said:
                    wrong = ""
                    break
                wrong = wrong or said
            verdicts.append(Verdict(f"{name}:{label}#{number}", wrong))
    return verdicts


def test(path: pathlib.Path, name: str, list_: list[Command], judge: str) \
        -> tuple[Verdict, list[Verdict]]:
    """The verdicts of a file and of its functions."""
    text = path.read_text()
    wholes, parts = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, command in enumerate(list_):
            if wrong := run(command, path, path, judge):
                wholes.append(wrong)
            label = name if len(list_) == 1 else f"{name}[{number}]"
            parts += functions(label, text, command, judge, pathlib.Path(folder))
    return Verdict(name, "\n".join(wholes)), parts


def excuse(name: str) -> str | None:
    return next((why for part, why in EXCEPTIONS if part in name), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--only", default="", help="files whose path matches this expression")
    parser.add_argument("-v", "--verbose", action="store_true", help="what fails, and how")
    args = parser.parse_args()
    base = args.checkout / "shardy/dialect/sdy"
    if not base.is_dir():
        print(f"conformance: {args.checkout} is no checkout of openxla/shardy", file=sys.stderr)
        return 2
    judge = filecheck()
    tests, by_cost, others = [], [], []
    for folder in FOLDERS:
        for path in sorted((base / folder).rglob("*.mlir")):
            name = f"{folder}/{path.relative_to(base / folder)}"
            text = path.read_text()
            if not re.search(args.only, name) or "run_sdy_interpreter_test" in text:
                continue
            if BY_COST.search("\n".join(re.findall(r"RUN:.*", text))):
                by_cost.append(name)
            elif (list_ := commands(text)) is None:
                others.append(name)
            else:
                tests.append((path, name, list_, judge))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda item: test(*item), tests))

    table: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    excused: collections.Counter = collections.Counter()
    for whole, parts in results:
        folder = next(folder for folder in FOLDERS if whole.name.startswith(folder + "/"))
        row = table[folder]
        row["files"] += 1
        row["files passed"] += not whole.wrong
        row["functions"] += len(parts)
        failing = []
        for part in parts:
            if not part.wrong:
                row["functions passed"] += 1
            elif why := excuse(part.name):
                row["exceptions"] += 1
                excused[why] += 1
            else:
                failing.append(part)
        if args.verbose and (failing or whole.wrong and not parts):
            passed = sum(not part.wrong for part in parts)
            print(f"{whole.name}: {passed} of {len(parts)} functions")
            for part in failing or [whole]:
                print(f"    {part.name.split(':', 1)[-1]}: {part.wrong}")
    print(f"\n{'folder':<42}{'files':>12}{'functions':>14}{'exceptions':>12}")
    kept = True
    for folder, least in FOLDERS.items():
        row = table[folder]
        judged = row["functions"] - row["exceptions"]
        share = row["functions passed"] / max(judged, 1)
        kept &= not row["functions"] or share >= least
        print(f"{folder:<42}{row['files passed']:>6} of{row['files']:>3}"
              f"{row['functions passed']:>7} of{row['functions']:>4}{row['exceptions']:>12}"
              f"   {share:.1%} (at least {least:.0%})")
    for why, count in sorted(excused.items()):
        print(f"exception ({count} functions): {why}")
    if by_cost:
        print(f"decides by cost, not compared: {len(by_cost)} files")
    if others:
        print(f"other tools, not compared: {', '.join(others)}")
    # A part of the suite says nothing of the shares.
    return 0 if kept or args.only else 1


if __name__ == "__main__":
    sys.exit(main())
