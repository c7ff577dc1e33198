#!/usr/bin/python3
"""The wheel under a real JAX: the programs of client/examples/jax print the
same on JAX's own CPU, on hawser's, on a server, and on one that is killed.

JAX is not Debian's: HAWSER_JAX_VENV names a virtual environment that has it, as
deploy/jax_venv.sh makes; without one what needs JAX is skipped.
"""

import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = sorted((ROOT / "client/examples/jax").glob("*.py"))
UNDER_JAX = sorted(
    (ROOT / "tests/client/python/under_jax").glob("*_test.py"))
# Those that are for several servers, and for how many.
SEVERAL = {"sharded": 2}
WITHOUT_JAX = sorted(
    (ROOT / "tests/client/python/without_jax").glob("*_test.py"))
VENV = pathlib.Path(os.environ.get("HAWSER_JAX_VENV") or
                    pathlib.Path.home() / ".cache/hawser/jax")
PYTHON = VENV / "bin/python"
# Runs a program that waits for a line of its input after its first one, so that
# what is to happen between two of its lines does.
WAITING = """
import builtins, os, runpy, sys
said = builtins.print
def say_first(*args, **kwargs):
    builtins.print = said
    said(*args, **kwargs)
    sys.stdin.readline()
builtins.print = say_first
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def environment(**settings):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("HAWSER_", "JAX_"))}
    return {**kept, **settings}


class Server:
    """A hawserd of this CPU on a port of its own."""

    def __init__(self):
        self.process = subprocess.Popen(
            [SERVER, "--listen=127.0.0.1:0"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment())
        for line in self.process.stdout:
            ready = re.search(r"ready on (\S+)", line)
            if ready:
                self.address = ready.group(1)
                return
        raise AssertionError("the server did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


class Unpacked(unittest.TestCase):
    """The wheel, in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.wheel = subprocess.run(
            [ROOT / "deploy/wheel.sh", cls.work, LIBRARY], check=True,
            text=True, stdout=subprocess.PIPE).stdout.strip()
        cls.site = cls.work / "site"
        subprocess.run(
            [sys.executable, "-m", "zipfile", "-e", cls.wheel, cls.site],
            check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def says(self, python, **settings):
        """What `python -m hawser` says, and what it returns."""
        done = subprocess.run(
            [python, "-m", "hawser"], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(PYTHONPATH=str(self.site), **settings))
        self.assertNotIn("Traceback", done.stdout)
        self.assertIn("libhawser_pjrt.so", done.stdout)
        return done.stdout, done.returncode

    def check_what_it_says(self, python, *more):
        """Without servers, with one, and with one that is not there."""
        server = Server()
        try:
            for servers, code, what in (
                    ("", 0, "HAWSER_SERVERS: none"),
                    (server.address, 0, f"{server.address}, cpu.*answers in"),
                    ("127.0.0.1:1", 1, "127.0.0.1:1, cpu.*UNREACHABLE")):
                said, got = self.says(python, HAWSER_SERVERS=servers)
                self.assertEqual(got, code, said)
                self.assertRegex(said, what)
                for one in more:
                    self.assertRegex(said, one)
        finally:
            server.kill()

    def run_test(self, python, test, counts=(0, 1), **settings):
        """Runs a file of tests with the wheel, on so many servers."""
        for count in counts:
            servers = [Server() for _ in range(count)]
            if servers:
                settings["SERVER_PID"] = str(servers[0].process.pid)
            with self.subTest(test.name, servers=count):
                done = subprocess.run(
                    [python, test], check=False, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    env=environment(
                        PYTHONPATH=str(self.site),
                        HAWSER_SERVERS=",".join(
                            server.address for server in servers),
                        **settings))
                for server in servers:
                    server.kill()
                self.assertEqual(done.returncode, 0, done.stdout)


class WheelTest(Unpacked):
    def test_is_small_and_for_any_python(self):
        self.assertIn("-py3-none-manylinux_2_34_x86_64", self.wheel)
        self.assertLess(pathlib.Path(self.wheel).stat().st_size, 40 << 20)

    def test_has_the_version_of_the_tree(self):
        header = (ROOT / "core/base/process/version.h").read_text()
        version = re.search(r'kVersion\[\] = "(.*)"', header).group(1)
        said = subprocess.run(
            [sys.executable, "-c", "import hawser; print(hawser.__version__)"],
            check=True, text=True, stdout=subprocess.PIPE,
            env=environment(PYTHONPATH=str(self.site))).stdout
        self.assertEqual(said.strip(), version)

    def test_loads_where_nothing_else_is(self):
        said = subprocess.run(
            [sys.executable, "-c", "import ctypes, sys\n"
             "library = ctypes.CDLL(sys.argv[1])\n"
             "library.GetPjrtApi.restype = ctypes.POINTER(ctypes.c_size_t)\n"
             "print(library.GetPjrtApi()[0])",
             self.site / "hawser/libhawser_pjrt.so"],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        self.assertGreater(int(said), 1000)  # the size of the table

    def test_needs_no_newer_libraries_than_its_name_says(self):
        # manylinux_2_34: glibc 2.34 and the libstdc++ of gcc 11.
        most = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
        files = sorted((self.site / "hawser").glob("**/*.so*"))
        self.assertGreater(len(files), 10)
        for file in files:
            needed = subprocess.run(
                ["objdump", "-T", file], check=True, text=True,
                stdout=subprocess.PIPE).stdout
            for name, version in set(re.findall(
                    r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", needed)):
                self.assertLessEqual(
                    tuple(map(int, version.split("."))), most[name],
                    f"{file.name} needs {name}_{version}")

    def test_pip_installs_it(self):
        try:
            subprocess.run([sys.executable, "-m", "venv", self.work / "venv"],
                           check=True, stdout=subprocess.DEVNULL)
        except subprocess.CalledProcessError:
            self.skipTest("there is no python3-venv")
        python = self.work / "venv/bin/python"
        run = functools.partial(
            subprocess.run, check=True, text=True, cwd=self.work,
            stdout=subprocess.PIPE, env=environment(PYTHONPATH=""))
        run([python, "-m", "pip", "install", "--no-index", "--quiet",
             "--disable-pip-version-check", self.wheel])
        said = run([python, "-m", "hawser"]).stdout
        self.assertIn(str(self.work / "venv"), said)
        said = run([python, "-c", "import importlib.metadata as m\n"
                    "print(*m.entry_points(group='jax_plugins'))"]).stdout
        self.assertIn("hawser.jax_plugin", said)
        run([python, "-m", "pip", "check", "--disable-pip-version-check"])
        package = next((self.work / "venv").glob("lib/*/site-packages/hawser"))
        self.assertTrue((package / "py.typed").exists())
        run([python, "-m", "pip", "uninstall", "-y", "--quiet", "hawser"])
        self.assertFalse(package.exists())

    def test_shows_one_symbol(self):
        shown = subprocess.run(
            ["nm", "-D", "--defined-only", "--format=posix",
             self.site / "hawser/libhawser_pjrt.so"],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        self.assertEqual([line.split()[0] for line in shown.splitlines()],
                         ["GetPjrtApi"])

    def test_two_of_them_load_into_one_process(self):
        other = self.work / "libother.so"
        shutil.copy(self.site / "hawser/libhawser_pjrt.so", other)
        subprocess.run(
            [sys.executable, "-c", "import ctypes, sys\n"
             "for path in sys.argv[1:]:\n"
             "  ctypes.CDLL(path).GetPjrtApi()",
             self.site / "hawser/libhawser_pjrt.so", other],
            check=True, env=environment(
                LD_LIBRARY_PATH=str(self.site / "hawser/lib")))

    def test_tests_without_jax_pass_here_and_on_a_server(self):
        self.assertTrue(WITHOUT_JAX)
        for test in WITHOUT_JAX:
            self.run_test(sys.executable, test)

    def test_says_what_it_sees_without_jax(self):
        self.check_what_it_says(sys.executable, "jax: not installed")


@unittest.skipUnless(PYTHON.exists(), f"there is no JAX in {VENV}: "
                     "deploy/jax_venv.sh makes it")
class JaxTest(Unpacked):
    on_cpu = {}  # what programs print on JAX's CPU: each runs there once

    def skip_without(self, program):
        """Skips a program that imports a package which the environment lacks."""
        imports = set(re.findall(r"^(?:import|from) (\w+)", program.read_text(),
                                 re.MULTILINE))
        lacking = subprocess.run(
            [PYTHON, "-c", "import importlib.util, sys\n"
             "for name in sys.argv[1:]:\n"
             "  if importlib.util.find_spec(name) is None: print(name)",
             *sorted(imports)], check=True, text=True,
            stdout=subprocess.PIPE).stdout.split()
        if lacking:
            self.skipTest(f"{VENV} lacks {' and '.join(lacking)}")

    def wanted(self, program):
        if program not in self.on_cpu:
            self.skip_without(program)
            lines, where, _ = self.run_program(program, JAX_PLATFORMS="cpu")
            self.assertEqual(where, "on cpu")
            self.on_cpu[program] = lines
        return self.on_cpu[program]

    def run_program(self, program, after_a_line=None, **settings):
        """Returns what it printed, where it ran, and its log."""
        waits = after_a_line is not None
        with tempfile.TemporaryFile("w+") as log, subprocess.Popen(
                [PYTHON, *(["-c", WAITING] if waits else []), program],
                text=True, stdin=subprocess.PIPE if waits else None,
                stdout=subprocess.PIPE, stderr=log,
                env=environment(PYTHONPATH=str(self.site), **settings)
        ) as process:
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if len(lines) == 1 and waits:
                    after_a_line()
                    process.stdin.write("\n")
                    process.stdin.flush()
            code = process.wait()
            log.seek(0)
            logged = log.read()
        self.assertEqual(code, 0, logged)
        return lines[:-1], lines[-1], logged

    def run_on_servers(self, program, count, kills=False):
        """Runs it on so many servers, of which the first dies after a line."""
        servers = [Server() for _ in range(count)]
        try:
            return self.run_program(
                program, after_a_line=servers[0].kill if kills else None,
                HAWSER_SERVERS=",".join(one.address for one in servers))
        finally:
            for server in servers:
                server.kill()

    def check_same(self, want, got):
        """The same lines, numbers within what f32 sums may differ."""
        self.assertEqual(len(want), len(got))
        number = re.compile(r"-?\d+\.\d+|\d+")
        for one, other in zip(want, got):
            self.assertEqual(number.sub("#", one), number.sub("#", other))
            for a, b in zip(number.findall(one), number.findall(other)):
                self.assertAlmostEqual(float(a), float(b), delta=2e-4, msg=other)

    def test_programs_print_what_they_print_on_jax(self):
        self.assertTrue(PROGRAMS)
        for program in PROGRAMS:
            with self.subTest(program.name):
                want = self.wanted(program)
                got, where, _ = self.run_program(
                    program, JAX_PLATFORMS="hawser,cpu")
                self.assertEqual(where, "on hawser")
                self.check_same(want, got)
                for count in sorted({1, SEVERAL.get(program.stem, 1)}):
                    got, where, log = self.run_on_servers(program, count)
                    self.assertEqual(where, "on hawser")
                    self.assertNotRegex(log, "falling back|is left")
                    self.check_same(want, got)

    def test_tests_under_jax_pass_here_and_on_servers(self):
        self.assertTrue(UNDER_JAX)
        for test in UNDER_JAX:
            counts = (2,) if test.stem == "sharding_test" else (0, 1)
            self.run_test(PYTHON, test, counts, JAX_PLATFORMS="hawser,cpu")

    def test_a_server_that_is_killed_changes_nothing_but_the_log(self):
        for program in PROGRAMS:
            with self.subTest(program.name):
                want = self.wanted(program)
                count = SEVERAL.get(program.stem, 1)
                got, _, log = self.run_on_servers(program, count, kills=True)
                self.check_same(want, got)
                self.assertEqual(log.count("falling back"), 1, log)
                # What was cut over several goes on without that one.
                self.assertEqual(log.count("is left"), int(count > 1), log)

    def test_a_server_that_is_not_there_costs_a_line(self):
        program = ROOT / "client/examples/jax/logistic.py"
        want = self.wanted(program)
        got, where, log = self.run_program(
            program, HAWSER_SERVERS="127.0.0.1:1")
        self.check_same(want, got)
        self.assertEqual(where, "on hawser")
        self.assertIn("127.0.0.1:1", log)

    def test_says_what_it_sees(self):
        self.check_what_it_says(PYTHON, r"jax \d.*, jaxlib \d")
        said, code = self.says(PYTHON)
        self.assertIn("uses hawser where", said)
        said, code = self.says(PYTHON, JAX_PLATFORMS="hawser,cpu")
        self.assertIn("HawserDevice(id=0, cpu)", said)
        said, code = self.says(PYTHON, JAX_PLATFORMS="cpu", HAWSER_SERVERS="a:1")
        self.assertIn("without hawser", said)
        self.assertEqual(code, 1)  # of the server

    def test_is_there_where_a_program_asks_for_it(self):
        said = subprocess.run(
            [PYTHON, "-c", "import jax\n"
             "jax.config.update('jax_platforms', 'hawser,cpu')\n"
             "print(jax.devices())"], text=True, check=True,
            stdout=subprocess.PIPE, env=environment(PYTHONPATH=str(self.site))
        ).stdout
        self.assertIn("HawserDevice", said)

    def test_is_not_there_unless_it_is_asked_for(self):
        said = subprocess.run(
            [PYTHON, "-c", "import jax; print(jax.devices())"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
            env=environment(PYTHONPATH=str(self.site))).stdout
        self.assertNotIn("hawser", said.lower())


if __name__ == "__main__":
    LIBRARY, SERVER = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
