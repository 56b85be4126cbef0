"""A Megatron MLP, data x tensor parallel: the smallest train step."""

import jax
import jax.numpy as jnp

from gen.optimizer import sgd
from gen.program import Layout, Options, Program

LAYER = {"w_in": ("embed", "hidden"), "w_out": ("hidden", "embed")}


def mlp(options: Options) -> Program:
    """Mean squared error of residual layers; the hidden dimension is split over `model`."""
    mesh = options.mesh("data", "model")
    embed = 4096 if options.real else 32
    layout = Layout(
        mesh,
        {"batch": (512 if options.real else 4) * mesh.shape["data"], "embed": embed,
         "hidden": 4 * embed},
        {"batch": "data", "hidden": "model"},
    )
    dtype = options.compute_dtype

    def loss(params, x, y):
        x = x.astype(dtype)
        for layer in params["layers"]:
            hidden = jax.nn.relu(x @ layer["w_in"].astype(dtype))
            x = x + hidden @ layer["w_out"].astype(dtype)
        return jnp.mean((x.astype(jnp.float32) - y) ** 2)

    def train_step(params, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        return sgd(params, gradients), value

    layer = {name: layout.array(*dimensions) for name, dimensions in LAYER.items()}
    params = {"layers": [layer] * (options.layers or 2)}
    x = layout.array("batch", "embed")
    return Program(train_step, (params, x, x), (params, layout.array()), donated=(0,))


PROGRAMS = {"mlp": mlp}
