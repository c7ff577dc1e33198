#!/bin/bash
# Lines of core that its tests run, by gcov:
#   tests/tools/coverage.sh [--uncovered]
# Builds //tests/core/... with --config=coverage, runs it and prints covered
# lines per folder and in total, with --uncovered also the lines that are not.
# Exits with 1 when the total is below 90 % or a test fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

objects=$(bazel info --config=coverage bazel-bin 2>/dev/null)
# Counts of an earlier run would be added to.
if [[ -d $objects ]]; then
  find "$objects" -name '*.gcda' -delete
fi
# ModuleCost bounds times, which unoptimized and counting code does not keep.
bazel test --config=coverage --cache_test_results=no --test_output=errors \
  --test_filter=-*ModuleCost* //tests/core/...
exec tests/tools/coverage.py "$objects" "$@"
