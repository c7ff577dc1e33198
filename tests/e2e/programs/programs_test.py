#!/usr/bin/python3
"""Programs of a new user say what NumPy says, also while servers go and come.

Each runs on this machine's CPU, on a server, and with the server killed by
kill -9 in the middle and started again, or not. All four give the same bits.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
PATIENCE = 120
# Lines of a program's output, of which each has 20 or more: one that is held
# has written at most seven that are not read yet.
KILLED_AFTER, HELD_AFTER = 3, 11


class Channel:
    """Lines that a process writes, kept as they are read.

    room: for how many bytes that are not read yet; a line takes 768 of 4608 at
    least. A reader that waits holds the process when they are used up.
    """

    def __init__(self, room=1 << 20):
        near, self.far = socket.socketpair()
        self.far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
        near.settimeout(PATIENCE)
        self.lines = []
        with near:
            # It reads no byte beyond the line that it gives.
            self.reader = near.makefile("rb", buffering=0)

    def __iter__(self):
        for line in self.reader:
            self.lines.append(line.decode())
            yield self.lines[-1]

    def close(self):
        self.reader.close()


class Server:
    """A hawserd on loopback over a folder, from start() to kill()."""

    def __init__(self, folder):
        self.folder, self.address, self.process = folder, "127.0.0.1:0", None

    def start(self):
        self.process = subprocess.Popen(
            [HAWSERD, "--device=cpu", f"--listen={self.address}",
             f"--data_dir={self.folder}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        with self.process.stdout as out:
            line = out.readline()
        self.address = re.match(r"hawserd ready on (\S+)", line)[1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()


def words(line):
    """The words of a line, its numbers as such; not where it was computed."""
    found = []
    for word in re.sub(r" on \S.*|\w+\[[\d,]*\]|[{},]", " ", line).split():
        try:
            found.append(float(word))
        except ValueError:
            found.append(word)
    return found


class ProgramsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.numpy("inputs")

    def run_quickly(self, *command, **environment):
        done = subprocess.run(
            [str(word) for word in command], cwd=self.work, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
            env={**CLEAN, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(keepends=True)

    def start_server(self):
        server = Server(self.work / "data")
        self.addCleanup(lambda: server.process and server.kill())
        server.start()
        return server

    def numpy(self, name, *arguments):
        return self.run_quickly("/usr/bin/python3", "-W", "error",
                                HERE / "numpy" / f"{name}.py", *arguments)

    def run_program(self, name, *arguments, servers="", interrupt=None,
                    returns=False):
        """Its lines; `interrupt` is called in the middle.

        returns: whether the server is back after that; the program is held
        until it knows.
        """
        output, errors = Channel(room=1), Channel()
        with output.far, errors.far:
            process = subprocess.Popen(
                [PROGRAMS / name, *arguments], cwd=self.work,
                stdout=output.far, stderr=errors.far,
                env={**CLEAN, "HAWSER_SERVERS": servers})
        try:
            for line in output:
                if len(output.lines) == KILLED_AFTER and interrupt is not None:
                    interrupt()
                if len(output.lines) == HELD_AFTER and returns:
                    self.assertTrue(any(" is back" in said for said in errors),
                                    errors.lines)
            code = process.wait(PATIENCE)
            list(errors)
            said = "".join(output.lines + errors.lines)
        finally:
            process.kill()
            process.wait()
            output.close()
            errors.close()
        self.assertEqual(code, 0, said)
        self.said = said
        return output.lines

    def expect_near(self, got, want, tolerance):
        self.assertEqual(len(got), len(want), got)
        for line, wanted in zip(got, want):
            near = [b if isinstance(b, float) and isinstance(a, float)
                    and abs(a - b) <= tolerance * max(abs(b), 1) else a
                    for a, b in zip(words(line), words(wanted))]
            self.assertEqual(near, words(wanted))

    def expect_same(self, got, want):
        self.assertEqual([words(line) for line in got],
                         [words(line) for line in want])

    def check(self, name, tolerance=1e-5, last_step=-1):
        """Runs a program that puts its data itself, in all four ways."""
        local = self.run_program(name)
        self.expect_near(local, self.numpy(name), tolerance)
        server = self.start_server()
        here, there = " on cpu (fallback", f" on {server.address}"
        self.expect_same(self.run_program(name, servers=server.address), local)
        for interrupt, after in [(server.restart, there), (server.kill, here)]:
            lines = self.run_program(name, servers=server.address,
                                     interrupt=interrupt,
                                     returns=interrupt == server.restart)
            self.expect_same(lines, local)
            self.assertIn(there, lines[0], self.said)
            self.assertIn(after, lines[last_step], self.said)

    def test_linear(self):
        self.check("linear", last_step=-2)

    def test_kmeans(self):
        self.check("kmeans", last_step=-2)

    def test_transformer(self):
        self.check("transformer", tolerance=1e-4)

    def test_service(self):
        self.check("service")

    def test_mandelbrot(self):
        # Points at the edge leave a turn earlier or later by how products are
        # rounded.
        self.check("mandelbrot", tolerance=0.01)

    def test_convnet(self):
        self.check("convnet", last_step=-2)

    def test_mlp_by_token(self):
        local = self.run_program("mlp")
        self.expect_near(local, self.numpy("mlp"), 1e-5)
        server = self.start_server()
        token, = self.run_quickly(HAWSER, "put", "--as-one", "x.npy",
                                  "label.npy", HAWSER_SERVERS=server.address)
        token = token.strip()
        for interrupt in None, server.restart:
            lines = self.run_program("mlp", token, "0", servers=server.address,
                                     interrupt=interrupt)
            self.expect_same(lines, local)
            for line in lines[:-1]:
                self.assertIn(f" on {server.address}", line)
        lines = self.run_program("mlp", token, "1000000",
                                 servers=server.address, interrupt=server.kill)
        self.expect_same(lines, local)
        self.assertIn(" on cpu (fallback", lines[-2])

    def test_flowers(self):
        losses = self.numpy("flowers")
        used = self.numpy("flowers", "flowers.npz")
        kept = ["saved OK, frozen OK\n"]
        local = self.run_program("flowers")
        self.expect_near(local, losses + kept, 1e-5)
        self.expect_same(self.numpy("flowers", "flowers.npz"), used)
        self.expect_same(self.run_program("flowers", "flowers.npz"), used)
        server = self.start_server()
        there = {"HAWSER_SERVERS": server.address}
        for interrupt in None, server.restart:
            self.expect_same(
                self.run_program("flowers", servers=server.address,
                                 interrupt=interrupt,
                                 returns=interrupt is not None), local)
            self.expect_same(
                self.run_program("flowers", "@flowers",
                                 servers=server.address), used)
            self.run_quickly(HAWSER, "get", "@flowers", "-o", "got.npz",
                             **there)
            self.expect_same(self.numpy("flowers", "got.npz"), used)
            self.run_quickly(HAWSER, "rm", "@flowers", **there)
        lines = self.run_program("flowers", servers=server.address,
                                 interrupt=server.kill)
        self.expect_same(lines[:-1], local[:-1])
        # Dataset and tag wait for the server; where it does not come back
        # before the program ends, the dataset is in a file.
        self.assertRegex(lines[-1], "saved OK, frozen OK")
        self.expect_same(self.run_program("flowers", "flowers.npz"), used)


if __name__ == "__main__":
    HAWSERD, HAWSER, PROGRAMS = (pathlib.Path(sys.argv.pop(1)).resolve()
                                 for _ in range(3))
    PROGRAMS = PROGRAMS.parent
    CLEAN = {"HAWSER_CACHE": "off"} | {key: value for key, value in os.environ.items()
             if not key.startswith("HAWSER_")}
    unittest.main()
