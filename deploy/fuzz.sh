#!/bin/bash
# Lets libFuzzer search a target of tests/fuzz for a while, under asan and ubsan.
#
#   deploy/fuzz.sh TARGET SECONDS [libFuzzer flag]...
#   deploy/fuzz.sh text_edits 60
#
# TARGET is a fuzz_test of tests/fuzz without its "_fuzz_test". New inputs are
# kept for the next run in $HAWSER_FUZZ_DIR (~/.cache/hawser-fuzz), the seeds in
# the tree stay as they are. Exits with 1 when something was found.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -lt 2 || ! $2 =~ ^[1-9][0-9]*$ ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
target=$1
seconds=$2
shift 2
if [[ ! -f tests/fuzz/${target}_fuzz_test.cc ]]; then
  echo "fuzz.sh: there is no target ${target}; there are:" >&2
  basename -s _fuzz_test.cc tests/fuzz/*_fuzz_test.cc | sed 's/^/  /' >&2
  exit 2
fi

bazel build --config=san "//tests/fuzz:${target}_fuzz_test"
# Not bazel-bin, which the next build of another configuration moves.
binary=$(bazel info --config=san bazel-bin)/tests/fuzz/${target}_fuzz_test

found=${HAWSER_FUZZ_DIR:-${HOME:-/tmp}/.cache/hawser-fuzz}/$target
mkdir -p "$found/corpus"
# The first folder takes what is new; the limits are those of
# deploy/bazel/fuzz.bzl.
if "$binary" "-max_total_time=$seconds" -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 "-artifact_prefix=$found/" "$@" \
    "$found/corpus" "tests/fuzz/${target}_corpus"; then
  echo "fuzz.sh: $target found nothing in $seconds s"
else
  echo "fuzz.sh: $target found something; run it again with" >&2
  echo "  $binary $found/crash-..." >&2
  echo "fix it, and keep the input in tests/fuzz/${target}_corpus" >&2
  exit 1
fi
