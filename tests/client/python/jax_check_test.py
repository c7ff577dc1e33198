#!/usr/bin/python3
"""deploy/jax_check.sh runs test files as JAX's own are, and loses none of their
tests to one that aborts or hangs; and the programs of others, none of them wrong.

Skipped where no virtual environment has JAX, as jax_test.py is. The programs are
not in the tree: HAWSER_ORACLE names the folder that has them, else it is
../shared/oracle beside the checkout.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "tests/client/python/samples/jtu_sample.py"
VENV = pathlib.Path(os.environ.get("HAWSER_JAX_VENV") or
                    pathlib.Path.home() / ".cache/hawser/jax")
PYTHON = VENV / "bin/python"
FOREIGN = pathlib.Path(os.environ.get("HAWSER_ORACLE") or
                       ROOT.parent / "shared/oracle") / "programs"


def check(folder, *arguments):
    """Runs it with a wheel of the library; returns what it says, and its report."""
    wheel = subprocess.run(
        [ROOT / "deploy/wheel.sh", folder, LIBRARY], check=True, text=True,
        stdout=subprocess.PIPE).stdout.strip()
    report = pathlib.Path(folder) / "report.json"
    said = subprocess.run(
        [ROOT / "deploy/jax_check.sh", "--wheel", wheel, "--python", PYTHON,
         "--no-examples", f"--json={report}", *arguments], check=False, text=True,
        stdout=subprocess.PIPE).stdout.splitlines()
    return said, json.loads(report.read_text())


@unittest.skipUnless(PYTHON.exists(), f"there is no JAX in {VENV}: "
                     "deploy/jax_venv.sh makes it")
class JaxCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "broken.py"
            broken.write_text("import no_such_module\n")
            cls.said, cls.report = check(
                folder, "--hawserd", SERVER, "--timeout=10", SAMPLE, broken)
        cls.rows = {row["name"].split(" ")[0].rsplit(".", 1)[-1]: row
                    for row in cls.report["rows"]}

    def check_row(self, name, outcome, why):
        self.assertEqual(self.rows[name]["outcome"], outcome, self.rows[name])
        self.assertIn(why, self.rows[name]["why"])

    def test_passes_what_passes(self):
        for name in ("testPlatform", "testParameterized0", "testGradients",
                     "testFixture"):
            self.check_row(name, "passed", "")
        sampled = [row for name, row in self.rows.items()
                   if name.startswith("testSampled")]
        self.assertGreater(len(sampled), 3)
        self.assertEqual({row["outcome"] for row in sampled}, {"passed"})

    def test_fails_what_is_wrong_aborts_or_hangs(self):
        self.check_row("testWrong", "failed", "Mismatched elements: 3 / 3")
        self.check_row("testAborts", "failed", "ended its process (-6)")
        self.check_row("testHangs", "failed", "hangs: nothing in 10 s")

    def test_leaves_out_what_is_refused_or_skipped(self):
        self.check_row("testRefused", "left out", "hawser lacks")
        self.check_row("testSkipped", "left out", "skipped by JAX")
        self.check_row("testOfOthers", "left out", "skipped by JAX")

    def test_a_file_that_does_not_load_is_a_failure(self):
        files = self.report["files"]
        broken = next(found for name, found in files.items() if "broken" in name)
        self.assertEqual(broken["failed"], 1)
        self.assertIn("no_such_module", str(broken["reasons"]))

    def test_the_last_line_has_the_counts(self):
        self.assertEqual(
            self.said[-1], f"{self.report['passed']} passed, 4 failed, 3 left out")


@unittest.skipUnless(PYTHON.exists(), f"there is no JAX in {VENV}: "
                     "deploy/jax_venv.sh makes it")
@unittest.skipUnless(FOREIGN.exists(), f"there is no {FOREIGN}: name the folder "
                     "by HAWSER_ORACLE")
class ProgramsOfOthersTest(unittest.TestCase):
    """They give what JAX gave on its CPU, but for those that call the host."""

    def check_programs(self, variant, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            said, report = check(
                folder, "--programs", FOREIGN, "--variant", variant, *arguments)
        there = [path.parent.name for path in FOREIGN.glob(f"*/{variant}")
                 if (path.parent / "expected.npz").exists()]
        self.assertTrue(there)
        self.assertEqual({row["name"] for row in report["rows"]}, set(there))
        self.assertEqual(report["failed"], 0, "\n".join(said))
        for row in report["rows"]:
            if row["outcome"] == "left out":
                self.assertIn("callback", row["why"], row["name"])

    def test_as_text_on_this_cpu(self):
        self.check_programs("program.mlir")

    def test_as_artifacts_on_a_server(self):
        self.check_programs("program.mlirbc", "--hawserd", SERVER)


if __name__ == "__main__":
    LIBRARY, SERVER = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
