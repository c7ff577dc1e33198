#!/usr/bin/env python3
"""What JAX programs pay for hawser's plugin, as ratios to JAX's own in this run.

    PYTHON tests/bench/jax/jax_bench.py HAWSERD [--wire WIRE_BENCH]
        [--programs FOLDER]

PYTHON: of an environment with JAX and our wheel (README.md).
WIRE_BENCH: the binary of that name, which measures our C++ step. FOLDER: programs
of others, ../shared/oracle/programs. Prints a row for each. Wants a machine
without other work.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEASURES = "--measure"


def p50(call, count, before=50):
    """The median of `count` calls, in microseconds."""
    for _ in range(before):
        call()
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    times.sort()
    return times[len(times) // 2] * 1e6


def calls(device):
    """Small functions on one device, in microseconds by their names."""
    import jax  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel

    x = jax.device_put(np.float32([1, 2, 3, 4]), device)
    one = jax.jit(lambda x: x * 2 + 1)
    many = [jax.device_put(np.float32([i]), device) for i in range(100)]
    each = jax.jit(lambda *xs: [x + 1 for x in xs])
    w = jax.device_put(np.ones((16, 16), np.float32), device)

    def body(w):
        return w @ w * 1e-3 + 1

    update = jax.jit(body, donate_argnums=0)
    last = jax.jit(lambda w: w[0, 0])
    loop = jax.jit(lambda w, count: jax.lax.fori_loop(
        0, count, lambda _, w: body(w), w)[0, 0])
    counts = {n: jax.device_put(np.int32(n), device) for n in (0, 100)}

    def steps(count):
        value = w + 0
        for _ in range(count):
            value = update(value)
        return float(last(value))

    return {
        "dispatch": p50(lambda: one(x), 1000),
        "dispatch of 100": p50(lambda: each(*many), 300),
        "step": p50(lambda: np.asarray(one(x)), 1000),
        "donated step": p50(lambda: steps(1), 50, before=5),
        "100 donated steps": p50(lambda: steps(100), 20, before=2),
        "loop of 0": p50(lambda: float(loop(w, counts[0])), 100, before=5),
        "loop of 100": p50(lambda: float(loop(w, counts[100])), 100, before=5),
    }


def foreign(folder, device):
    """Milliseconds of a program of others; None where hawser lacks an op."""
    sys.path.insert(0, str(ROOT / "deploy/jax"))
    import foreign as programs  # pylint: disable=import-outside-toplevel
    import jax  # pylint: disable=import-outside-toplevel
    from jaxlib import xla_client  # pylint: disable=import-outside-toplevel

    try:
        loaded = device.client.compile_and_load(
            (folder / "program.mlir").read_text(),
            xla_client.DeviceList((device,)), xla_client.CompileOptions())
    except Exception:  # pylint: disable=broad-except
        return None
    inputs = [jax.device_put(value, device)
              for value in programs.arrays(folder / "inputs.npz")]

    def run():
        for result in loaded.execute(inputs):
            result.block_until_ready()

    run()
    return p50(run, 7, before=1) / 1e3


def measure(what, argument):
    """One of the measurements, in a process of its own; prints JSON."""
    import jax  # pylint: disable=import-outside-toplevel

    if what == "devices":
        begin = time.perf_counter()
        jax.devices()
        print(json.dumps((time.perf_counter() - begin) * 1e3))
        return
    jax.config.update("jax_enable_x64", True)
    hawser = jax.devices("hawser")[0]
    if what == "calls":
        print(json.dumps([calls(hawser), calls(jax.devices("cpu")[0])]))
        return
    folder = pathlib.Path(argument)
    print(json.dumps([foreign(folder, hawser),
                      foreign(folder, jax.devices("cpu")[0])]))


def child(what, argument="", **settings):
    done = subprocess.run(
        [sys.executable, __file__, MEASURES, what, argument], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
        env={**os.environ, "JAX_PLATFORMS": "hawser,cpu", "HAWSER_SERVERS": "",
             **settings})
    return json.loads(done.stdout) if done.returncode == 0 else None


def row(name, value, target=None):
    print(f"{name:58} {value:8.2f}" + (f"   target {target}" if target else ""),
          flush=True)


def print_calls(hawserd, wire):
    server = subprocess.Popen([hawserd, "--listen=127.0.0.1:0"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in server.stdout:
        ready = re.search(r"ready on (\S+)", line)
        if ready:
            break
    remote, own = child("calls", HAWSER_SERVERS=ready[1])
    server.terminate()
    row("a jitted call, not awaited / JAX's on its CPU",
        remote["dispatch"] / own["dispatch"])
    row("the same of 100 arguments and results",
        remote["dispatch of 100"] / own["dispatch of 100"], 1.3)
    # What the same steps take where they are computed: in one call.
    compute = remote["loop of 100"] - remote["loop of 0"]
    print(f"  a donated step, fetched: {remote['donated step']:.1f} us; 100, the "
          f"last one fetched: {remote['100 donated steps']:.1f} us; computing 100 "
          f"in one call: {compute:.1f} us")
    row("100 donated steps, the last one fetched / one and computing",
        remote["100 donated steps"] / (remote["donated step"] + compute), 3)
    row("the same / on JAX's own CPU",
        remote["100 donated steps"] / own["100 donated steps"])
    print(f"  a step and its fetch over loopback: {remote['step']:.1f} us")
    if wire:
        table = subprocess.run([wire, "--rounds=5", "--put_rounds=1",
                                "--put_mib=16"], text=True, check=True,
                               stdout=subprocess.PIPE, cwd=ROOT).stdout
        step = re.search(r"two cores \| step / bidi ping, p50 \| ([\d.]+) us",
                         table)
        row("the same / our C++ step and 3 us",
            remote["step"] / (float(step[1]) + 3), 1.3)


def print_programs(folder):
    ratios = {}
    for program in sorted(folder.iterdir()):
        if (program / "program.mlir").exists():
            ours, own = child("program", str(program)) or (None, None)
            if ours and own:
                ratios[program.name] = ours / own
    if not ratios:
        return
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    row(f"{len(ratios)} programs of others, here / on JAX's CPU, geometric mean",
        mean)
    for name in sorted(ratios, key=ratios.get, reverse=True)[:10]:
        row(f"  {name}", ratios[name])


def main():
    if sys.argv[1:2] == [MEASURES]:
        measure(*sys.argv[2:4])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("hawserd")
    parser.add_argument("--wire")
    parser.add_argument("--programs", type=pathlib.Path)
    options = parser.parse_args()
    own = min(child("devices", JAX_PLATFORMS="cpu") for _ in range(3))
    for name, servers in (("no server", ""), ("a dead server", "127.0.0.1:1")):
        ours = min(child("devices", HAWSER_SERVERS=servers) for _ in range(3))
        row(f"first jax.devices() with {name}, ms more than JAX's", ours - own, 50)
    print_calls(options.hawserd, options.wire)
    if options.programs:
        print_programs(options.programs)


if __name__ == "__main__":
    main()
