"""An ODE by Runge-Kutta in a scan, in f64, and a Monte Carlo estimate."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def slope(state):
    angle, speed = state
    return jnp.stack([speed, -jnp.sin(angle)])


@jax.jit
def swing(state):
    def step(s, _):
        h = 0.01
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        d = slope(s + h * c)
        return s + h / 6 * (a + 2 * b + 2 * c + d), s[0]
    return jax.lax.scan(step, state, None, length=200)


def main():
    state = jnp.array([1.0, 0.0])
    for i in range(5):
        state, angles = swing(state)
        print(f"after {2 * (i + 1)} s: angle {float(angles[-1]):.9f}",
              flush=True)
    energy = state[1] ** 2 / 2 - jnp.cos(state[0])
    print(f"energy {float(energy):.9f}")
    roots = jnp.sort_complex(jnp.exp(2j * jnp.pi * jnp.arange(5) / 5))
    print(f"sum of roots {abs(complex(jnp.sum(roots))):.6f}")
    points = jax.random.uniform(jax.random.key(3), (100_000, 2))
    inside = jnp.sum(jnp.sum(points**2, axis=1) < 1)
    print(f"pi is about {4 * int(inside) / 100_000}")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
