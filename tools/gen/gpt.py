"""GPT train steps with Adam, under several sharding strategies.

A strategy is which mesh axis each named dimension is split over (`Layout.rules`), and for some of
them what is constrained inside the program. Everything else is the same model.
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jax import lax

from gen.optimizer import adam, adam_state
from gen.program import Layout, Options, Program

LAYER = {
    "norm1_scale": ("embed",),
    "norm1_bias": ("embed",),
    "wq": ("embed", "heads", "head"),
    "wk": ("embed", "heads", "head"),
    "wv": ("embed", "heads", "head"),
    "wo": ("heads", "head", "embed"),
    "norm2_scale": ("embed",),
    "norm2_bias": ("embed",),
    "w_in": ("embed", "hidden"),
    "b_in": ("hidden",),
    "w_out": ("hidden", "embed"),
    "b_out": ("embed",),
}
OUTSIDE_LAYERS = {
    "token_table": ("vocabulary", "embed"),
    "position_table": ("sequence", "embed"),
    "norm_scale": ("embed",),
    "norm_bias": ("embed",),
    "w_logits": ("embed", "vocabulary"),
}

# Mesh axis by dimension. Megatron splits heads, the hidden layer and the vocabulary.
MEGATRON = {"batch": "data", "heads": "model", "hidden": "model", "vocabulary": "model"}
FSDP = {"batch": "data", "embed": "data"}


@dataclass(frozen=True)
class Model:
    """The model's code. Its methods are traced; `layout` says how arguments are split."""

    layout: Layout
    layers: int
    dtype: jnp.dtype
    scan: bool = False
    """Layers are stacked and run by `lax.scan`, recomputed in the backward pass."""
    gathered: Layout | None = None
    """FSDP: how weights are laid out where they are used; gathered again in the backward pass."""
    sequence_parallel: bool = False
    """Between the layers the sequence is split over the axis that splits weights inside them."""

    # --- parameters ---

    def parameters(self) -> dict:
        stack = ("layers",) if self.scan else ()
        layer = {name: self.layout.array(*stack, *dims) for name, dims in LAYER.items()}
        outside = {name: self.layout.array(*dims) for name, dims in OUTSIDE_LAYERS.items()}
        return outside | {"layers": layer if self.scan else [layer] * self.layers}

    def use(self, params: dict, name: str) -> jax.Array:
        """A weight as it enters the computation."""
        weight = params[name].astype(self.dtype)
        if self.gathered:
            dimensions = LAYER.get(name) or OUTSIDE_LAYERS[name]
            weight = self.gathered.constrain(weight, *dimensions)
        return weight

    # --- forward ---

    def split_sequence(self, x: jax.Array) -> jax.Array:
        if self.sequence_parallel:
            x = self.layout.constrain(x, "batch", "split_sequence", "replicated")
        return x

    def whole_sequence(self, x: jax.Array) -> jax.Array:
        if self.sequence_parallel:
            x = self.layout.constrain(x, "batch", "sequence", "replicated")
        return x

    def norm(self, params: dict, name: str, x: jax.Array) -> jax.Array:
        x32 = x.astype(jnp.float32)
        centred = x32 - jnp.mean(x32, axis=-1, keepdims=True)
        variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
        normal = (centred * lax.rsqrt(variance + 1e-5)).astype(self.dtype)
        return normal * self.use(params, f"{name}_scale") + self.use(params, f"{name}_bias")

    def attention(self, params: dict, x: jax.Array) -> jax.Array:
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, self.use(params, name))
                   for name in ("wq", "wk", "wv"))
        scores = jnp.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
        steps = (x.shape[1], x.shape[1])
        causal = lax.broadcasted_iota(jnp.int32, steps, 0) >= lax.broadcasted_iota(
            jnp.int32, steps, 1)
        scores = jnp.where(causal, scores.astype(jnp.float32), -1e9)
        weights = jax.nn.softmax(scores, axis=-1).astype(self.dtype)
        heads = jnp.einsum("bhts,bshk->bthk", weights, v)
        return jnp.einsum("bthk,hkd->btd", heads, self.use(params, "wo"))

    def feed_forward(self, params: dict, x: jax.Array) -> jax.Array:
        hidden = jax.nn.gelu(x @ self.use(params, "w_in") + self.use(params, "b_in"))
        return hidden @ self.use(params, "w_out") + self.use(params, "b_out")

    def layer(self, params: dict, x: jax.Array) -> jax.Array:
        h = self.whole_sequence(self.norm(params, "norm1", x))
        x = x + self.split_sequence(self.attention(params, h))
        h = self.whole_sequence(self.norm(params, "norm2", x))
        return x + self.split_sequence(self.feed_forward(params, h))

    def run_layers(self, params: dict, x: jax.Array) -> jax.Array:
        if self.scan:
            layer = jax.checkpoint(self.layer)
            return lax.scan(lambda x, p: (layer(p, x), None), x, params["layers"])[0]
        layer = self.layer
        if self.gathered:
            # Gathered weights aren't kept for the backward pass; everything else is.
            layer = jax.checkpoint(
                layer, policy=lambda primitive, *_, **__: primitive.name != "sharding_constraint")
        for layer_params in params["layers"]:
            x = layer(layer_params, x)
        return x

    def logits(self, params: dict, tokens: jax.Array) -> jax.Array:
        x = self.use(params, "token_table")[tokens] + self.use(params, "position_table")
        x = self.run_layers(params, self.split_sequence(x))
        x = self.whole_sequence(self.norm(params, "norm", x))
        return (x @ self.use(params, "w_logits")).astype(jnp.float32)

    def loss(self, params: dict, tokens: jax.Array, targets: jax.Array) -> jax.Array:
        """Mean cross-entropy. The target's logit is picked by a comparison with an iota, which
        needs no communication where the vocabulary is split."""
        logits = self.logits(params, tokens)
        picked = jnp.sum(logits * jax.nn.one_hot(targets, logits.shape[-1]), axis=-1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)

    # --- the program ---

    def program(self) -> Program:
        def train_step(params, adam_moments, tokens, targets):
            loss, gradients = jax.value_and_grad(self.loss)(params, tokens, targets)
            params, adam_moments = adam(params, gradients, adam_moments)
            return params, adam_moments, loss

        params = self.parameters()
        moments = adam_state(self.layout, params)
        tokens = self.layout.array("batch", "sequence", dtype=jnp.int32)
        return Program(train_step, (params, moments, tokens, tokens),
                       (params, moments, self.layout.array()), donated=(0, 1))


def model(options: Options, rules: dict[str, str], **strategy) -> Model:
    """The model at the size that the options ask for, on a mesh of the axes that `rules` name."""
    mesh = options.mesh(*sorted(set(rules.values())))
    layers = options.layers or 4
    if options.real:
        sizes = {"vocabulary": 32768, "sequence": 2048, "embed": 4096, "heads": 32}
    else:
        embed = max(64, 2 * options.devices)
        sizes = {"vocabulary": 512, "sequence": 32, "embed": embed, "heads": 8}
    sizes |= {
        "layers": layers,
        "batch": 4 * mesh.shape["data"],
        "head": sizes["embed"] // sizes["heads"],
        "hidden": 4 * sizes["embed"],
    }
    return Model(Layout(mesh, sizes, rules), layers, options.compute_dtype, **strategy)


def fully_sharded(options: Options, rules: dict[str, str]) -> Program:
    """Weights are split over `data` where they are kept and whole over it where they are used."""
    split = model(options, rules)
    used = {dimension: axis for dimension, axis in rules.items() if axis != "data"}
    return replace(split, gathered=replace(split.layout, rules=used)).program()


def gpt(options: Options) -> Program:
    """Megatron tensor parallelism x data parallelism; annotations on arguments and results only."""
    return model(options, MEGATRON).program()


def gpt_scan(options: Options) -> Program:
    """The same, with the layers in a loop and recomputed in the backward pass."""
    return model(options, MEGATRON, scan=True).program()


def gpt_fsdp(options: Options) -> Program:
    """Fully sharded data parallelism: parameters and moments are split over `data`."""
    return fully_sharded(options, FSDP)


def gpt_fsdp_tp(options: Options) -> Program:
    """Fully sharded data parallelism x Megatron tensor parallelism."""
    return fully_sharded(options, FSDP | MEGATRON)


def gpt_sp(options: Options) -> Program:
    """Megatron with sequence parallelism: gather and scatter of the sequence around each layer."""
    return model(options, MEGATRON | {"split_sequence": "model"}, sequence_parallel=True).program()


PROGRAMS = {
    "gpt": gpt,
    "gpt_scan": gpt_scan,
    "gpt_fsdp": gpt_fsdp,
    "gpt_fsdp_tp": gpt_fsdp_tp,
    "gpt_sp": gpt_sp,
}
