#!/bin/bash
# Installs the client for programs that are not built in this workspace.
#
#   deploy/install_sdk.sh PREFIX [LIBRARY]
#
# Under PREFIX: lib/libhawser.so, the headers that client/hawser.h takes, and
# what pkg-config and CMake's find_package(hawser) read. LIBRARY: a libhawser.so
# that is built already; without it this builds one. A program then needs
# Debian's libabsl-dev and libgrpc++1.51, and
#
#   g++ program.cc $(pkg-config --cflags --libs hawser)
set -euo pipefail

if (($# < 1 || $# > 2)); then
  echo "usage: deploy/install_sdk.sh PREFIX [LIBRARY]" >&2
  exit 2
fi
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
library=${2:-}
[[ -z $library ]] || library=$(realpath "$library")
cd "$(dirname "$(realpath "$0")")/.."

if [[ -z $library ]]; then
  bazel build --noshow_progress //deploy/sdk:libhawser.so
  library=bazel-bin/deploy/sdk/libhawser.so
fi

version=$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' \
  core/base/process/version.h)
lib=$prefix/lib
install -D -m 755 "$library" "$lib/libhawser.so.1"
ln -sf libhawser.so.1 "$lib/libhawser.so"

# The compiler knows which headers client/hawser.h takes; those of ours have
# relative paths.
include=$prefix/include/hawser
rm -rf "$include"
g++ -std=c++20 -I. -MM client/hawser.h | tr ' \\' '\n\n' | grep '\.h$' |
  while read -r header; do
    install -D -m 644 "$header" "$include/$header"
  done

install -D -m 644 deploy/sdk/hawserConfig.cmake \
  "$lib/cmake/hawser/hawserConfig.cmake"
sed "s/@version@/$version/" deploy/sdk/hawserConfigVersion.cmake \
  >"$lib/cmake/hawser/hawserConfigVersion.cmake"
mkdir -p "$lib/pkgconfig"
cat >"$lib/pkgconfig/hawser.pc" <<EOF
prefix=\${pcfiledir}/../..
Name: hawser
Description: tensors computed on a GPU elsewhere, or here
Version: $version
Requires: absl_status absl_statusor absl_strings absl_time absl_synchronization absl_flat_hash_map absl_span
Cflags: -std=c++20 -isystem \${prefix}/include/hawser
Libs: -L\${prefix}/lib -Wl,-rpath,\${prefix}/lib -lhawser
EOF
echo "installed under $prefix"
