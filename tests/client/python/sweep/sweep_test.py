#!/usr/bin/python3
"""sweep.py finds no failure, with the wheel that the build makes.

JAX is not Debian's: without a virtual environment that has it (HAWSER_JAX_VENV, else
~/.cache/hawser/jax, which deploy/jax_venv.sh makes) this is skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
VENV = pathlib.Path(os.environ.get("HAWSER_JAX_VENV") or
                    pathlib.Path.home() / ".cache/hawser/jax")


@unittest.skipUnless((VENV / "bin/python").exists(),
                     f"there is no JAX in {VENV}: deploy/jax_venv.sh makes it")
class SweepTest(unittest.TestCase):
    def test_functions_give_what_they_give_on_the_cpu_of_jax(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = subprocess.run(
                [ROOT / "deploy/wheel.sh", folder, LIBRARY], check=True,
                text=True, stdout=subprocess.PIPE).stdout.strip()
            site = pathlib.Path(folder) / "site"
            subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, site],
                           check=True)
            kept = {key: value for key, value in os.environ.items()
                    if not key.startswith(("HAWSER_", "JAX_"))}
            done = subprocess.run(
                [VENV / "bin/python", HERE / "sweep.py"], check=False,
                env={**kept, "PYTHONPATH": str(site)})
            self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    LIBRARY = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
