"""jax.debug.print and errors by callbacks: dropped, said once, and the program
computes what it computes."""

import os
import subprocess
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np

from hawser import jax_plugin

X = np.arange(4, dtype=np.float32)


def prints(x, ordered=True):
    jax.debug.print("{}", x, ordered=ordered)
    return x + 1


class PrintsTest(unittest.TestCase):
    def test_programs_run_on(self):
        for ordered in (False, True):
            def one(x):
                return prints(x, ordered)

            programs = [
                (one, X + 1),
                (lambda x: one(one(x)), X + 2),
                (lambda x: jax.lax.scan(
                    lambda c, _: (one(c), c.sum()), x, None, length=3)[0],
                 X + 3),
                (lambda x: jax.lax.while_loop(lambda c: c.sum() < 20, one, x),
                 X + 4),
                (lambda x: jax.lax.cond(x.sum() > 0, one, lambda x: x, x), X + 1),
                (lambda x: jax.jit(one)(jax.jit(one)(x)), X + 2),
            ]
            for i, (program, want) in enumerate(programs):
                with self.subTest(ordered=ordered, program=i):
                    jitted = jax.jit(program)
                    for _ in range(2):  # the order is handed from call to call
                        np.testing.assert_array_equal(jitted(X), want)

    def test_gradients_and_maps(self):
        def loss(x):
            jax.debug.print("{}", x)
            return (x * x).sum()

        np.testing.assert_array_equal(jax.jit(jax.grad(loss))(X), 2 * X)
        np.testing.assert_array_equal(
            jax.jit(jax.vmap(lambda x: prints(x, False)))(X), X + 1)

    def test_says_so_once(self):
        jax_plugin._warned = False
        with self.assertWarnsRegex(UserWarning, "do nothing") as said:
            jax.jit(lambda x: prints(prints(x)) + 0)(X)
        self.assertEqual(len(said.warnings), 1)

    def test_other_callbacks_are_refused(self):
        shape = jax.ShapeDtypeStruct(X.shape, X.dtype)
        for name, program in (
                ("pure_callback",
                 lambda x: jax.pure_callback(lambda a: a, shape, x)),
                ("io_callback", lambda x: jax.experimental.io_callback(
                    lambda a: a, shape, x, ordered=True))):
            with self.subTest(name), self.assertRaisesRegex(Exception, "hawser"):
                jax.jit(program)(X)

    def test_equinox_gives_nan_unless_it_is_told_otherwise(self):
        jnp.ones(3).block_until_ready()  # the plugin is there
        self.assertEqual(os.environ["EQX_ON_ERROR"], "nan")
        said = subprocess.run(
            [sys.executable, "-c", "import os, jax\njax.devices()\n"
             "print(os.environ['EQX_ON_ERROR'])"], check=True, text=True,
            stdout=subprocess.PIPE,
            env={**os.environ, "EQX_ON_ERROR": "raise"}).stdout
        self.assertEqual(said.strip(), "raise")
        try:
            import equinox  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("there is no Equinox")
        checked = equinox.filter_jit(
            lambda x: equinox.error_if(x, x[0] > 0, "positive"))
        np.testing.assert_array_equal(checked(X), X)
        self.assertTrue(np.isnan(checked(X + 1)).all())


if __name__ == "__main__":
    unittest.main()
