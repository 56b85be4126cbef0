"""What a program is made of: options, named dimensions laid out on a mesh, the function to lower."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec


@dataclass(frozen=True)
class Options:
    """The variant that the command line asks for."""

    devices: int = 8
    layers: int | None = None
    real: bool = False

    @property
    def suffix(self) -> str:
        """The end of the file's name: empty for the committed variant."""
        parts = [
            (self.real, "-real"),
            (self.layers is not None, f"-{self.layers}layers"),
            (self.devices != 8, f"-{self.devices}devices"),
        ]
        return "".join(name for chosen, name in parts if chosen)

    @property
    def flags(self) -> str:
        """The command line's options that lead to this variant."""
        parts = [
            (self.real, " --real"),
            (self.layers is not None, f" --layers {self.layers}"),
            (self.devices != 8, f" --devices {self.devices}"),
        ]
        return "".join(flag for chosen, flag in parts if chosen)

    @property
    def compute_dtype(self) -> jnp.dtype:
        """The type of activations. Parameters are f32 always."""
        return jnp.bfloat16 if self.real else jnp.float32

    def mesh(self, *axes: str) -> Mesh:
        """A mesh with one or two axes over all devices: 8 or 64, 4x2 or 8x8."""
        shape = {1: (self.devices,), 2: {8: (4, 2), 64: (8, 8)}.get(self.devices)}[len(axes)]
        return make_mesh(**dict(zip(axes, shape)))


def make_mesh(**axes: int) -> Mesh:
    """A mesh of forced CPU devices whose axes leave the sharding of values to the compiler."""
    devices = np.array(jax.devices()).reshape(tuple(axes.values()))
    return Mesh(devices, tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


@dataclass(frozen=True)
class Layout:
    """Named dimensions: their sizes, and the mesh axis that each is split over (if any)."""

    mesh: Mesh
    sizes: dict[str, int]
    rules: dict[str, str] = field(default_factory=dict)

    def sharding(self, *dimensions: str) -> NamedSharding:
        return NamedSharding(self.mesh, PartitionSpec(*map(self.rules.get, dimensions)))

    def array(self, *dimensions: str, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
        """An argument with these dimensions: shape, type and sharding, no data."""
        shape = tuple(self.sizes[dimension] for dimension in dimensions)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=self.sharding(*dimensions))

    def constrain(self, value: jax.Array, *dimensions: str) -> jax.Array:
        """Fixes the sharding of a value inside a program."""
        return jax.lax.with_sharding_constraint(value, self.sharding(*dimensions))


@dataclass(frozen=True)
class Program:
    """A function to lower, with its abstract arguments, which carry their shardings."""

    function: Callable
    arguments: tuple
    """A pytree of `Layout.array` for each parameter of the function."""
    results: Any
    """The same for what it returns; `None` leaves a sharding to the compiler."""
    donated: tuple[int, ...] = ()
    """Positions of the parameters whose memory the results may take."""


def shardings(tree: Any) -> Any:
    """The shardings of a pytree of `Layout.array`."""
    return jax.tree.map(lambda array: array.sharding, tree)
