"""Ring attention, written by hand with `shard_map`: the only program with collectives of its own."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from gen.program import Layout, Options, Program, make_mesh

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map


def ring_attention(options: Options) -> Program:
    """Causal attention over a sequence that is split over `ring`. Keys and values travel once
    around the ring; each device adds one block at a time to its softmax."""
    data, ring = {8: (2, 4), 64: (8, 8)}[options.devices]
    mesh = make_mesh(data=data, ring=ring)
    sizes = {"batch": 2 * data, "time": (2048 if options.real else 16) * ring,
             "heads": 32 if options.real else 4, "head": 128 if options.real else 16}
    layout = Layout(mesh, sizes, {"batch": "data", "time": "ring"})
    spec = layout.sharding("batch", "time", "heads", "head").spec
    neighbours = [(i, (i + 1) % ring) for i in range(ring)]

    @functools.partial(shard_map, mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec)
    def attend(q, k, v):
        here = lax.axis_index("ring")
        steps = q.shape[1]
        scaled = q.astype(jnp.float32) * q.shape[-1] ** -0.5

        def add_block(state, k, v, origin):
            """Adds the block of keys and values that device `origin` holds."""
            peak, total, out = state
            scores = jnp.einsum("bthk,bshk->bhts", scaled, k.astype(jnp.float32))
            row = here * steps + lax.broadcasted_iota(jnp.int32, (steps, steps), 0)
            column = origin * steps + lax.broadcasted_iota(jnp.int32, (steps, steps), 1)
            scores = jnp.where(row >= column, scores, -1e9)
            new_peak = jnp.maximum(peak, jnp.max(scores, axis=-1))
            weights = jnp.exp(scores - new_peak[..., None])
            shrink = jnp.exp(peak - new_peak)
            total = total * shrink + jnp.sum(weights, axis=-1)
            block = jnp.einsum("bhts,bshk->bhtk", weights, v.astype(jnp.float32))
            return new_peak, total, out * shrink[..., None] + block

        # The device's own block first: no row of it is all masked.
        rows = jnp.moveaxis(scaled[..., 0], 1, 2)
        state = (jnp.full_like(rows, -1e9), jnp.zeros_like(rows),
                 jnp.zeros_like(jnp.moveaxis(scaled, 1, 2)))
        state = add_block(state, k, v, here)

        def step(i, carry):
            k, v, state = carry
            k, v = (lax.ppermute(block, "ring", neighbours) for block in (k, v))
            return k, v, add_block(state, k, v, (here - i) % ring)

        _, _, (_, total, out) = lax.fori_loop(1, ring, step, (k, v, state))
        return jnp.moveaxis(out / total[..., None], 2, 1).astype(q.dtype)

    array = layout.array("batch", "time", "heads", "head", dtype=options.compute_dtype)
    return Program(attend, (array, array, array), array)


PROGRAMS = {"ring_attention": ring_attention}
