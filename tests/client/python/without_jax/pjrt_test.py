"""hawser.pjrt: programs on NumPy arrays, without JAX."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

from hawser import pjrt

# (a, b) -> (a + b, 1.5); a is donated.
SUM = """
func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %sum = stablehlo.add %a, %b : tensor<2xf32>
  %c = stablehlo.constant dense<1.5> : tensor<f32>
  return %sum, %c : tensor<2xf32>, tensor<f32>
}
"""
ONES = np.ones(2, np.float32)

# A second of work.
SIDE = 512
MATRIX = f"tensor<{SIDE}x{SIDE}xf32>"
SLOW = f"""
func.func @main(%a: {MATRIX}) -> {MATRIX} {{
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<200> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, {MATRIX}
  cond {{
    %c = stablehlo.compare LT, %k, %n
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %p = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
      : ({MATRIX}, {MATRIX}) -> {MATRIX}
    %m = stablehlo.add %k, %o : tensor<i32>
    stablehlo.return %m, %p : tensor<i32>, {MATRIX}
  }}
  return %0#1 : {MATRIX}
}}
"""


def interrupted_after(seconds, call):
    """Calls it, and is interrupted as by Ctrl-C."""
    timer = threading.Timer(
        seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        try:
            call()
        finally:
            timer.join()
    except KeyboardInterrupt:
        return True
    return False


class PjrtTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = pjrt.Client()
        cls.sum = cls.client.compile(SUM)

    def test_numpy_in_and_out(self):
        total, constant = self.sum(ONES, np.array([1, 2], np.float32))
        np.testing.assert_array_equal(total, [2, 3])
        self.assertEqual(constant, 1.5)
        self.assertEqual(constant.shape, ())

    def test_values_stay_there_until_they_are_donated(self):
        w, b = self.client.put(ONES), self.client.put(ONES)
        for _ in range(3):
            old, (w, _) = w, self.sum.run(w, b)
            self.assertTrue(old.deleted)
            self.assertFalse(b.deleted)
        np.testing.assert_array_equal(w, [4, 4])
        np.testing.assert_array_equal(w.numpy(), np.asarray(w, np.float64))
        self.assertEqual(repr(w), "hawser.pjrt.Array(float32[2])")

    def test_every_dtype_there_and_back(self):
        for name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
                     "float16 float32 float64 complex64 complex128").split():
            for shape in ((), (0,), (2, 3)):
                value = np.ones(shape, name)
                there = self.client.put(value)
                self.assertEqual(there.shape, shape)
                self.assertEqual(there.numpy().dtype, value.dtype)
                np.testing.assert_array_equal(there, value)
        turned = np.arange(6, dtype=np.int32).reshape(2, 3).T
        np.testing.assert_array_equal(self.client.put(turned), turned)

    def test_wrong_use_is_an_error(self):
        gone = self.client.put(ONES)
        self.sum.run(gone, ONES)
        wrong = [
            ("INVALID_ARGUMENT.*1:18", lambda: self.client.compile(
                "func.func @main( {")),
            ("UNIMPLEMENTED.*made_up", lambda: self.client.compile(
                SUM.replace("stablehlo.add", "stablehlo.made_up"))),
            ("takes 2 arguments, got 1", lambda: self.sum(ONES)),
            ("argument 1", lambda: self.sum(ONES, np.ones(3, np.float32))),
            ("deleted or donated", gone.numpy),
            ("deleted or donated", lambda: self.sum.run(gone, ONES)),
        ]
        for what, call in wrong:
            with self.subTest(what):
                with self.assertRaisesRegex(pjrt.HawserError, what):
                    call()
        with self.assertRaises(TypeError):
            self.client.put(np.array(["a"]))

    def test_devices_have_names(self):
        self.assertEqual(len(self.client.devices), 1)
        self.assertIn("HawserDevice(id=0", self.client.devices[0])
        there = pjrt.Client([]).compile(SUM).run(ONES, ONES)
        gc.collect()  # the client and the program are gone
        np.testing.assert_array_equal(there[0], [2, 2])

    def test_status(self):
        device, = self.client.status()
        self.assertTrue(device.reachable)
        away, = pjrt.Client(["127.0.0.1:1"]).status()
        self.assertFalse(away.reachable)
        self.assertIn("does not answer", away.why)

    def test_many_threads(self):
        def work():
            for _ in range(20):
                np.testing.assert_array_equal(self.sum(ONES, ONES)[0], [2, 2])
            done.append(True)

        done = []
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(done), 4)

    def test_an_interrupt_leaves_no_memory_that_is_written(self):
        slow = self.client.compile(SLOW)
        start = self.client.put(np.full((SIDE, SIDE), 1 / SIDE, np.float32))
        first, = slow.run(start)
        second, = slow.run(first)
        self.assertTrue(interrupted_after(
            0.1, lambda: pjrt.fetch([first, second])))
        # These would get the interrupted fetch's memory, were it freed.
        others = [np.zeros((SIDE, SIDE), np.float32) for _ in range(4)]
        want = np.full((SIDE, SIDE), 1 / SIDE, np.float32)
        np.testing.assert_allclose(second.numpy(), want, rtol=1e-3)
        time.sleep(0.1)
        for other in others:
            self.assertFalse(other.any())
        self.assertEqual(len(pjrt.fetch([first])), 1)
        self.assertFalse(pjrt._Write._kept)

    def test_ends_though_values_are_under_way(self):
        code = ("import numpy as np, pjrt_test as t\n"
                "from hawser import pjrt\n"
                "c = pjrt.Client()\n"
                "a = c.compile(t.SLOW).run(np.ones((t.SIDE, t.SIDE), 'f4'))\n"
                "b = c.compile(t.SLOW).run(*a)\n"
                "print(t.interrupted_after(0.1, lambda: pjrt.fetch(a + b)))\n")
        folder = os.path.dirname(os.path.abspath(__file__))
        said = subprocess.run([sys.executable, "-c", code], cwd=folder,
                              check=True, text=True, stdout=subprocess.PIPE)
        self.assertEqual(said.stdout, "True\n")

    def test_z_a_server_that_dies_changes_nothing(self):
        if "SERVER_PID" not in os.environ:
            self.skipTest("there is no server")
        w, _ = self.sum.run(ONES, ONES)
        os.kill(int(os.environ["SERVER_PID"]), signal.SIGKILL)
        for _ in range(3):
            w, _ = self.sum.run(w, ONES)
        np.testing.assert_array_equal(w, [5, 5])
        self.assertFalse(self.client.status()[0].reachable)


if __name__ == "__main__":
    unittest.main()
