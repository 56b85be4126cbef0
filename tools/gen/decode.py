"""One step of decoding with a key-value cache."""

import jax
import jax.numpy as jnp
from jax import lax

from gen.program import Layout, Options, Program

LAYER = {
    "norm1_scale": ("embed",),
    "wq": ("embed", "heads", "head"),
    "wk": ("embed", "heads", "head"),
    "wv": ("embed", "heads", "head"),
    "wo": ("heads", "head", "embed"),
    "norm2_scale": ("embed",),
    "w_gate": ("embed", "hidden"),
    "w_up": ("embed", "hidden"),
    "w_down": ("hidden", "embed"),
}
OUTSIDE_LAYERS = {
    "token_table": ("vocabulary", "embed"),
    "norm_scale": ("embed",),
    "w_logits": ("embed", "vocabulary"),
}
CACHE = ("batch", "time", "heads", "head")


def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Root mean square normalisation."""
    x32 = x.astype(jnp.float32)
    scaled = x32 * lax.rsqrt(jnp.mean(x32 * x32, axis=-1, keepdims=True) + 1e-5)
    return (scaled * scale).astype(x.dtype)


def attention(params: dict, cache: dict, x: jax.Array, position: jax.Array):
    """Writes this step's key and value at `position` and attends to all up to it."""
    dtype = x.dtype
    q, k, v = (jnp.einsum("bd,dhk->bhk", x, params[name].astype(dtype))
               for name in ("wq", "wk", "wv"))
    keys = lax.dynamic_update_slice_in_dim(cache["k"], k[:, None], position, axis=1)
    values = lax.dynamic_update_slice_in_dim(cache["v"], v[:, None], position, axis=1)

    scores = jnp.einsum("bhk,bthk->bht", q, keys).astype(jnp.float32) * q.shape[-1] ** -0.5
    seen = jnp.arange(keys.shape[1]) <= position
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1).astype(dtype)
    heads = jnp.einsum("bht,bthk->bhk", weights, values)
    out = jnp.einsum("bhk,hkd->bd", heads, params["wo"].astype(dtype))
    return out, {"k": keys, "v": values}


def feed_forward(params: dict, x: jax.Array) -> jax.Array:
    gate = jax.nn.silu(x @ params["w_gate"].astype(x.dtype))
    return (gate * (x @ params["w_up"].astype(x.dtype))) @ params["w_down"].astype(x.dtype)


def decode(options: Options) -> Program:
    """Heads are split over `model`, sequences over `data`; the next token is the arg-max over the
    vocabulary, which is split too."""
    mesh = options.mesh("data", "model")
    if options.real:
        sizes = {"vocabulary": 32768, "time": 2048, "embed": 4096, "heads": 32}
    else:
        sizes = {"vocabulary": 512, "time": 32, "embed": 64, "heads": 8}
    sizes |= {"batch": 4 * mesh.shape["data"], "head": sizes["embed"] // sizes["heads"],
              "hidden": 4 * sizes["embed"]}
    layout = Layout(mesh, sizes, {"batch": "data", "heads": "model", "hidden": "model",
                                  "vocabulary": "model"})
    dtype = options.compute_dtype

    def decode_step(params, cache, tokens, position):
        x = params["token_table"][tokens].astype(dtype)
        new_cache = []
        for layer, layer_cache in zip(params["layers"], cache):
            added, layer_cache = attention(layer, layer_cache, norm(x, layer["norm1_scale"]),
                                           position)
            new_cache.append(layer_cache)
            x = x + added
            x = x + feed_forward(layer, norm(x, layer["norm2_scale"]))
        logits = norm(x, params["norm_scale"]) @ params["w_logits"].astype(dtype)
        return jnp.argmax(logits, axis=-1), logits, new_cache

    layers = options.layers or 4
    params = {name: layout.array(*dimensions) for name, dimensions in OUTSIDE_LAYERS.items()}
    params["layers"] = [{name: layout.array(*dims) for name, dims in LAYER.items()}] * layers
    cache = [{"k": layout.array(*CACHE, dtype=dtype), "v": layout.array(*CACHE, dtype=dtype)}
             ] * layers
    tokens = layout.array("batch", dtype=jnp.int32)
    position = layout.array(dtype=jnp.int32)
    logits = layout.array("batch", "vocabulary")
    return Program(decode_step, (params, cache, tokens, position), (tokens, logits, cache),
                   donated=(1,))


PROGRAMS = {"decode": decode}
