#!/bin/bash
# Installs JAX from PyPI where cpu_bench looks for it: a virtual environment in
# ~/.cache/hawser/jax. Safe to repeat.
set -euo pipefail
folder=${HOME:-/root}/.cache/hawser/jax
[[ -x $folder/bin/python3 ]] || /usr/bin/python3 -m venv "$folder"
"$folder/bin/python3" -m pip install --quiet 'jax[cpu]'
"$folder/bin/python3" -c 'import jax; print("jax", jax.__version__)'
