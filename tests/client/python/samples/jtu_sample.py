"""Tests written as JAX's own are, for jax_check_test.py: of every outcome one."""

import os
import time

import jax
import jax.numpy as jnp
import numpy as np
from absl.testing import absltest, parameterized
from jax._src import test_util as jtu

jax.config.parse_flags_with_absl()


class SampleTest(jtu.JaxTestCase):

    @jtu.sample_product(
        dtype=jtu.dtypes.floating + jtu.dtypes.integer, shape=[(3,), (2, 4)])
    def testSampled(self, dtype, shape):
        rng = jtu.rand_default(self.rng())

        def arguments():
            return [rng(shape, dtype)]

        self._CheckAgainstNumpy(lambda x: np.add(x, x), lambda x: x + x, arguments)
        self._CompileAndCheck(lambda x: x + x, arguments)

    def testPlatform(self):
        self.assertEqual(jtu.device_under_test(), "hawser")
        self.assertTrue(jtu.test_device_matches(["hawser"]))
        self.assertIn(np.float32, jtu.supported_dtypes())
        self.assertEqual(jnp.ones(3).devices().pop().platform, "hawser")

    @parameterized.parameters(1, 2, 3)
    def testParameterized(self, n):
        self.assertEqual(int(jnp.arange(n).sum()), n * (n - 1) // 2)

    def testGradients(self):
        jtu.check_grads(lambda x: x**2, (2.0,), order=2, rtol=1e-2)

    @jtu.skip_on_devices("hawser")
    def testSkipped(self):
        self.fail("it is not skipped")

    @jtu.run_on_devices("tpu")
    def testOfOthers(self):
        self.fail("it is not skipped")

    def testRefused(self):
        jnp.zeros(3, "float8_e5m2").astype("float32").block_until_ready()

    def testWrong(self):
        self.assertAllClose(jnp.ones(3), jnp.zeros(3))

    def testAborts(self):
        os.abort()

    def testHangs(self):
        time.sleep(1000)


class FixtureTest(jtu.JaxTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ones = jnp.ones(3)

    def testFixture(self):
        self.assertEqual(float(self.ones.sum()), 3)


if __name__ == "__main__":
    absltest.main(testLoader=jtu.JaxTestLoader())
