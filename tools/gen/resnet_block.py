"""A residual block of a convolutional network, data parallel."""

import jax
import jax.numpy as jnp
from jax import lax

from gen.optimizer import sgd
from gen.program import Layout, Options, Program

CONVOLUTIONS = {
    "conv1": ("window", "window", "channels_in", "channels_out"),
    "conv2": ("window", "window", "channels_out", "channels_out"),
    "shortcut": ("point", "point", "channels_in", "channels_out"),
}


def convolution(x: jax.Array, weight: jax.Array, stride: int) -> jax.Array:
    return lax.conv_general_dilated(x, weight.astype(x.dtype), (stride, stride), "SAME",
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x: jax.Array, params: dict, running: dict) -> tuple[jax.Array, dict]:
    """Normalises by the statistics of the whole batch, on every device; returns the new running
    statistics too."""
    x32 = x.astype(jnp.float32)
    mean = jnp.mean(x32, axis=(0, 1, 2))
    variance = jnp.mean(x32 * x32, axis=(0, 1, 2)) - mean * mean
    y = (x32 - mean) * lax.rsqrt(variance + 1e-5) * params["scale"] + params["bias"]
    running = {"mean": 0.9 * running["mean"] + 0.1 * mean,
               "variance": 0.9 * running["variance"] + 0.1 * variance}
    return y.astype(x.dtype), running


def resnet_block(options: Options) -> Program:
    """The first block of a stage (stride 2, shortcut by a 1x1 convolution), pooled into classes."""
    mesh = options.mesh("data")
    if options.real:
        sizes = {"height": 56, "width": 56, "channels_in": 256, "channels_out": 512,
                 "classes": 1000}
    else:
        sizes = {"height": 16, "width": 16, "channels_in": 8, "channels_out": 16, "classes": 10}
    sizes |= {"batch": (32 if options.real else 4) * options.devices, "window": 3, "point": 1}
    layout = Layout(mesh, sizes, {"batch": "data"})

    def forward(params, running, images):
        new = {}

        def conv_norm(name, x, stride):
            x = convolution(x, params[name]["weight"], stride)
            x, new[name] = batch_norm(x, params[name], running[name])
            return x

        images = images.astype(options.compute_dtype)
        x = jax.nn.relu(conv_norm("conv1", images, 2))
        x = conv_norm("conv2", x, 1) + conv_norm("shortcut", images, 2)
        pooled = jnp.mean(jax.nn.relu(x).astype(jnp.float32), axis=(1, 2))
        return pooled @ params["w_logits"], new

    def loss(params, running, images, labels):
        logits, running = forward(params, running, images)
        picked = jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, logits.shape[-1]), -1)
        return -jnp.mean(picked), running

    def train_step(params, running, images, labels):
        (value, running), gradients = jax.value_and_grad(loss, has_aux=True)(
            params, running, images, labels)
        return sgd(params, gradients, rate=0.1), running, value

    channel = layout.array("channels_out")
    params = {name: {"weight": layout.array(*dimensions), "scale": channel, "bias": channel}
              for name, dimensions in CONVOLUTIONS.items()}
    params["w_logits"] = layout.array("channels_out", "classes")
    running = {name: {"mean": channel, "variance": channel} for name in CONVOLUTIONS}
    images = layout.array("batch", "height", "width", "channels_in")
    labels = layout.array("batch", dtype=jnp.int32)
    return Program(train_step, (params, running, images, labels),
                   (params, running, layout.array()), donated=(0, 1))


PROGRAMS = {"resnet_block": resnet_block}
