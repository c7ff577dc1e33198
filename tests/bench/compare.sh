#!/bin/bash
# What became slower since COMMIT: builds the benches of both, runs them in
# turn, and compares the runs of each round with each other.
#
#   tests/bench/compare.sh COMMIT [ROUNDS] [BENCH...]
#
# ROUNDS: 15, of four minutes each; SIGINT prints what there is. BENCH: wire bulk
# crowd, or some of them, or cpu. In a round the old one runs, the new one, and the old
# one again: how far the same binary is from itself says what a difference means.
# Wants a machine without other work, and exits with 1 when something became
# slower by more than it may and than that.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=${1:?usage: tests/bench/compare.sh COMMIT [ROUNDS] [BENCH...]}
rounds=${2:-15}
benches=("${@:3}")
((${#benches[@]})) || benches=(wire bulk crowd)

old=$(mktemp -d)
trap 'git worktree remove --force "$old/tree" 2>/dev/null; rm -rf "$old"' EXIT
git worktree add --quiet --detach "$old/tree" "$commit"
deploy/build_cache.sh
# An older commit may not import the cache by itself.
cache=("--bazelrc=$PWD/.bazelrc.cache")
targets=(//server:hawserd //tests/bench:echo_server //tests/bench:echo_client
         //tests/bench:crowd_client //tests/bench:heavy_client)
for bench in "${benches[@]}"; do
  if [[ $bench == cpu ]]; then
    targets+=(//tests/bench/cpu:cpu_bench)
  else
    targets+=("//tests/bench:${bench}_bench")
  fi
done
build() {
  bazel "$@" build --noshow_progress --color=no --curses=no --force_pic \
    --symlink_prefix="$out/bazel-" -- "${targets[@]}"
}
out=$PWD/.out/compare-new
mkdir -p "$out"
build
(
  cd "$old/tree"
  out=$old
  bazel "${cache[@]}" build --noshow_progress --color=no --curses=no \
    --force_pic --symlink_prefix="$old/bazel-" -- "${targets[@]}"
  bazel shutdown
)
python3 tests/bench/compare.py --rounds="$rounds" --old="$old/bazel-bin" \
  --new="$out/bazel-bin" "${benches[@]}"
