"""Samples of random distributions: means, deviations, and a walk of Metropolis."""

import jax
import jax.numpy as jnp

COUNT = 20_000
DRAWN = {
    "normal": lambda k: jax.random.normal(k, (COUNT,)),
    "truncated": lambda k: jax.random.truncated_normal(k, -1, 2, (COUNT,)),
    "exponential": lambda k: jax.random.exponential(k, (COUNT,)),
    "gumbel": lambda k: jax.random.gumbel(k, (COUNT,)),
    "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (COUNT,)),
    "gamma": lambda k: jax.random.gamma(k, 2.5, (COUNT // 10,)),
    "poisson": lambda k: jax.random.poisson(k, 4.0, (COUNT // 10,)),
    "categorical": lambda k: jax.random.categorical(
        k, jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(COUNT,)),
    "integers": lambda k: jax.random.randint(k, (COUNT,), -50, 51),
}


@jax.jit
def walk(key):
    """Metropolis on a density with two hills, 64 chains at once."""
    def log_density(x):
        return jnp.logaddexp(-2 * (x - 2) ** 2, -0.5 * (x + 1) ** 2)

    def move(x, key):
        offered, accepted = jax.random.split(key)
        y = x + jax.random.normal(offered, x.shape)
        level = jnp.log(jax.random.uniform(accepted, x.shape))
        x = jnp.where(level < log_density(y) - log_density(x), y, x)
        return x, x

    return jax.lax.scan(move, jnp.zeros(64), jax.random.split(key, 300))[1]


def main():
    for number, (name, draw) in enumerate(DRAWN.items()):
        key = jax.random.fold_in(jax.random.key(7), number)
        values = jax.jit(draw)(key).astype(jnp.float32)
        print(f"{name}: mean {float(jnp.mean(values)):.4f}, "
              f"deviation {float(jnp.std(values)):.4f}", flush=True)
    order = jax.random.permutation(jax.random.key(1), 10)
    print("permutation", *order.tolist())
    samples = walk(jax.random.key(2))[100:]
    print(f"walk: mean {float(jnp.mean(samples)):.4f}, "
          f"above 0 {float(jnp.mean(samples > 0)):.4f}")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
