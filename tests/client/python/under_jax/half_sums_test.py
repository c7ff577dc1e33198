"""What JAX adds up into one place in 16 bits is rounded once."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np

N = 4000
HALVES = {"bfloat16": 2.0 ** -8, "float16": 2.0 ** -11}


def scattered(update):
    """N times one added to, or taken from, the first of three zeros."""
    return lambda x: update(jnp.zeros(3, x.dtype).at[jnp.zeros(N, int)], x)[:1]


def pooled(x):
    """The gradient of windows all of which have one largest element."""
    def total(x):
        return jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (N,), (1,), ((N - 1, N - 1),)).sum()
    return jax.grad(total)(x.at[N // 2].set(2))[N // 2:N // 2 + 1]


# Of ones; what is exact, by f64.
UP = np.arange(1, N + 1, dtype=np.float64)
FUNCTIONS = {
    "cumsum": (jnp.cumsum, UP),
    "cumsum, reversed": (lambda x: jax.lax.cumsum(x, reverse=True), UP[::-1]),
    "cumsum of rows": (
        lambda x: jnp.cumsum(x.reshape(2, -1), axis=1)[1], UP[:N // 2]),
    "cumsum of columns": (
        lambda x: jnp.cumsum(x.reshape(-1, 2), axis=0)[:, 0], UP[:N // 2]),
    "nancumsum": (jnp.nancumsum, UP),
    "add.accumulate": (jnp.add.accumulate, UP),
    "cumlogsumexp": (jax.lax.cumlogsumexp, 1 + np.log(UP)),
    "cumlogsumexp, reversed": (
        lambda x: jax.lax.cumlogsumexp(x, reverse=True), 1 + np.log(UP)[::-1]),
    "cumprod": (lambda x: jnp.cumprod(x[:600] + 2.0 ** -7),
                (1 + 2.0 ** -7) ** UP[:600]),
    "the gradient of cumsum": (
        jax.grad(lambda x: jnp.cumsum(x).sum()), UP[::-1]),
    "at.add": (scattered(lambda at, x: at.add(x)), [N]),
    "at.subtract": (scattered(lambda at, x: at.subtract(x)), [-N]),
    "pooling": (pooled, [N]),
    "sum": (lambda x: x.sum(keepdims=True), [N]),
}


class HalfSumsTest(unittest.TestCase):
    def test_all_are_rounded_once(self):
        for name, (fn, exact) in FUNCTIONS.items():
            for dtype, unit in HALVES.items():
                with self.subTest(f"{name} of {dtype}"):
                    got = np.asarray(jax.jit(fn)(jnp.ones(N, dtype)))
                    self.assertEqual(got.dtype, dtype)
                    np.testing.assert_allclose(
                        got.astype(np.float64), exact, rtol=1.02 * unit)

    def test_windows_begin_with_their_initial_value(self):
        x = jnp.arange(1, 7, dtype=jnp.float32)
        def windows(start):
            return jax.lax.reduce_window(
                x, start, jax.lax.max, (6,), (1,), ((5, 0),))
        np.testing.assert_array_equal(
            jax.jit(windows)(jnp.float32(3)), [3, 3, 3, 4, 5, 6])


if __name__ == "__main__":
    unittest.main()
