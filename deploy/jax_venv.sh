#!/bin/bash
# Makes the virtual environment in which tests find JAX, from PyPI.
#
#   deploy/jax_venv.sh [FOLDER [PACKAGE...]]
#
# FOLDER: ~/.cache/hawser/jax, where tests look unless HAWSER_JAX_VENV names
# another. PACKAGE: what it holds, as pip names it, in place of the versions below:
# jax==0.5.3. Does nothing when it is there. Ends with 1 where PyPI cannot be had.
set -euo pipefail

folder=${1:-$HOME/.cache/hawser/jax}
packages=(jax==0.10.2 jaxlib==0.10.2 numpy flax==0.12.8 optax==0.2.8)
(($# > 1)) && packages=("${@:2}")
[[ -e $folder/bin/python && -e $folder/complete ]] && exit 0
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
if ! python3 -m venv "$folder" ||
  ! "$folder/bin/pip" install --quiet --disable-pip-version-check \
    "${packages[@]}"; then
  rm -rf "$folder"
  echo "no JAX: PyPI cannot be had, or has no JAX for this Python" >&2
  exit 1
fi
touch "$folder/complete"
