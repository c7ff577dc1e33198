"""A logistic regression by gradient descent, parameters donated."""

import functools

import jax
import jax.numpy as jnp


def loss(params, x, y):
    logits = x @ params["w"] + params["b"]
    return jnp.mean(jnp.logaddexp(0.0, logits) - y * logits)


@functools.partial(jax.jit, donate_argnums=0)
def step(params, x, y):
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, gradient)
    return params, value


def main():
    kx, kw = jax.random.split(jax.random.PRNGKey(0))
    x = jax.random.normal(kx, (512, 16))
    y = (x @ jax.random.normal(kw, (16,)) > 0).astype(jnp.float32)
    params = {"w": jnp.zeros(16), "b": jnp.zeros(())}
    for i in range(100):
        params, value = step(params, x, y)
        if i % 20 == 19:
            print(f"step {i + 1}: loss {float(value):.4f}", flush=True)
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
