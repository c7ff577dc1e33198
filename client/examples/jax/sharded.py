"""A network whose batch is cut over all devices, by annotations alone.

    HAWSER_SERVERS=gpu-1:7070,gpu-2:7070 JAX_PLATFORMS=hawser,cpu python sharded.py

Nothing of the functions changes with the number of devices, of which there may be
one.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, PartitionSpec("data"))
everywhere = NamedSharding(mesh, PartitionSpec())


def predicted(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


def loss(params, x, y):
    return jnp.mean(jnp.square(predicted(params, x) - y))


@functools.partial(jax.jit, donate_argnums=0, out_shardings=everywhere)
def step(params, x, y):
    """Each device has its rows of the batch; gradients are summed over all."""
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    return jax.tree_util.tree_map(
        lambda p, g: p - 0.1 * g, params, gradient), value


@functools.partial(jax.jit, out_shardings=rows)
def batch(key):
    """Is made where its rows lie."""
    return jax.random.normal(key, (240, 8))


def main():
    kx, *keys = jax.random.split(jax.random.key(4), 4)
    sizes = (8, 32, 32, 1)
    params = jax.device_put(
        [(jax.random.normal(key, (i, o)) / i ** 0.5, jnp.zeros(o))
         for key, i, o in zip(keys, sizes, sizes[1:])], everywhere)
    for i in range(100):
        x = batch(jax.random.fold_in(kx, i % 5))
        y = jnp.sin(x[:, 0]) + x[:, 1] * x[:, 2]
        params, value = step(params, x, y)
        if i % 20 == 19:
            print(f"step {i + 1}: loss {float(value):.4f}", flush=True)
    held = sum(len(shard.data) for shard in x.addressable_shards)
    print(f"{held} rows on all devices together")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
