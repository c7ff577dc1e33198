"""hawser.jax.jit: JAX lowers on its CPU, hawser runs, whatever jaxlib it is."""

import functools
import os
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import hawser.jax as hj
from hawser import pjrt

try:
    enable_x64 = jax.enable_x64
except AttributeError:
    from jax.experimental import enable_x64

SERVERS = os.environ["HAWSER_SERVERS"]


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    return jnp.mean((hidden.sum(1) - y) ** 2)


def step(params, x, y):
    value, slope = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, slope), value


class JitTest(unittest.TestCase):
    def setUp(self):
        key = jax.random.key(0)
        with jax.default_device(jax.devices("cpu")[0]):
            self.params = {"w": jax.random.normal(key, (4, 3)),
                           "b": jnp.zeros(3)}
            self.x = jax.random.normal(key, (5, 4))
            self.y = np.arange(5, dtype=np.float32)

    def test_trees_in_and_out(self):
        want, got = jax.jit(step), hj.jit(step)
        params, others = self.params, self.params
        for _ in range(3):
            params, value = want(params, self.x, self.y)
            others, other = got(others, self.x, self.y)
            np.testing.assert_allclose(value, other, rtol=1e-5)
        for name, value in params.items():
            np.testing.assert_allclose(value, others[name], rtol=1e-5)
            self.assertEqual(others[name].devices(), {jax.devices("cpu")[0]})

    def test_donated_arguments_are_sent_again(self):
        got = hj.jit(step, donate_argnums=0)
        first = got(self.params, self.x, self.y)
        again = got(self.params, self.x, self.y)
        np.testing.assert_array_equal(first[1], again[1])

    def test_statics_keywords_and_weak_numbers(self):
        @functools.partial(hj.jit, static_argnames=("how", "times"))
        def scaled(x, how, *, times=1, by=2):
            return (x * by if how == "mul" else x / by) * times

        np.testing.assert_array_equal(scaled(self.y, "mul"), self.y * 2)
        np.testing.assert_array_equal(scaled(self.y, how="div"), self.y / 2)
        np.testing.assert_array_equal(scaled(self.y, "mul", times=3, by=4),
                                      self.y * 12)
        by_number = hj.jit(lambda n, x: x[:n], static_argnums=0)
        np.testing.assert_array_equal(by_number(2, self.y), self.y[:2])
        self.assertEqual(hj.jit(lambda x: x + 1)(1), 2)
        self.assertEqual(hj.jit(lambda x: x + 1)(1).dtype, jnp.int32)

    def test_statics_of_other_types_are_other_programs(self):
        x = np.arange(4, dtype=np.int32)
        times = hj.jit(lambda x, by: x * by, static_argnums=1)
        for by in (2, 2.0, True, 1, 1.0):
            want = x * by if isinstance(by, int) else np.float32(x * by)
            self.assertEqual(times(x, by).dtype, want.dtype, by)
            np.testing.assert_array_equal(times(x, by), want)
        named = hj.jit(lambda x, by: x * by, static_argnames="by")
        self.assertEqual(named(x, by=2).dtype, jnp.int32)
        self.assertEqual(named(x, by=2.0).dtype, jnp.float32)

    def test_keys_are_arguments_and_results(self):
        @hj.jit
        def draw(key):
            key, now = jax.random.split(key)
            return key, jax.random.normal(now, (3,))

        for impl in ("threefry2x32", "rbg"):
            with jax.default_device(jax.devices("cpu")[0]):
                want = key = jax.random.key(7, impl=impl)
            for _ in range(3):
                key, got = draw(key)
                with jax.default_device(jax.devices("cpu")[0]):
                    want, now = jax.random.split(want)
                    number = jax.random.normal(now, (3,))
                np.testing.assert_allclose(got, number, rtol=1e-5)
                self.assertEqual(key.dtype, want.dtype)
                np.testing.assert_array_equal(
                    jax.random.key_data(key), jax.random.key_data(want))
        keys = hj.jit(lambda key: jax.random.split(key, 5))(key)
        self.assertEqual(keys.shape, (5,))
        self.assertEqual(hj.jit(lambda keys: keys[1:])(keys).shape, (4,))

    def test_settings_that_change_make_other_programs(self):
        same = hj.jit(lambda: jnp.arange(3.0) / 3)
        self.assertEqual(same().dtype, jnp.float32)
        with enable_x64(True):
            self.assertEqual(same().dtype, jnp.float64)
        self.assertEqual(same().dtype, jnp.float32)
        compile_, compiled = pjrt.Client.compile, []
        pjrt.Client.compile = lambda self, code, *a: (
            compiled.append(code) or compile_(self, code, *a))
        self.addCleanup(setattr, pjrt.Client, "compile", compile_)
        square = hj.jit(lambda x: x.T @ x)
        for precision in ("highest", "default", "highest"):
            with jax.default_matmul_precision(precision):
                square(self.x)
        self.assertEqual(["HIGHEST" in code for code in compiled],
                         [True, False])

    def test_dtypes(self):
        same = hj.jit(lambda x: (x, x[:0]))
        for name in ("bool", "int8", "uint32", "float16", "bfloat16",
                     "complex64"):
            value = np.ones((2, 3), jnp.dtype(name))
            got, none = same(value)
            self.assertEqual(got.dtype, value.dtype)
            np.testing.assert_array_equal(got, value)
            self.assertEqual(none.shape, (0, 3))

    def test_new_values_are_sent_and_old_ones_are_not(self):
        value = np.zeros(3, np.float32)
        double = hj.jit(lambda x: x * 2)
        np.testing.assert_array_equal(double(value), [0, 0, 0])
        value[:] = 1
        np.testing.assert_array_equal(double(value), [2, 2, 2])
        array = jax.device_put(value, jax.devices("cpu")[0])
        put, sent = pjrt.Client.put, []
        pjrt.Client.put = lambda self, *a: sent.append(a) or put(self, *a)
        try:
            for _ in range(3):
                array = double(array)
        finally:
            pjrt.Client.put = put
        self.assertEqual(len(sent), 1)
        np.testing.assert_array_equal(array, [8, 8, 8])

    def test_errors_are_of_hawser(self):
        with self.assertRaisesRegex(hj.HawserError, "UNIMPLEMENTED"):
            hj.jit(lambda x: x.astype(jnp.float8_e4m3fn).astype(x.dtype))(
                np.ones(3, np.float32))
        with self.assertRaises(TypeError):
            hj.jit(lambda x: x)(np.array(["a"]))

    def test_its_own_client(self):
        client = pjrt.Client([SERVERS] if SERVERS else [])
        twice = hj.jit(lambda x: x + x, client=client)
        np.testing.assert_array_equal(twice(self.y), 2 * self.y)


if __name__ == "__main__":
    unittest.main()
