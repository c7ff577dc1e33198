"""Ctrl-C while JAX waits for a device of hawser: what comes after is right."""

import os
import signal
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np

SIDE, TURNS = 512, 200  # a second of work


def slow(x):
    return jax.lax.fori_loop(0, TURNS, lambda _, y: y @ x, x)


def interrupted(call):
    """Calls it, and is interrupted as by Ctrl-C meanwhile."""
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        try:
            call()
        finally:
            timer.join()
    except KeyboardInterrupt:
        return True
    return False


class InterruptTest(unittest.TestCase):
    def test_waiting_and_fetching(self):
        program = jax.jit(slow)
        start = jnp.full((SIDE, SIDE), 1 / SIDE)
        want = np.full((SIDE, SIDE), 1 / SIDE, np.float32)
        program(start).block_until_ready()
        for wait in (jax.block_until_ready, np.asarray, jax.device_get):
            with self.subTest(wait.__name__):
                value = program(start)
                after = program(value)
                self.assertTrue(interrupted(lambda: wait(value)))
                others = [np.zeros((SIDE, SIDE), np.float32) for _ in range(4)]
                np.testing.assert_allclose(after, want, rtol=1e-3)
                np.testing.assert_allclose(value, want, rtol=1e-3)
                for other in others:
                    self.assertFalse(other.any())

    def test_work_that_is_given_up(self):
        def work():
            value = program(program(program(start)))
            value.copy_to_host_async()
            del value
            while True:
                pass

        program = jax.jit(slow)
        start = jnp.full((SIDE, SIDE), 1 / SIDE)
        self.assertTrue(interrupted(work))
        self.assertEqual(float(jnp.sum(jnp.ones(3))), 3)


if __name__ == "__main__":
    unittest.main()
