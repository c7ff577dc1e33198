"""How many bytes cross the wire, counted between JAX and its server."""

import os
import socket
import threading
import unittest

MIB = 1 << 20


class Counter:
    """Stands before a server and counts what passes, both ways."""

    def __init__(self, server):
        host, port = server.rsplit(":", 1)
        self.bytes = 0
        self._server = (host, int(port))
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(self._server)
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=pair,
                                 daemon=True).start()

    def _pass(self, from_, to):
        try:
            while data := from_.recv(MIB):
                with self._lock:
                    self.bytes += len(data)
                to.sendall(data)
        except OSError:
            pass
        to.close()


SERVER = os.environ.get("HAWSER_SERVERS")
COUNTER = Counter(SERVER) if SERVER else None
if COUNTER:
    os.environ["HAWSER_SERVERS"] = COUNTER.address

# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import numpy as np

import hawser.jax as hj


@unittest.skipUnless(COUNTER, "there is no server")
class WireTest(unittest.TestCase):
    def bytes_of(self, work):
        before = COUNTER.bytes
        work()
        return COUNTER.bytes - before

    def test_the_counter_counts(self):
        ones = np.ones((1024, 1024), np.float32)
        held = []
        self.assertGreater(self.bytes_of(lambda: held.append(
            jax.device_put(ones).block_until_ready())), 4 * MIB)
        self.assertGreater(self.bytes_of(lambda: np.asarray(held[0])), 4 * MIB)

    def test_parameters_never_cross_donated_or_not(self):
        for donated in ((0,), ()):
            with self.subTest(donated=donated):
                step = jax.jit(lambda w, x: (w * 0.5, (x @ w).sum()),
                               donate_argnums=donated)
                x = jnp.ones((8, 1024))

                def steps(count, w, step=step, x=x):
                    for _ in range(count):
                        w, loss = step(w, x)
                    self.assertGreaterEqual(float(loss), 0)
                    return w

                w = steps(2, jnp.ones((1024, 1024)))
                sent = self.bytes_of(lambda: steps(100, w))  # of 4 MiB each
                self.assertLess(sent / 100, 4096)

    def test_arrays_of_datasets_do_not_cross(self):
        data = hj.put({"x": np.ones((1024, 1024), np.float32)})
        self.addCleanup(hj.delete, data.token)
        total = jax.jit(lambda x: x.sum())
        float(total(data["x"]))
        self.assertLess(self.bytes_of(lambda: float(total(data["x"]))), 16384)


if __name__ == "__main__":
    unittest.main()
