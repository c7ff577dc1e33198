#!/bin/bash
# What can only be seen on a GPU, in at most ten minutes: for a machine with a
# driver, CUDA 13 or its Python wheels, Python, and nothing else.
#
#   deploy/bundle.sh bundle               here; carry `bundle` along
#   deploy/gpu_check.sh [BUNDLE [OUT]]    there; bundle and $OUT if left out
#
# HAWSER_GPU_CHECK_SECONDS: all that it may take; what is late is ended. 560.
# HAWSER_GPU_CHECK_PARTS: the functions below that run, if not all of them.
# HAWSER_ORACLE: what is read of files that are not in the tree; ../shared/oracle.
# Writes OUT/gpu_check.{json,md,log} and OUT/workloads.jsonl. Exits with 1 when a step failed, and with
# 0 where there is no device: it says so.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bundle=$(cd "${1:-$root/bundle}" 2>/dev/null && pwd) || {
  echo "gpu_check: no folder ${1:-$root/bundle}; deploy/bundle.sh makes it" >&2
  exit 2
}
parallel=$root/deploy/in_parallel.py
out=${2:-${OUT:-$root/gpu_check}}
mkdir -p "$out"
log=$out/gpu_check.log
: >"$log"
scratch=$(mktemp -d)
steps=$scratch/steps
: >"$steps"
server=
trap 'stop_server; rm -rf "$scratch"' EXIT

oracle=${HAWSER_ORACLE:-$root/../shared/oracle}

give_up_at=$((SECONDS + ${HAWSER_GPU_CHECK_SECONDS:-560}))

# Wheels keep the libraries where no loader looks; kernels/cuda/runtime/library.h looks
# in the usual places itself, and here first.
wheels() {
  python3 -c 'import glob, nvidia
print(":".join(glob.glob(list(nvidia.__path__)[0] + "/*/lib")))' 2>/dev/null
}
export HAWSER_CUDA_LIBS=${HAWSER_CUDA_LIBS:-$(wheels)}

# note VERDICT NAME SECONDS TEXT: a row of the report.
note() {
  local text=${4//$'\t'/ }
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${text//$'\n'/ }" >>"$steps"
  printf '%-8s %-24s %4ss  %s\n' "$1" "$2" "$3" "$4"
}

# step NAME LIMIT COMMAND...: passed or failed by its exit code; the last line
# it prints is the text.
step() {
  local name=$1 limit=$2 begin=$SECONDS left=$((give_up_at - SECONDS)) code
  shift 2
  if ((left < 10)); then
    note skipped "$name" 0 "no time left"
    return
  fi
  ((limit < left)) || limit=$left
  echo "== $name: $*" >>"$log"
  timeout --kill-after=5 "$limit" "$@" >"$scratch/output" 2>&1
  code=$?
  cat "$scratch/output" >>"$log"
  local text
  text=$(grep -v '^ *$' "$scratch/output" | tail -1 | sed 's/^ *//')
  case $code in
    0) note passed "$name" $((SECONDS - begin)) "$text" ;;
    124 | 137) note failed "$name" $((SECONDS - begin)) "over $limit s" ;;
    *) note failed "$name" $((SECONDS - begin)) "exit code $code: $text" ;;
  esac
}

device_check() { "$bundle/hawser_bundle" device_check "$@"; }

# The words of the status that a device would not come with; "" with a device.
why_no_device() {
  device_check --gtest_filter='*DeviceTest.SaysWhatItIs/cuda' 2>&1 |
    sed -n '/: Skipped$/{n;p;q}'
}

facts() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,ecc.mode.current \
    --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
}

library_paths() {
  LD_DEBUG=libs "$bundle/hawser_bundle" device_check \
    --gtest_filter='*DeviceTest.SaysWhatItIs/cuda' 2>&1 |
    grep -oE 'calling init: .*lib(cuda|nvrtc|cublasLt)[^ ]*' |
    sed 's/.*: //' | sort -u | paste -sd' '
}

start_server() {
  : >"$scratch/server.out"
  "$bundle/hawser_bundle" hawserd --listen=127.0.0.1:0 --device=cuda \
    >"$scratch/server.out" 2>"$scratch/server.err" &
  server=$!
  local line=
  for _ in $(seq 300); do
    read -r line <"$scratch/server.out" && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  [[ $line == "hawserd ready"* ]] && address=$(cut -d' ' -f4 <<<"$line")
}

stop_server() {
  [[ -z $server ]] || kill "$server" 2>/dev/null
  wait 2>/dev/null
  server=
}

# checked NAME FOLDER PATTERN: files that check themselves, on the server.
checked() {
  step "$1" 200 "$parallel" --files "$2" "$3" 190 \
    "$bundle/hawser" check --target="$address"
}

through_the_server() {
  if ! start_server; then
    note skipped server 0 "$(tail -1 "$scratch/server.err")"
    return
  fi
  HAWSER_SERVERS=$address step server 30 "$bundle/hawser" status
  checked case_files "$root/tests/vectors" '*.txtpb'
  local folder=$oracle/stablehlo/testdata
  if [[ -d $folder ]]; then
    checked stablehlo_files "$folder" '*.mlir'
  else
    note skipped stablehlo_files 0 "no folder $folder; HAWSER_ORACLE names it"
  fi
  stop_server
}

# The suites of tests/conformance, where target.cc there has a row "cuda".
conformance() {
  local filter='*/cuda*:-On/Device*'
  cd "$root" || return  # where tests/vectors is
  if ! "$bundle/conformance" --gtest_list_tests --gtest_filter="$filter" |
    grep -q .; then
    note skipped conformance 0 "no target cuda"
    return
  fi
  step conformance 180 "$parallel" 175 "$bundle/conformance" \
    --gtest_filter="$filter"
}

sanitizer() {
  local tool
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [[ -z $tool ]]; then
    note skipped sanitizer 0 "no compute-sanitizer"
    return
  fi
  # Calls of the runtime that fail are asked for: how many parameters a kernel
  # has shows by the first that it lacks.
  step sanitizer_memcheck 120 "$tool" --tool memcheck --error-exitcode 9 \
    --report-api-errors no "$bundle/device_check" \
    --gtest_filter='*SampleKernels*/cuda:*LargeShared*/cuda'
  step sanitizer_racecheck 120 "$tool" --tool racecheck --error-exitcode 9 \
    "$bundle/device_check" --gtest_filter='*SampleKernels*/cuda'
}

# timed NAME LIMIT COMMAND...: a step whose lines of JSON are kept.
timed() {
  : >"$scratch/output"  # a step that is skipped leaves the one before it there
  step "$@"
  grep '^{' "$scratch/output" >>"$out/workloads.jsonl"
}

# Ours and the peers' (tests/bench/gpu/README.md), in at most 240 s.
workloads() {
  timed workloads 70 "$bundle/hawser_bundle" gpu_bench --seconds=55
  timed peers_torch 45 python3 "$peers" --seconds=35 torch
  timed peers_torch_compile 60 python3 "$peers" --seconds=50 torch_compile
  timed peers_jax 50 python3 "$peers" --seconds=40 jax
  timed peers_cupy 15 python3 "$peers" --seconds=12 cupy
}

# Programs that JAX lowered, ours and JAX's, in at most 180 s.
programs() {
  local folder=$oracle/gpu_programs
  if [[ ! -d $folder ]]; then
    note skipped programs 0 "no folder $folder; HAWSER_ORACLE names it"
    return
  fi
  timed programs 90 "$bundle/hawser_bundle" gpu_bench --seconds=75 \
    "$folder"/*.mlir
  timed programs_jax 90 python3 "$peers" --seconds=75 jax "$folder"/*.mlir
}

device_suite() {
  step device_suite 180 "$bundle/device_check" --gtest_filter='*/cuda:-*Fault*'
  step device_fault 60 "$bundle/device_check" --gtest_filter='*Fault*/cuda'
}

parts=(device_suite conformance workloads programs sanitizer through_the_server)
read -ra parts <<<"${HAWSER_GPU_CHECK_PARTS:-${parts[*]}}"
peers=$root/tests/bench/gpu/peers.py
: >"$out/workloads.jsonl"
reason=$(why_no_device)
if [[ -n $reason ]]; then
  note skipped device 0 "$reason"
else
  note passed device 0 "$(facts)"
  note passed libraries 0 "$(library_paths)"
  for part in "${parts[@]}"; do "$part"; done
fi
python3 "$root/deploy/gpu_report.py" "$steps" "$out"
