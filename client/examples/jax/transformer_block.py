"""One block of a transformer with its gradient, under vmap and scan."""

import jax
import jax.numpy as jnp

WIDTH, HEADS, LENGTH = 32, 4, 12


def norm(x):
    return jax.nn.standardize(x, axis=-1)


def attention(p, x):
    q, k, v = jnp.split(x @ p["qkv"], 3, axis=-1)
    q, k, v = (a.reshape(LENGTH, HEADS, -1).swapaxes(0, 1) for a in (q, k, v))
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / jnp.sqrt(WIDTH / HEADS)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
    return (weights @ v).swapaxes(0, 1).reshape(LENGTH, WIDTH) @ p["out"]


def block(p, x):
    x = x + attention(p, norm(x))
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def loss(p, xs):
    return jnp.mean(jnp.square(jax.vmap(lambda x: block(p, x))(xs) - 1.0))


def main():
    keys = jax.random.split(jax.random.PRNGKey(1), 5)
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH),
              "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    params = {name: 0.1 * jax.random.normal(key, shape)
              for key, (name, shape) in zip(keys, shapes.items())}
    xs = jax.random.normal(keys[4], (8, LENGTH, WIDTH))

    @jax.jit
    def epoch(params):
        def step(p, _):
            value, gradient = jax.value_and_grad(loss)(p, xs)
            return jax.tree_util.tree_map(
                lambda a, g: a - 0.1 * g, p, gradient), value
        return jax.lax.scan(step, params, None, length=10)

    for i in range(5):
        params, values = epoch(params)
        print(f"epoch {i + 1}: loss {float(values[-1]):.4f}", flush=True)
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
