#!/bin/bash
# Runs programs and tests under an unmodified JAX with hawser's wheel, and counts.
#
#   deploy/jax_check.sh [--wheel WHEEL] [--python PYTHON] [--hawserd PROGRAM |
#     --servers ADDRESSES] [--programs FOLDER] [--sweep] [--no-examples]
#     [--json FILE] [--jobs N] [--timeout S] [--only PATTERN] [TEST_FILE...]
#
# WHEEL: without it this builds one. PYTHON: of an environment that has JAX; the
# one of deploy/jax_venv.sh. PROGRAM: a hawserd that it starts, or `build`, which
# builds one; ADDRESSES: of servers that run; without either this CPU computes.
# FOLDER: programs of others, as ../shared/oracle/programs. --sweep: every public
# function (tests/client/python/sweep). TEST_FILE: JAX's own, with their helpers
# beside them; JAX_* variables, such as JAX_NUM_GENERATED_CASES, are theirs. PATTERN:
# of the names of tests, of examples and of programs that are to run.
# The programs of client/examples/jax run without an option. A refusal by hawser, and
# a test that JAX skips, is left out, and its reason counted. The last line is
# "N passed, N failed, N left out"; with 1 if one failed.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
wheel='' python=${HAWSER_JAX_VENV:-$home/.cache/hawser/jax}/bin/python rest=()
while (($#)); do
  case $1 in
    --wheel) wheel=$(realpath "$2"); shift 2 ;;
    --python) python=$(realpath -s "$2"); shift 2 ;;
    --hawserd)
      program=$2
      if [[ $program == build ]]; then
        (cd "$here/.." && bazel build --noshow_progress //server:hawserd >&2)
        program=$here/../bazel-bin/server/hawserd
      fi
      rest+=(--hawserd "$(realpath "$program")")
      shift 2
      ;;
    *) rest+=("$1"); shift ;;
  esac
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [[ ! -e $python ]]; then
  "$here/jax_venv.sh" || exit 1
fi
if [[ -z $wheel ]]; then
  wheel=$("$here/wheel.sh" "$scratch" | tail -n 1)
fi
python3 "$here/jax/check.py" --wheel "$wheel" --python "$python" "${rest[@]}"
