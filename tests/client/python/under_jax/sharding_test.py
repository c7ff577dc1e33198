"""Programs over two devices of hawser, by annotations alone."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

DEVICES = [d for d in jax.devices() if d.platform == "hawser"]


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["a"])
    return jnp.mean((hidden @ params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    return jax.tree_util.tree_map(
        lambda p, g: p - 0.1 * g, params, gradient), value


@unittest.skipUnless(len(DEVICES) == 2, "it needs two servers")
class ShardingTest(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(np.array(DEVICES), ("data",))
        self.rows = NamedSharding(self.mesh, P("data"))
        self.columns = NamedSharding(self.mesh, P(None, "data"))
        self.everywhere = NamedSharding(self.mesh, P())

    def test_each_device_has_its_part(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        doubled = jax.jit(lambda x: 2 * x, out_shardings=self.columns)(
            jax.device_put(x, self.rows))
        np.testing.assert_array_equal(doubled, 2 * x)
        self.assertEqual(doubled.sharding, self.columns)
        for shard in doubled.addressable_shards:
            np.testing.assert_array_equal(shard.data, 2 * x[shard.index])
        # A part is a value of its device.
        part = doubled.addressable_shards[1].data
        self.assertEqual(part.devices(), {DEVICES[1]})
        np.testing.assert_array_equal(part + 1, 2 * x[:, 3:] + 1)

    def test_results_without_a_sharding_are_everywhere(self):
        x = jax.device_put(np.ones((8, 2), np.float32), self.rows)
        total = jax.jit(jnp.sum)(x)
        self.assertEqual(total, 16)
        self.assertTrue(total.sharding.is_fully_replicated)

    def test_values_of_no_sharding_go_with_those_that_have_one(self):
        # What indexes outside of a jit has none.
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        cut = jax.device_put(x, self.rows)
        np.testing.assert_array_equal(cut[:, 2], x[:, 2])
        np.testing.assert_array_equal(cut[1], x[1])
        np.testing.assert_array_equal(cut * np.float32(3), 3 * x)

    def test_devices_in_another_order(self):
        mesh = Mesh(np.array(DEVICES[::-1]), ("data",))
        x = np.arange(4, dtype=np.int32)
        turned = jax.jit(lambda x: x * x)(
            jax.device_put(x, NamedSharding(mesh, P("data"))))
        np.testing.assert_array_equal(turned, x * x)

    def test_constraints_inside_change_nothing(self):
        def fn(x):
            return jax.lax.with_sharding_constraint(x @ x.T, self.columns)

        x = np.arange(8, dtype=np.float32).reshape(4, 2)
        np.testing.assert_array_equal(
            jax.jit(fn)(jax.device_put(x, self.rows)), x @ x.T)

    def test_training_is_what_it_is_on_the_cpu(self):
        rng = np.random.default_rng(0)
        start = {"a": rng.normal(0, 0.3, (16, 32)).astype(np.float32),
                 "b": rng.normal(0, 0.3, (32, 1)).astype(np.float32)}
        batches = [rng.normal(0, 1, (64, 16)).astype(np.float32)
                   for _ in range(10)]

        def train(rows, everywhere):
            params = jax.device_put(start, everywhere)
            losses = []
            for x in batches:
                params, value = step(params, jax.device_put(x, rows),
                                     jax.device_put(2 * x[:, :1], rows))
                losses.append(float(value))
            return losses

        cpu = jax.devices("cpu")[0]
        np.testing.assert_allclose(train(self.rows, self.everywhere),
                                   train(cpu, cpu), rtol=1e-5)

    def test_parts_that_are_donated_are_gone(self):
        x = jax.device_put(np.ones((4, 2), np.float32), self.rows)
        y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
        np.testing.assert_array_equal(y, np.full((4, 2), 2))
        self.assertTrue(x.is_deleted())

    def test_shard_map_is_refused_by_name(self):
        mapped = jax.shard_map(lambda x: 2 * x, mesh=self.mesh,
                               in_specs=P("data"), out_specs=P("data"))
        with self.assertRaisesRegex(RuntimeError, "UNIMPLEMENTED.*manual"):
            jax.jit(mapped)(np.ones((4, 2), np.float32))


if __name__ == "__main__":
    unittest.main()
