"""Measures how shard-opt reads, prints and refuses the MLIR programs of a peer's own tests.

Called by `tools/conformance`, which says how. A file is cut at its lines `// -----` where the peer
runs it so; each part is a program. What is counted, a row a folder:

- read: programs that MLIR accepts and shard-opt reads without an error;
- equal: of those, the ones whose pretty and generic prints by shard-opt MLIR reads as the program
  that the file holds. Programs with dialects that jaxlib lacks (quant, sparse_tensor) are judged by
  shard-opt's reading of its own prints, and of its generic form as LLVM's mlir-opt prints it back;
- rejected: lines on which the file announces an error (`expected-error`) that MLIR finds when it
  reads and verifies, and on which shard-opt reports one. What only a pass of the peer reports is
  no error of the program.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jaxlib_tools
from jaxlib.mlir import ir

SUITES = {
    "stablehlo": ["stablehlo/testdata", "stablehlo/tests", "stablehlo/conversions"],
    "shardy": ["shardy/dialect/sdy"],
}

# Least shares of what can be had, by suite: read, equal, rejected.
# Shardy's own checks of sharding rules and propagation edges aren't made when a program is read.
THRESHOLDS = {"stablehlo": (0.99, 0.99, 0.95), "shardy": (0.99, 0.99, 0.69)}

# Programs that are not read, or not printed back, on purpose: part of the name, and why.
NOT_SCALAR = "initial values of reductions that aren't scalars, which the specification forbids"
NO_MESH = "a collective's groups by axes of a function that is named as a mesh is"
EXCEPTIONS: list[tuple[str, str]] = [
    ("tests/infer_stablehlo.mlir:1080", NOT_SCALAR),
    ("tests/infer_stablehlo.mlir:1096", NOT_SCALAR),
    ("tests/infer_stablehlo.mlir:1743", NOT_SCALAR),
    ("tests/print_reduce.mlir", NOT_SCALAR),
    ("tests/verify_reduce.mlir:4", NOT_SCALAR),
    ("tests/verify_reduce_window.mlir:23", NOT_SCALAR),
    ("tests/verify_reduce_window.mlir:42", NOT_SCALAR),
    ("vhlo/stablehlo_legalize_to_vhlo_mixed.mlir", NOT_SCALAR),
    ("tests/verify_replica_groups_mesh_axes.mlir:1", NO_MESH),
    ("vhlo/stablehlo_legalize_to_vhlo.1_16_0.mlir", NO_MESH),
    ("vhlo/stablehlo_legalize_to_vhlo.1_18_0.mlir", NO_MESH),
    ("vhlo/stablehlo_legalize_to_vhlo.1_19_0.mlir", NO_MESH),
    ("vhlo/stablehlo_legalize_to_vhlo.1_20_0.mlir", NO_MESH),
    ("vhlo/stablehlo_legalize_to_vhlo.mlir", NO_MESH),
    ("vhlo/vhlo_to_version_downgrade_invalid.1_15_0.mlir", NO_MESH),
    ("tests/print_stablehlo.mlir", "functions that end with stablehlo.return"),
    ("vhlo/invalid_vhlo_future.mlir", "VHLO's own pretty form of a function"),
    ("vhlo/legalize_stablehlo_to_vhlo_invalid.mlir", "a name of a custom call with a tensor's type"),
    ("tosa/tests/legalize_tosa_rescale_to_stablehlo.mlir", "TOSA's own form of an enumeration"),
    ("tests/ops_stablehlo_roundtrip.mlir", "an empty precision_config is left out"),
    ("transforms/stablehlo_refine_shapes.mlir:1287", "groups without members, given as a splat"),
    ("vhlo/vhlo_to_version_downgrade.1_11_0.mlir", "no pairs of devices, given with one dimension"),
    ("ir/test/tensor_sharding_parse_print.mlir", "the sharding of a tuple's only element"),
]

EXPECTED = re.compile(r"expected-error(?:-re)?\s*(@[+-]\d+|@above|@below|@unknown)?"
                      r"\s*(\d*)[*+]?\s*\{\{(.*?)\}\}")
CHECK_CONST = re.compile(r'check\.(expect_eq_const|expect_almost_eq_const) (%[\w#]+)\s*,\s*'
                         r'(dense<(?:"[^"]*"|[^">])*>\s*:\s*(tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>))'
                         r'(?:, tolerance = ([\w.+-]+)(?: : f64)?)?')
CHECK_TWO = re.compile(r'check\.(expect_eq|expect_almost_eq) (%[\w#]+)\s*,\s*(%[\w#]+)'
                       r'(?:, tolerance = ([\w.+-]+)(?: : f64)?)?\s*:\s*(tensor<[^\n]*>)')
CHECK_CLOSE = re.compile(r'check\.expect_close (%[\w#]+)\s*,\s*(%[\w#]+), max_ulp_difference = (\d+)'
                         r'(?:, min_ulp_difference = (\d+))?\s*:\s*(tensor<[^\n]*>)\s*,\s*'
                         r'(tensor<[^\n]*>)')
CHECK_SERIALIZED = re.compile(r'check\.expect_serialized_eq (%[\w#]+)\s*,\s*probe_id = ("[^"]*")'
                              r'(?:, iter = (\d+))?\s*:\s*(tensor<[^\n]*>)')
PROBE = re.compile(r'interpreter\.probe (%[\w#]+)\s*,\s*probe_id = ("[^"]*")\s*:\s*(tensor<[^\n]*>)')
PRINT = re.compile(r'interpreter\.print (%[\w#]+)\s*:\s*(tensor<[^\n]*>)')


def generic_checks(text: str) -> str:
    """The ops of the check and interpreter dialects, which jaxlib lacks, in generic form."""
    if "check." not in text and "interpreter." not in text:
        return text

    def tolerance(value):
        return f", tolerance = {value} : f64" if value else ""

    text = CHECK_CONST.sub(lambda m: f'"check.{m[1]}"({m[2]}) <{{value = {m[3]}{tolerance(m[5])}}}>'
                                     f' : ({m[4]}) -> ()', text)
    text = CHECK_TWO.sub(lambda m: f'"check.{m[1]}"({m[2]}, {m[3]})'
                                   + (f" <{{tolerance = {m[4]} : f64}}>" if m[4] else "")
                                   + f" : ({m[5]}, {m[5]}) -> ()", text)
    text = CHECK_CLOSE.sub(lambda m: f'"check.expect_close"({m[1]}, {m[2]}) <{{'
                                     f'max_ulp_difference = {m[3]} : ui64'
                                     + (f", min_ulp_difference = {m[4]} : ui64" if m[4] else "")
                                     + f'}}> : ({m[5]}, {m[6]}) -> ()', text)
    text = CHECK_SERIALIZED.sub(lambda m: f'"check.expect_serialized_eq"({m[1]}) <{{'
                                          + (f"iteration = {m[3]} : ui32, " if m[3] else "")
                                          + f'probe_id = {m[2]}}}> : ({m[4]}) -> ()', text)
    text = PROBE.sub(r'"interpreter.probe"(\1) <{probe_id = \2}> : (\3) -> \3', text)
    return PRINT.sub(r'"interpreter.print"(\1) : (\2) -> ()', text)


class Piece:
    """One program of a file."""

    def __init__(self, folder: str, name: str, text: str, parses_only: bool):
        self.folder, self.name, self.text = folder, name, text
        # The peer runs no pass over the file, so that errors are those of the program.
        self.parses_only = parses_only
        self.expected: list[tuple[int, str]] = []
        for number, line in enumerate(text.split("\n"), 1):
            for match in EXPECTED.finditer(line):
                place = match[1] or ""
                if place == "@unknown":
                    continue
                shift = {"": 0, "@above": -1, "@below": 1}.get(place)
                shift = int(place[1:]) if shift is None else shift
                self.expected.append((number + shift, match[3]))


def runs(text: str) -> list[str]:
    """The commands by which the peer runs a file."""
    joined = re.sub(r"\\\n// (?:RUN:)?", "", text)
    return re.findall(r"^// RUN: (.*)$", joined, re.MULTILINE)


def only_parses(command: str) -> bool:
    words = command.split("|")[0].split()
    allowed = {"stablehlo-opt", "sdy_opt", "%s", "verify-diagnostics", "split-input-file",
               "allow-unregistered-dialect", "2>&1", "not"}
    return all(word.lstrip("-") in allowed for word in words)


def pieces_of(root: pathlib.Path, suite: str, only: str | None) -> list[Piece]:
    pieces = []
    for top in SUITES[suite]:
        for path in sorted((root / top).rglob("*.mlir")):
            name = str(path.relative_to(root))
            if only and not re.search(only, name):
                continue
            text = path.read_text()
            commands = runs(text)
            folder = str(path.parent.relative_to(root))
            parses = any(only_parses(c) and "verify-diagnostics" in c for c in commands)
            if any("split-input-file" in command for command in commands):
                parts = re.split(r"^// -----[^\n]*\n", text, flags=re.MULTILINE)
            else:
                parts = [text]
            line = 1
            for part in parts:
                pieces.append(Piece(folder, f"{name}:{line}", part, parses))
                line += part.count("\n") + 1
    return pieces


# --- the judge ---------------------------------------------------------------------------------

UNPLACED = re.compile(r'loc\("-":\d+:\d+(?: to (?:\d+)?:\d+)?\)')


def canonical(module, locations: bool) -> str:
    """The text of a module by which modules are compared."""
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations,
                                    use_local_scope=True)
    return UNPLACED.sub("loc(unknown)", text)


def difference(wanted: str, printed: str) -> str:
    """The first place where two texts differ, with what stands around it."""
    at = len(os.path.commonprefix([wanted, printed]))
    start = max(wanted.rfind("\n", 0, at) + 1, at - 120)
    return (f"...{wanted[start:at + 60]!r}".replace("\\n", " ") + "\n        printed "
            + repr(printed[at:at + 60]))


def read_by_mlir(text: str) -> tuple[str, list[str]]:
    """`ok`, `ok (unregistered)` or `refused`, with the error or the canonical texts, without
    locations and with them."""
    error = ""
    for unregistered in (False, True):
        with jaxlib_tools.context() as context:
            context.allow_unregistered_dialects = unregistered
            try:
                module = ir.Module.parse(text)
                return ("ok (unregistered)" if unregistered else "ok"), [
                    canonical(module, locations) for locations in (False, True)]
            except ir.MLIRError as said:
                # The first attempt's error names the program's fault, the second's may hide it.
                error = error or str(said)
                if "unregistered" not in error and "not found" not in error:
                    break
                error = str(said)
    return "refused", [error]


def judge_one(texts: dict[str, str]) -> dict:
    status, found = read_by_mlir(generic_checks(texts["original"]))
    verdict = {"status": status, "error": found[0][:2000] if status == "refused" else ""}
    if status == "refused":
        return verdict
    for at, form in enumerate(("pretty", "generic")):
        if form in texts:
            status, printed = read_by_mlir(generic_checks(texts[form]))
            if status == "refused":
                verdict[form] = "MLIR refuses it: " + printed[0][:1500]
            elif found[at] != printed[at]:
                verdict[form] = difference(found[at], printed[at])
            else:
                verdict[form] = "equal"
    return verdict


def judge(tasks: list[dict[str, str]]) -> list[dict]:
    """Judges in child processes, since MLIR ends the process on some programs."""
    results: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "verdicts"
        while len(results) < len(tasks):
            child = os.fork()
            if child == 0:
                with open(os.devnull, "w") as null, open(log, "w") as out:
                    os.dup2(null.fileno(), 2)
                    for task in tasks[len(results):]:
                        out.write(json.dumps(judge_one(task)) + "\n")
                        out.flush()
                os._exit(0)
            os.waitpid(child, 0)
            done = [json.loads(line) for line in log.read_text().split("\n")[:-1]]
            results += done
            if len(results) < len(tasks):
                results.append({"status": "refused", "error": "MLIR ended the process"})
    return results


def judged(tasks: list[dict[str, str]], work: pathlib.Path) -> list[dict]:
    """The verdicts; those of an earlier run on the same texts are remembered in `work`."""
    work.mkdir(parents=True, exist_ok=True)
    key = lambda task: hashlib.sha256(  # noqa: E731
        (jaxlib_tools.VERSION + __doc__ + json.dumps(task, sort_keys=True)).encode()).hexdigest()
    store = work / "verdicts.json"
    known = json.loads(store.read_text()) if store.is_file() else {}
    keys = [key(task) for task in tasks]
    fresh = [at for at, k in enumerate(keys) if k not in known]
    for at, verdict in zip(fresh, judge([tasks[at] for at in fresh])):
        known[keys[at]] = verdict
    store.write_text(json.dumps(known))
    return [known[k] for k in keys]


def back_from_mlir_opt(texts: list[str]) -> list[str | None]:
    """Generic forms as LLVM's mlir-opt prints them; `None` where it refuses one."""
    program = os.environ.get("SHARD_OPT_MLIR_OPT")
    if not program:
        return [None] * len(texts)
    marked = []
    for number, text in enumerate(texts):
        head, _, tail = text.rpartition("})")
        rest = tail.lstrip()
        attributes = ", " + rest[1:] if rest.startswith("{") else "} " + rest
        marked.append(f"{head}}}) {{conformance.piece = {number} : i64{attributes}")
    result = subprocess.run(
        [program, "--allow-unregistered-dialect", "--mlir-print-op-generic", "--split-input-file",
         "--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=0",
         "--mlir-print-debuginfo", "--mlir-print-local-scope"],
        input="// -----\n".join(marked), capture_output=True, text=True, check=False)
    back: list[str | None] = [None] * len(texts)
    for part in result.stdout.split("// -----\n"):
        match = re.search(r"conformance\.piece = (\d+) : i64(, )?", part)
        if match:
            part = part.replace(match[0], "")
            back[int(match[1])] = re.sub(r"\}\) \{\} : \(\) -> \(\)", "}) : () -> ()", part)
    return back


# --- shard-opt ---------------------------------------------------------------------------------


def reprint(texts: list[str], folder: pathlib.Path) -> list[dict]:
    """What shard-opt says of each text, and how it prints it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number:05}.mlir").write_text(text)
    subprocess.run([os.environ["REPRINT"], str(folder)], check=True, stderr=subprocess.DEVNULL)
    results = []
    for number in range(len(texts)):
        base = folder / f"{number:05}"
        said = [line.split("\t") for line in base.with_suffix(".said").read_text().splitlines()]
        result: dict = {"errors": [(int(n), m) for n, severity, m in said if severity == "error"]}
        for form in ("pretty", "generic"):
            path = base.with_suffix("." + form)
            if path.is_file():
                result[form] = path.read_text()
        results.append(result)
    return results


# --- the tables --------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--only", metavar="PATTERN", help="files whose name has this")
    parser.add_argument("--show", metavar="KIND", default="read,equal,rejected,unsure",
                        help="which findings to list: read, equal, rejected, accepted, unsure")
    parser.add_argument("--limit", type=int, default=40, help="at most so many of each kind")
    args = parser.parse_args()

    work = pathlib.Path(os.environ.get("SHARD_OPT_CACHE", ".cache")) / f"conformance-{args.suite}"
    pieces = pieces_of(args.checkout, args.suite, args.only)
    if not pieces:
        print(f"no programs found under {args.checkout}", file=sys.stderr)
        return 2
    ours = reprint([piece.text for piece in pieces], work / "pieces")
    tasks = [{"original": piece.text} | {f: own[f] for f in ("pretty", "generic") if f in own}
             for piece, own in zip(pieces, ours)]
    verdicts = judged(tasks, work)

    # Programs that jaxlib can't judge.
    alone = [at for at, verdict in enumerate(verdicts)
             if verdict["status"] == "refused" and "generic" in ours[at]]
    back = dict(zip(alone, back_from_mlir_opt([ours[at]["generic"] for at in alone])))
    readable = [at for at in alone if back[at] is not None]
    again = dict(zip(readable, reprint([back[at] for at in readable], work / "back")))

    table: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    findings: dict[str, list[str]] = collections.defaultdict(list)
    excused: collections.Counter = collections.Counter()
    foreign = re.compile(r"unregistered|not found for custom op")

    def excuse(name: str) -> bool:
        for part, why in EXCEPTIONS:
            if part in name:
                excused[f"{part}: {why}"] += 1
                return True
        return False

    for at, (piece, own, verdict) in enumerate(zip(pieces, ours, verdicts)):
        row = table[piece.folder]
        row["programs"] += 1
        refused = verdict["status"] == "refused"
        lacks = refused and bool(foreign.search(verdict["error"]) or "!quant." in piece.text)
        real = [error for error in own["errors"] if not error[1].startswith(": FAULT")]
        lines = {line for line, _ in piece.expected}
        # Where jaxlib can't judge: what the peer runs no pass over, or what we find at that place.
        announced = lacks and (piece.parses_only
                               or bool(real) and all(number in lines for number, _ in real))
        if piece.expected and (refused and not lacks or announced):
            for line in sorted(lines):
                if not piece.parses_only and f":{line}:" not in verdict["error"] and not any(
                        number == line for number, _ in real):
                    continue
                row["wrong lines"] += 1
                if any(number == line for number, _ in own["errors"]):
                    row["rejected"] += 1
                else:
                    text = next(text for number, text in piece.expected if number == line)
                    said = "; ".join(f"{n}: {m[:160]}" for n, m in own["errors"]) or "nothing"
                    findings["rejected"].append(
                        f"{piece.name} line {line}: {text[:200]}\n        we say {said[:600]}")
            continue
        if refused and not lacks:
            # MLIR of this version refuses what the peer's takes, or a file that isn't run as it is.
            row["no verdict"] += 1
            kind = "accepted" if not real else "unsure"
            findings[kind].append(f"{piece.name}: MLIR {verdict['error'][:300]!r}"
                                  + "".join(f"\n        {n}: {m[:300]}" for n, m in real[:2]))
            continue
        row["valid"] += 1
        if real:
            if not excuse(piece.name):
                findings["read"].append(f"{piece.name}: " + "; ".join(
                    f"{n}: {m[:400]}" for n, m in own["errors"][:2]))
            continue
        row["read"] += 1
        faults = [message for _, message in own["errors"]]
        if lacks:
            row["by reading"] += 1
            # Attributes of other dialects are kept with their spaces.
            if at in again and again[at].get("generic", "").split() != own["generic"].split():
                faults.append("mlir-opt's print of the generic form is another program: "
                              + difference(own["generic"], again[at].get("generic", ""))
                              + str(again[at]["errors"][:2]))
            elif at not in again and os.environ.get("SHARD_OPT_MLIR_OPT"):
                faults.append("mlir-opt refuses the generic form")
        else:
            faults += [f"{form}: {verdict.get(form)}" for form in ("pretty", "generic")
                       if verdict.get(form) != "equal"]
        if not faults:
            row["equal"] += 1
        elif not excuse(piece.name):
            findings["equal"].append(f"{piece.name}: " + "\n      ".join(faults))

    for kind in args.show.split(","):
        found = findings[kind]
        if found:
            print(f"\n== {kind}: {len(found)}")
            for finding in found[:args.limit]:
                print("  " + finding)
    columns = ["programs", "valid", "read", "equal", "by reading", "wrong lines", "rejected",
               "no verdict"]
    print(f"\n{'folder':<62}" + "".join(f"{column:>12}" for column in columns))
    total: collections.Counter = collections.Counter()
    for folder, row in sorted(table.items()):
        total.update(row)
        print(f"{folder:<62}" + "".join(f"{row[column]:>12}" for column in columns))
    print(f"{'all':<62}" + "".join(f"{total[column]:>12}" for column in columns))
    for why, count in sorted(excused.items()):
        print(f"exception ({count} programs): {why}")
    shares = (total["read"] / max(total["valid"], 1), total["equal"] / max(total["valid"], 1),
              total["rejected"] / max(total["wrong lines"], 1))
    wanted = THRESHOLDS[args.suite]
    print(", ".join(f"{name} {share:.2%} (at least {least:.0%})" for name, share, least in
                    zip(("read", "equal", "rejected"), shares, wanted))
          + f"; {jaxlib_tools.VERSION}")
    unlisted = len(findings["read"]) + len(findings["equal"])
    if unlisted:
        print(f"{unlisted} programs are neither read and printed nor listed as exceptions")
    # A part of the suite says nothing of the shares.
    kept = args.only or all(share >= least for share, least in zip(shares, wanted))
    return 0 if kept and not unlisted else 1


if __name__ == "__main__":
    sys.exit(main())
