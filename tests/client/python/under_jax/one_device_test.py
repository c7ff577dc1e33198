"""One device: shard_map and pmap, whose collectives are what they take; memory."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class OneDeviceTest(unittest.TestCase):
    def mapped(self, fn, out=P("i")):
        mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
        return jax.jit(jax.shard_map(fn, mesh=mesh, in_specs=P("i"), out_specs=out))

    def test_shard_map(self):
        np.testing.assert_array_equal(self.mapped(lambda x: 2 * x)(X), 2 * X)
        np.testing.assert_array_equal(
            self.mapped(lambda x: jax.lax.psum(x, "i"), P())(X), X)
        np.testing.assert_array_equal(
            self.mapped(lambda x: jax.lax.all_gather(x, "i"))(X), X[None])
        np.testing.assert_array_equal(
            self.mapped(lambda x: x + jax.lax.axis_index("i"))(X), X)

    def test_pmap(self):
        for name, fn in (
                ("pmean", lambda x: jax.lax.pmean(x, "i")),
                ("ppermute", lambda x: jax.lax.ppermute(x, "i", [(0, 0)])),
                ("all_to_all", lambda x: jax.lax.all_to_all(x, "i", 0, 0, tiled=True)),
                ("psum_scatter", lambda x: jax.lax.psum_scatter(x, "i", tiled=True)),
                ("axis_index", lambda x: x + jax.lax.axis_index("i"))):
            with self.subTest(name):
                got = jax.pmap(fn, axis_name="i", devices=jax.devices()[:1])(X[None])
                np.testing.assert_array_equal(got, X[None])
        self.assertEqual(jnp.sum(got), X.sum())

    def test_memory_of_the_device(self):
        device = jax.devices()[0]
        before = device.memory_stats()["bytes_in_use"]
        held = jax.device_put(np.ones((1024, 1024), np.float32), device)
        twice = jax.jit(lambda x: 2 * x)(held)
        taken = device.memory_stats()
        self.assertEqual(taken["bytes_in_use"] - before, 8 << 20)
        self.assertGreaterEqual(taken["peak_bytes_in_use"], taken["bytes_in_use"])
        self.assertGreaterEqual(taken["largest_alloc_size"], 4 << 20)
        del held, twice
        self.assertEqual(device.memory_stats()["bytes_in_use"], before)


if __name__ == "__main__":
    unittest.main()
