"""Checks with jaxlib that MLIR files parse and verify, and optionally that XLA compiles them.

  .venv/bin/python tools/check_jaxlib.py [--compile] FILE...

All operations must be known: the func, stablehlo, chlo, mhlo and sdy dialects are registered.
--compile has XLA's CPU client compile each file for the devices it asks for: `mhlo.num_partitions`
above 1 with the SPMD partitioner on, `mhlo.num_replicas` above 1 as replicas.

Prints a line a file; exit status 1 if any failed.
"""

import argparse
import os
import pathlib
import sys
import time

import jaxlib_tools


def check(path: pathlib.Path, and_compile: bool) -> str:
    """Says what was found in order; raises what is wrong."""
    text = path.read_text()
    with jaxlib_tools.context():
        start = time.perf_counter()
        module = jaxlib_tools.parse(text)
        done = f"parsed in {time.perf_counter() - start:.2f} s"
        if and_compile:
            replicas, partitions = jaxlib_tools.devices_of(module)
            start = time.perf_counter()
            jaxlib_tools.compile_for_cpu(module, jaxlib_tools.uses_shardy(text))
            done += (f", compiled for {replicas} x {partitions} (replicas x partitions)"
                     f" in {time.perf_counter() - start:.2f} s")
    return done


def check_apart(path: pathlib.Path, and_compile: bool) -> bool:
    """Checks in a process of its own, since XLA aborts the process on some inputs."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            print(f"ok      {path}: {check(path, and_compile)}", flush=True)
            os._exit(0)
        except Exception as error:  # whatever jaxlib raises is the finding
            print(f"FAILED  {path}: {' | '.join(str(error).split(chr(10)))[:2000]}", flush=True)
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        print(f"FAILED  {path}: the process was ended by signal {-status}")
    return status == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--compile", action="store_true", help="compile for XLA's CPU client too")
    args = parser.parse_args()
    failed = sum(not check_apart(path, args.compile) for path in args.files)
    print(f"{jaxlib_tools.VERSION}: {len(args.files) - failed} of {len(args.files)} ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
