#!/usr/bin/env python3
"""The workloads of workloads.cc by other frameworks, timed as gpu_bench does.

usage: peers.py [--device=cuda|cpu] [--shrink=N] [--only=TEXT] [--seconds=N]
                torch|torch_compile|jax|cupy [PROGRAM.mlir...]

With programs only they are timed: StableHLO files, which jax alone runs.

One framework a process, since each keeps memory of the device for itself. A
JSON object a line: row, name, who, us; or why there is no time ("skipped" where
the framework has no such thing or no time is left, "error" otherwise). The
first line says which version of it this is, or that it is not here.
"""

import argparse
import contextlib
import functools
import importlib
import json
import pathlib
import signal
import statistics
import sys
import time

from peer import Missing, Sizes

# row of the design's table, name, whether a run is waited for
WORKLOADS = [
    (1, "chain10_1in", False),
    (1, "chain10_2in", False),
    (2, "softmax_bf16", False),
    (2, "softmax_f32", False),
    (3, "layernorm_bf16", False),
    (3, "layernorm_backward_bf16", False),
    (4, "reduce_all_f32", False),
    (4, "reduce_row_f32", False),
    (4, "reduce_column_f32", False),
    (5, "gemm_bf16_4096", False),
    (5, "gemm_bf16_8192", False),
    (6, "gemm_tf32_8192", False),
    (6, "gemm_f32_8192", False),
    (7, "gemm_bias_gelu_bf16", False),
    (8, "mlp_sgd_bf16", False),
    (12, "sort_f32", False),
    (12, "argsort_f32", False),
    (12, "top_k_f32", False),
    (13, "cumsum_f32", False),
    (13, "transpose_f32", False),
    (14, "random_normal_f32", False),
    (15, "small_graph_f32", True),
    (16, "while_1000_f32", False),
]

# As MeasureOptions of workload_run.h.
GROUP_SECONDS, GROUPS, SINGLE_RUNS, LIMIT_SECONDS = 0.04, 9, 300, 4.0
WARM_UP_RUNS, MAX_RUNS = 4, 500
# A compiler that takes longer than this for one workload gives it up.
PATIENCE_SECONDS = 45

FRAMEWORKS = {
    "torch": ("peers_torch", "Eager"),
    "torch_compile": ("peers_torch", "Compiled"),
    "jax": ("peers_jax", "Jax"),
    "cupy": ("peers_cupy", "Cupy"),
}


def seconds_of(peer, run, runs):
    """Of so many runs, one behind the other, and the wait for the last."""
    start = time.perf_counter()
    result = None
    for _ in range(runs):
        result = None  # its memory is free again
        result = run()
    peer.wait(result)
    return time.perf_counter() - start


def measure(peer, run, is_latency):
    first = seconds_of(peer, run, 1)
    end = time.perf_counter() + LIMIT_SECONDS
    warm = max(seconds_of(peer, run, WARM_UP_RUNS) / WARM_UP_RUNS, 1e-9)
    runs = 1 if is_latency else int(min(max(GROUP_SECONDS / warm, 1), MAX_RUNS))
    times = []
    for _ in range(SINGLE_RUNS if is_latency else GROUPS):
        times.append(seconds_of(peer, run, runs) / runs)
        if time.perf_counter() > end:
            break
    return {"us": statistics.median(times) * 1e6, "runs": runs,
            "first_us": first * 1e6}


@contextlib.contextmanager
def patience(seconds):
    def give_up(*_):
        raise TimeoutError(f"not done in {seconds} s")
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(max(int(seconds), 1))
    try:
        yield
    finally:
        signal.alarm(0)


def result_of(peer, prepare, is_latency, end):
    left = end - time.monotonic()
    if left < 1:
        return {"skipped": "no time left"}
    if prepare is None:
        return {"skipped": f"not for {peer.name}"}
    try:
        with patience(min(left, PATIENCE_SECONDS)):
            run = prepare()
            return {**measure(peer, run, is_latency),
                    **getattr(run, "facts", {})}
    except Missing as error:
        return {"skipped": str(error)}
    except Exception as error:  # whatever a framework throws is its row's
        text = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {text[0][:200]}"}
    finally:
        peer.forget()


def rows_of(peer, programs, only):
    """(row, name, what makes its run, whether a run is waited for)"""
    if programs:
        make = getattr(peer, "program", None)
        rows = [(0, path.stem, make and functools.partial(make, path), False)
                for path in programs]
    else:
        rows = [(row, name, getattr(peer, name, None), is_latency)
                for row, name, is_latency in WORKLOADS]
    return [row for row in rows if only in row[1]]


def show(line):
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    who, end = arguments.framework, time.monotonic() + arguments.seconds
    module, kind = FRAMEWORKS[who]
    try:
        peer = getattr(importlib.import_module(module), kind)(
            arguments.device, Sizes(arguments.shrink))
    except Exception as error:  # also what a half-installed one throws
        show({"who": who, "missing": str(error).strip()})
        print(f"not here: {error}", file=sys.stderr)
        return
    peer.name = who
    show({"who": who, "version": peer.version})
    found = []
    for row, name, prepare, is_latency in rows_of(
            peer, arguments.programs, arguments.only):
        found.append({"row": row, "name": name, "who": who,
                      **result_of(peer, prepare, is_latency, end)})
        show(found[-1])
    print(", ".join(f"{sum(key in line for line in found)} {text}"
                    for key, text in [("us", "timed"), ("skipped", "skipped"),
                                      ("error", "failed")]), file=sys.stderr)


if __name__ == "__main__":
    main()
