#!/usr/bin/python3
"""The installed SDK: README's program builds against it and runs."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(program CXX)
find_package(hawser 1.0 REQUIRED)
add_executable(program program.cc)
target_link_libraries(program PRIVATE hawser::hawser)
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n"
                             f"{done.stdout}")
    return done.stdout


class InstalledSdkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.prefix = cls.work / "prefix"
        run(ROOT / "deploy/install_sdk.sh", cls.prefix, LIBRARY)
        text = (ROOT / "README.md").read_text()
        program = re.search(r"```cpp\n(.*?)```", text, re.DOTALL).group(1)
        (cls.work / "program.cc").write_text(program)
        (cls.work / "CMakeLists.txt").write_text(CMAKE)
        rows = numpy.random.default_rng(1).random((25600, 784), numpy.float32)
        numpy.save(cls.work / "x.npy", rows)
        numpy.save(cls.work / "y.npy", rows[:, 0])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, program):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("HAWSER_")}
        said = run(program, cwd=self.work, env=environment)
        self.assertRegex(said, r"on cpu\n$")

    def test_by_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "hawser", env={
            **os.environ, "PKG_CONFIG_PATH": self.prefix / "lib/pkgconfig"})
        # Warnings of installed headers are not the user's.
        run("g++", "-Wall", "-Wextra", "-Werror", self.work / "program.cc",
            "-o", self.work / "by_hand", *flags.split())
        self.check(self.work / "by_hand")

    def test_everything_says_the_same_version(self):
        header = (ROOT / "core/base/process/version.h").read_text()
        version = re.search(r'kVersion\[\] = "(.*)"', header).group(1)
        said = run("pkg-config", "--modversion", "hawser", env={
            **os.environ, "PKG_CONFIG_PATH": self.prefix / "lib/pkgconfig"})
        self.assertEqual(said.strip(), version)

    def test_cmake_refuses_another_version(self):
        other = self.work / "other"
        other.mkdir()
        (other / "CMakeLists.txt").write_text(
            CMAKE.replace("find_package(hawser 1.0 ", "find_package(hawser 2.0 "))
        with self.assertRaisesRegex(AssertionError, "version"):
            run("cmake", "-S", other, "-B", other / "build",
                f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_by_cmake(self):
        run("cmake", "-S", self.work, "-B", self.work / "build",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", self.work / "build")
        self.check(self.work / "build/program")

    def test_it_shows_its_own_names_alone(self):
        symbols = run("nm", "-D", "--defined-only", "-C",
                      self.prefix / "lib/libhawser.so").splitlines()
        names = [line.split(maxsplit=2)[2] for line in symbols]
        self.assertTrue(any("hawser::Connect(" in name for name in names))
        # std: what templates of libstdc++ instantiate is weak everywhere.
        strange = [name for name in names
                   if not name.startswith(("hawser::", "HAWSER_", "std::"))
                   and not re.match(r"(typeinfo( name)?|vtable) for hawser::",
                                    name)]
        self.assertEqual(strange, [])

    def test_no_header_is_generated(self):
        headers = [path.name for path in self.prefix.rglob("*.h")]
        self.assertIn("connect.h", headers)
        self.assertEqual([h for h in headers if h.endswith(".pb.h")], [])


if __name__ == "__main__":
    LIBRARY = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
