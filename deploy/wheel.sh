#!/bin/bash
# Makes the wheel of hawser's plugin for JAX, which pip installs.
#
#   deploy/wheel.sh [FOLDER [LIBRARY]]
#
# FOLDER: where it goes; dist. LIBRARY: a libhawser_pjrt.so that is built
# already; without it this builds one.
set -euo pipefail

mkdir -p "${1:-dist}"
folder=$(cd "${1:-dist}" && pwd)
library=${2:-}
[[ -z $library ]] || library=$(realpath "$library")
cd "$(dirname "$(realpath "$0")")/.."

if [[ -z $library ]]; then
  bazel build --noshow_progress //client/pjrt:libhawser_pjrt.so
  library=bazel-bin/client/pjrt/libhawser_pjrt.so
fi
version=$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' \
  core/base/process/version.h)
python3 deploy/jax/wheel.py "$library" client/python/hawser "$version" "$folder"
