#!/bin/bash
# Builds and tests everything, on a fresh Debian 12 too. The last line is
# "N passed, N failed" (with ", N skipped" if any), in test cases.
#
#   deploy/test.sh          the fast tests; those of the CPU as on a processor of
#                           the other maker; core's again under asan and ubsan,
#                           where libFuzzer searches the fuzz targets
#   deploy/test.sh --full   all under asan and ubsan, also the slow ones, tsan,
#                           clang's layering check, and the bundle in a chroot
set -uo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

full=0
for argument in "$@"; do
  case $argument in
    --full) full=1 ;;
    *) echo "usage: deploy/test.sh [--full]" >&2; exit 2 ;;
  esac
done

# Bazel finds its output folder by these; a bare CI shell may have neither.
export HOME=${HOME:-/root} USER=${USER:-$(id -un)}
quiet=(--noshow_progress --color=no --curses=no --keep_going)
events=$(mktemp -d)

finish() {
  rm -rf "$events"
  # A server left running would keep a CI container alive.
  [[ ${CI:-} != true ]] || bazel shutdown >/dev/null 2>&1
}
trap finish EXIT

# run LABEL VERB FLAGS...: one Bazel command on $targets, its events kept for
# the count.
targets=(//...)
run() {
  local label=$1 verb=$2
  shift 2
  echo "== $label: bazel $verb $* -- ${targets[*]}"
  bazel "$verb" "${quiet[@]}" --build_event_json_file="$events/$label.json" \
    --profile="$events/$label.profile.gz" "$@" -- "${targets[@]}"
  echo $? >"$events/$label.rc"
}

if ! deploy/install.sh; then
  echo "0 passed, 1 failed"
  exit 1
fi

deploy/build_cache.sh || true  # what it saves is time
deploy/jax_venv.sh || true     # without it what needs JAX is skipped
if ((full)); then
  old=jax-0.5.3  # without it what is tested under an old JAX is skipped
  deploy/jax_venv.sh "$HOME/.cache/hawser/$old" jax==0.5.3 jaxlib==0.5.3 numpy \
    || true
  run default test --config=full
else
  run default test
fi
# What is chosen by the processor's maker is tested for the other one, too.
other=intel
grep -q GenuineIntel /proc/cpuinfo && other=amd
targets=(//tests/kernels/cpu/... //tests/client/sdk/...)
((full)) && targets=(//...)
run maker test --test_env=HAWSER_CPU_MAKER=$other
targets=(//...)
# Sanitizers over everything take longer than a run may; --full has the time.
((full)) || targets=(//tests/core/... //tests/fuzz/...)
run san test --config=san
targets=(//...)
if ((full)); then
  run tsan test --config=tsan
  run clang build --config=clang
  echo "== bundle: deploy/bundle.sh --check"
  deploy/bundle.sh --check "$events/bundle"
  echo $? >"$events/bundle.rc"
fi

deploy/build_cache.sh --prune || true
python3 deploy/time_spent.py "$events"
python3 deploy/count_tests.py "$events"
