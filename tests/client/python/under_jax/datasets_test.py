"""Datasets in JAX programs: hawser.jax on a device of hawser."""

import gc
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import hawser.jax as hj
from hawser import pjrt

X = np.arange(12, dtype=np.float32).reshape(3, 4)
Y = np.array([1, 2, 3], np.int32)


class DatasetsTest(unittest.TestCase):
    def setUp(self):
        self.data = hj.put({"x": X, "y": Y})
        self.addCleanup(hj.delete, self.data.token)

    def test_arrays_are_what_was_put(self):
        self.assertEqual(list(self.data), ["x", "y"])
        self.assertEqual(self.data.arrays["x"],
                         jax.ShapeDtypeStruct((3, 4), jnp.float32))
        np.testing.assert_array_equal(self.data["x"], X)
        np.testing.assert_array_equal(self.data["y"], Y)
        self.assertEqual(self.data["x"].devices(), {hj.devices()[0]})

    def test_what_is_there_is_not_sent_again(self):
        again = hj.put({"y": Y, "x": X})
        self.assertEqual(again.token, self.data.token)
        self.assertEqual(again.sent_bytes, 0)

    def test_they_are_arguments_and_stand_in_functions(self):
        w = jnp.ones((4, 2))
        step = jax.jit(lambda x, w: x @ w)
        np.testing.assert_array_equal(step(self.data["x"], w), X @ np.ones((4, 2)))
        inside = jax.jit(lambda w: jnp.sum(self.data["x"] @ w))
        self.assertEqual(inside(w), 2 * X.sum())
        np.testing.assert_array_equal(
            jax.grad(inside)(w), np.repeat(X.sum(0)[:, None], 2, 1))

    def test_every_dtype(self):
        for name in ("bool", "int8", "int16", "int32", "uint8", "uint16",
                     "uint32", "float16", "float32", "bfloat16", "complex64"):
            for shape in ((), (0,), (2, 3)):
                with self.subTest(f"{name}{shape}"):
                    value = np.ones(shape, jnp.dtype(name))
                    data = hj.put(value)
                    self.assertEqual(data().dtype, value.dtype)
                    np.testing.assert_array_equal(data(), value)

    def test_freeze_is_put_of_what_is_there(self):
        doubled = 2 * self.data["x"]
        frozen = hj.freeze({"x": doubled})
        self.assertEqual(frozen.token, hj.put({"x": 2 * X}).token)
        np.testing.assert_array_equal(frozen["x"], 2 * X)
        self.assertEqual(hj.freeze(doubled).token, hj.put(2 * X).token)

    def test_tags(self):
        hj.tag("@data", self.data.token)
        self.assertEqual(hj.dataset("@data").token, self.data.token)
        self.assertIn("@data", hj.dataset(self.data.token).tags)
        with self.assertRaisesRegex(hj.HawserError, "ABORTED.*@data"):
            hj.tag("@data", self.data.token, expected="")
        hj.tag("@data", "", expected=self.data.token)
        with self.assertRaisesRegex(hj.HawserError, "NOT_FOUND.*@data"):
            hj.dataset("@data")

    def test_list_and_pin(self):
        self.assertIn(self.data.token, [d.token for d in hj.datasets()])
        self.assertEqual(len(hj.datasets(self.data.token[:20])), 1)
        self.assertEqual(hj.datasets("hw1-zzzz"), [])
        self.assertEqual(hj.pin(self.data.token).token, self.data.token)
        hj.pin(self.data.token, seconds=0)

    def test_where_things_are(self):
        device = hj.status()[0]
        self.assertTrue(device.reachable)
        self.assertEqual(device.id, hj.devices()[0].id)
        value = jnp.ones(3) + 1
        value.block_until_ready()
        self.assertFalse(hj.ran_on(value).fallback)
        self.assertIn("cpu", str(hj.ran_on(value)))

    def test_they_are_where_jax_computes_whatever_other_clients_there_are(self):
        for servers in ([], ["127.0.0.1:1"]):
            other = pjrt.Client(servers)
            self.assertEqual(hj.dataset(self.data.token).token, self.data.token)
            self.assertEqual(len(hj.status()), len(hj.devices()))
            self.assertNotIn("127.0.0.1:1", hj.status()[0].name)
            del other
            gc.collect()
            self.assertEqual(hj.dataset(self.data.token).token, self.data.token)
            np.testing.assert_array_equal(hj.put({"y": Y})["y"], Y)

    def test_wrong_use_is_an_error_that_names_it(self):
        elsewhere = jax.device_put(X, jax.devices("cpu")[0])
        gone = jnp.ones(3)
        gone.delete()
        wrong = [
            (hj.HawserError, "zz", lambda: hj.dataset("zz")),
            (KeyError, "'q'.*'x', 'y'", lambda: self.data["q"]),
            (hj.HawserError, "name each", lambda: hj.put({"": X, "b": X})),
            (hj.HawserError, "INVALID_ARGUMENT", lambda: hj.put({})),
            (ValueError, "at least one", lambda: hj.freeze({})),
            (ValueError, "not on one device", lambda: hj.ran_on(elsewhere)),
            (ValueError, "is no device of hawser", lambda: hj.freeze({"x": elsewhere})),
            (RuntimeError, "deleted", lambda: hj.ran_on(gone)),
            (TypeError, "float8", lambda: hj.put(np.ones(2, jnp.float8_e5m2))),
            (ValueError, "no device of hawser",
             lambda: hj.dataset("@x", jax.devices("cpu")[0])),
        ]
        for kind, what, call in wrong:
            with self.subTest(what), self.assertRaisesRegex(kind, what):
                call()

    def test_a_dataset_that_is_not_there_is_an_error_of_compiling(self):
        lost = hj.put({"x": X + 41})
        hj.delete(lost.token)
        with self.assertRaisesRegex(RuntimeError, f"NOT_FOUND.*{lost.token}"):
            jax.jit(lambda: lost["x"] + 1)()

    def test_inside_of_loops_and_branches(self):
        total = jax.jit(lambda: self.data["x"].sum())
        for where, body in (
                ("loop", lambda c: jax.lax.fori_loop(
                    0, 3, lambda _, s: s + self.data["x"].sum(), c)),
                ("loop that calls", lambda c: jax.lax.fori_loop(
                    0, 3, lambda _, s: s + total(), c)),
                ("scan", lambda c: jax.lax.scan(
                    lambda s, i: (s + self.data["x"][i].sum(), s), c,
                    jnp.arange(3))[0] + 2 * total()),
                ("branch", lambda c: jax.lax.cond(
                    c > -1, lambda: 3 * total(), lambda: self.data["y"].sum() + c)),
                ("branch in a loop", lambda c: jax.lax.while_loop(
                    lambda s: s < 3 * total(),
                    lambda s: jax.lax.cond(
                        s < 0, lambda: s, lambda: s + self.data["x"].sum()), c))):
            with self.subTest(where):
                self.assertEqual(jax.jit(body)(jnp.float32(0)), 3 * X.sum())
        slope = jax.jit(jax.grad(lambda w: jax.lax.fori_loop(
            0, 3, lambda _, s: s + (w * self.data["x"]).sum(), 0.0)))
        self.assertEqual(slope(jnp.float32(1)), 3 * X.sum())


if __name__ == "__main__":
    unittest.main()
