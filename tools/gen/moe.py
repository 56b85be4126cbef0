"""A mixture-of-experts layer as in GShard: top-2 gating and dispatch by einsum."""

import jax
import jax.numpy as jnp

from gen.optimizer import sgd
from gen.program import Layout, Options, Program


def top2_gating(gates: jax.Array, capacity: int) -> tuple[jax.Array, jax.Array]:
    """For each token: its weight at each place of each expert's buffer, [group, token, expert,
    place] (zero where it doesn't go), and the loss that balances the experts' loads.

    A token that finds its expert's buffer full is dropped there.
    """
    experts = gates.shape[-1]
    first = jax.nn.one_hot(jnp.argmax(gates, axis=-1), experts)
    others = gates * (1 - first)
    second = jax.nn.one_hot(jnp.argmax(others, axis=-1), experts)
    balance = jnp.mean(jnp.mean(gates, axis=1) * jnp.mean(first, axis=1)) * experts**2

    first_gate = jnp.sum(gates * first, axis=-1)
    second_gate = jnp.sum(gates * second, axis=-1)
    total = first_gate + second_gate + 1e-9

    # The place of a token is how many came before it; all first choices go before second ones.
    first_place = jnp.cumsum(first, axis=1) - first
    second_place = jnp.cumsum(second, axis=1) - second + jnp.sum(first, axis=1, keepdims=True)

    def combine(choice, place, gate):
        place = jnp.sum(choice * place, axis=-1).astype(jnp.int32)
        # one_hot of a place beyond the capacity is zero: the token is dropped.
        places = jax.nn.one_hot(place, capacity)
        return jnp.einsum("gs,gse,gsc->gsec", gate / total, choice, places)

    weights = combine(first, first_place, first_gate) + combine(second, second_place, second_gate)
    return weights, balance


def moe(options: Options) -> Program:
    """Tokens are split by group and weights by expert, over the same axis. As in GShard, the two
    constraints around the experts make the dispatch an all-to-all."""
    mesh = options.mesh("data")
    experts = options.devices
    tokens = 2048 if options.real else 32
    embed = 4096 if options.real else 32
    layout = Layout(
        mesh,
        {"group": options.devices, "token": tokens, "embed": embed, "hidden": 4 * embed,
         "expert": experts},
        {"group": "data", "expert": "data"},
    )
    split_by_group = Layout(mesh, layout.sizes, {"group": "data"})
    split_by_expert = Layout(mesh, layout.sizes, {"expert": "data"})
    dtype = options.compute_dtype
    capacity = max(2, 2 * tokens // experts)

    def layer(params, x):
        """Returns what the experts add to `x`, and the load balancing loss."""
        gates = jax.nn.softmax(jnp.einsum("gsd,de->gse", x, params["w_gate"]), axis=-1)
        weights, balance = top2_gating(gates, capacity)
        dispatch = (weights > 0).astype(dtype)

        sent = jnp.einsum("gsec,gsd->egcd", dispatch, x.astype(dtype))
        sent = split_by_expert.constrain(sent, "expert", "group", "capacity", "embed")
        hidden = jax.nn.relu(jnp.einsum("egcd,edf->egcf", sent, params["w_in"].astype(dtype)))
        done = jnp.einsum("egcf,efd->egcd", hidden, params["w_out"].astype(dtype))
        done = split_by_group.constrain(done, "expert", "group", "capacity", "embed")
        return jnp.einsum("gsec,egcd->gsd", weights.astype(dtype), done), balance

    def loss(params, x, y):
        added, balance = layer(params, x)
        return jnp.mean((x + added - y) ** 2) + 0.01 * balance

    def train_step(params, x, y):
        """As inside a network: the gradient of the layer's input is wanted too."""
        value, (gradients, x_gradient) = jax.value_and_grad(loss, argnums=(0, 1))(params, x, y)
        return sgd(params, gradients), x_gradient, value

    params = {
        "w_gate": Layout(mesh, layout.sizes).array("embed", "expert"),
        "w_in": layout.array("expert", "embed", "hidden"),
        "w_out": layout.array("expert", "hidden", "embed"),
    }
    x = layout.array("group", "token", "embed")
    return Program(train_step, (params, x, x), (params, x, layout.array()), donated=(0,))


PROGRAMS = {"moe": moe}
