#!/usr/bin/python3
"""The wheel under the oldest JAX that it is for, 0.5.3.

Skipped without a virtual environment that has it, in HAWSER_OLD_JAX_VENV, else
~/.cache/hawser/jax-0.5.3, which deploy/test.sh --full makes:

    deploy/jax_venv.sh ~/.cache/hawser/jax-0.5.3 jax==0.5.3 jaxlib==0.5.3 numpy
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
VENV = pathlib.Path(os.environ.get("HAWSER_OLD_JAX_VENV") or
                    pathlib.Path.home() / ".cache/hawser/jax-0.5.3")
PYTHON = VENV / "bin/python"
# Those that need no package beside JAX, and show donation, f64 and shardings.
EXAMPLES = ("logistic", "pendulum", "sharded", "transformer_block")


@unittest.skipUnless(PYTHON.exists(), f"there is no old JAX in {VENV}")
class OldJaxTest(unittest.TestCase):
    def check_examples(self, *where):
        with tempfile.TemporaryDirectory() as folder:
            wheel = subprocess.run(
                [ROOT / "deploy/wheel.sh", folder, LIBRARY], check=True,
                text=True, stdout=subprocess.PIPE).stdout.strip()
            said = subprocess.run(
                [ROOT / "deploy/jax_check.sh", "--wheel", wheel, "--python",
                 PYTHON, f"--only=^({'|'.join(EXAMPLES)})", *where],
                check=False, text=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(said.splitlines()[-1],
                         f"{len(EXAMPLES)} passed, 0 failed, 0 left out", said)

    def test_is_that_old(self):
        said = subprocess.run(
            [PYTHON, "-c", "import jaxlib; print(jaxlib.__version__)"],
            check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
        self.assertEqual(said, "0.5.3")

    def test_programs_print_what_they_print_on_jax_here(self):
        self.check_examples()

    def test_programs_print_what_they_print_on_jax_on_a_server(self):
        self.check_examples("--hawserd", SERVER)


if __name__ == "__main__":
    LIBRARY, SERVER = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
