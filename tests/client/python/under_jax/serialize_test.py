"""Compiled programs as bytes: jax.experimental.serialize_executable, and JAX's
persistent compilation cache."""

import os
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compilation_cache
from jax.experimental import serialize_executable

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def step(w, x):
    return w + x @ jnp.ones((3, 3)), (x * 2).sum()


class SerializeTest(unittest.TestCase):
    def test_what_is_loaded_does_the_same(self):
        compiled = jax.jit(step, donate_argnums=0).lower(X, X).compile()
        loaded = serialize_executable.deserialize_and_load(
            *serialize_executable.serialize(compiled),
            execution_devices=jax.devices()[:1])
        want, got = compiled(jnp.array(X), X), loaded(w := jnp.array(X), X)
        np.testing.assert_array_equal(want[0], got[0])
        self.assertEqual(got[1], 2 * X.sum())
        self.assertTrue(w.is_deleted())

    def test_says_what_it_takes(self):
        memory = jax.jit(step).lower(X, X).compile().memory_analysis()
        self.assertEqual(memory.argument_size_in_bytes, 48)
        self.assertEqual(memory.output_size_in_bytes, 28)

    def test_the_persistent_cache(self):
        # JAX asks its cache for platforms that it knows: for others this is
        # what would happen.
        with tempfile.TemporaryDirectory() as folder:
            jax.config.update("jax_compilation_cache_dir", folder)
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
            for used in (False, True):
                compilation_cache.reset_cache()
                if used:
                    compilation_cache._cache_checked = True
                    compilation_cache._cache_used = True
                for _ in range(2):
                    jax.clear_caches()
                    got = jax.jit(lambda x: x * 3 + 1)(X)
                    np.testing.assert_array_equal(got, X * 3 + 1)
                self.assertEqual(used, bool(os.listdir(folder)))
            jax.config.update("jax_compilation_cache_dir", None)
            compilation_cache.reset_cache()


if __name__ == "__main__":
    unittest.main()
