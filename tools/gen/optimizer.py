"""Optimizers over pytrees of parameters."""

from typing import Any

import jax
import jax.numpy as jnp

from gen.program import Layout


def sgd(parameters: Any, gradients: Any, rate: float = 0.01) -> Any:
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def adam_state(layout: Layout, parameters: Any) -> dict:
    """The abstract state for `adam`: moments are laid out like their parameters."""
    return {"count": layout.array(dtype=jnp.int32), "mean": parameters, "variance": parameters}


def adam(parameters: Any, gradients: Any, state: dict, rate: float = 1e-3, decay: float = 0.9,
         decay2: float = 0.999, epsilon: float = 1e-8) -> tuple[Any, dict]:
    """One step of Adam; returns the new parameters and the new state."""
    count = state["count"] + 1
    mean = jax.tree.map(lambda m, g: decay * m + (1 - decay) * g, state["mean"], gradients)
    variance = jax.tree.map(lambda v, g: decay2 * v + (1 - decay2) * g * g,
                            state["variance"], gradients)
    steps = count.astype(jnp.float32)
    mean_scale = 1 / (1 - decay**steps)
    variance_scale = 1 / (1 - decay2**steps)

    def update(p, m, v):
        return p - rate * (m * mean_scale) / (jnp.sqrt(v * variance_scale) + epsilon)

    new = jax.tree.map(update, parameters, mean, variance)
    return new, {"count": count, "mean": mean, "variance": variance}
