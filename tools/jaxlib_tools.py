"""What the tools that use jaxlib share: its MLIR with every dialect, and its CPU client."""

import os
import re

# No log of devices and passes; must be set before jaxlib is loaded.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jaxlib
import numpy as np
from jaxlib import xla_client
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

VERSION = f"jaxlib {jaxlib.__version__}"


def context() -> ir.Context:
    """A context that knows the func, stablehlo, chlo, mhlo and sdy dialects, and no others."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    result = ir.Context()
    result.append_dialect_registry(registry)
    result.load_all_available_dialects()
    stablehlo.register_dialect(result)
    sdy.register_dialect(result)
    chlo.register_dialect(result)
    mhlo.register_mhlo_dialect(result)
    return result


def parse(text: str) -> ir.Module:
    """Parses and verifies (in the current context)."""
    module = ir.Module.parse(text)
    module.operation.verify()
    return module


def devices_of(module: ir.Module) -> tuple[int, int]:
    """The numbers of replicas and of partitions that a module asks for."""
    attributes = module.operation.attributes

    def count(name: str) -> int:
        return ir.IntegerAttr(attributes[name]).value if name in attributes else 1

    return count("mhlo.num_replicas"), count("mhlo.num_partitions")


def uses_shardy(text: str) -> bool:
    return re.search(r"\bsdy\.", text) is not None


def compile_for_cpu(module: ir.Module, shardy: bool):
    """Compiles for as many CPU devices as the module asks for; returns the loaded executable.

    Several partitions turn the SPMD partitioner on (it leaves what is marked `{manual}` alone).
    """
    replicas, partitions = devices_of(module)
    client = xla_client.make_cpu_client(num_devices=replicas * partitions)
    options = xla_client.CompileOptions()
    options.num_replicas = replicas
    options.num_partitions = partitions
    build = options.executable_build_options
    build.num_replicas = replicas
    build.num_partitions = partitions
    build.use_spmd_partitioning = partitions > 1
    build.use_shardy_partitioner = shardy
    build.device_assignment = xla_client.DeviceAssignment.create(
        np.arange(replicas * partitions).reshape(replicas, partitions))
    return client.compile_and_load(module, xla_client.DeviceList(tuple(client.devices())), options)


def in_child(function, *arguments) -> tuple[bool, str]:
    """Whether a function ends without an error, and what it returns or what the error says.

    It runs in a process of its own, since XLA aborts the process on some inputs.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            said = f"0{function(*arguments) or ''}"
        except Exception as error:  # whatever is raised is the finding
            said = f"1{error}"
        with os.fdopen(writer, "w") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0 or not said:
        return False, f"the process ended with status {status}: {said[1:]}"
    return said.startswith("0"), said[1:]
