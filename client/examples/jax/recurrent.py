"""A gated recurrent network over sequences: a scan under vmap, and its gradient."""

import functools

import jax
import jax.numpy as jnp

WIDTH, LENGTH = 24, 15


def turn(params, state, x):
    """One step of a GRU; the state once more, as scan wants."""
    joined = jnp.concatenate([state, x])
    update, reset = jnp.split(jax.nn.sigmoid(params["gates"] @ joined), 2)
    offered = jnp.tanh(params["offer"] @ jnp.concatenate([reset * state, x]))
    state = (1 - update) * state + update * offered
    return state, state


def predicted(params, xs):
    """The sum so far at each step, as the network has it."""
    _, states = jax.lax.scan(
        functools.partial(turn, params), jnp.zeros(WIDTH), xs)
    return states @ params["out"]


def loss(params, batch):
    wanted = jnp.cumsum(batch[..., 0], axis=1)
    got = jax.vmap(lambda xs: predicted(params, xs))(batch)
    return jnp.mean(jnp.square(got - wanted))


@jax.jit
def step(params, batch):
    value, gradient = jax.value_and_grad(loss)(params, batch)
    size = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
    rate = 0.1 / jnp.maximum(1.0, size)
    return jax.tree.map(lambda p, g: p - rate * g, params, gradient), value


def main():
    keys = jax.random.split(jax.random.key(2), 4)
    params = {"gates": 0.2 * jax.random.normal(keys[0], (2 * WIDTH, WIDTH + 1)),
              "offer": 0.2 * jax.random.normal(keys[1], (WIDTH, WIDTH + 1)),
              "out": 0.2 * jax.random.normal(keys[2], (WIDTH,))}
    batch = jax.random.uniform(keys[3], (16, LENGTH, 1), minval=-1.0)
    for i in range(100):
        params, value = step(params, batch)
        if i % 25 == 24:
            print(f"step {i + 1}: loss {float(value):.4f}", flush=True)
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
