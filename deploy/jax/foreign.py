"""A process that runs programs which others lowered, asked by their folders.

    foreign.py FILE

FILE: program.mlir, or program.mlirbc, of such a folder; beside it inputs.npz,
expected.npz and meta.json, as ../shared/oracle/programs/README.md has it. The
comparison is that of check.py there.
"""

import json
import pathlib
import sys

import jax
import numpy as np
from jaxlib import xla_client

import answers

TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4,
             "complex64": 2e-4, "float16": 4e-3}


def difference(want, got, tolerance, noise):
    """None when equal enough, else what differs."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    if want.dtype.kind in "biu":
        count = int((got != want).sum())
        return f"{count} of {want.size} elements" if count and not noise else None
    if not want.size:
        return None
    with np.errstate(all="ignore"):
        finite = np.abs(want[np.isfinite(want)].astype(complex))
        usual = np.sqrt((finite ** 2).mean()) if finite.size else 1
        size = np.maximum(np.maximum(np.abs(want), usual), 1e-30)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        error = np.where(same, 0, np.abs(got - want) / size)
        error = np.where(np.isnan(error), np.inf, error)
        bad = error > (tolerance or TOLERANCE[str(want.dtype)]) + 8 * noise / size
    return (f"{int(bad.sum())} of {want.size} elements, worst "
            f"{error[bad].max():.2g} of the size") if bad.any() else None


def results(device, program, inputs):
    """What the program gives on this device: text, or an artifact's bytes."""
    loaded = device.client.compile_and_load(
        program, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return [np.asarray(result) for result in loaded.execute(
        [jax.device_put(value, device) for value in inputs])]


def arrays(path):
    with np.load(path) as file:
        return [file[name] for name in sorted(file.files)]


def main():
    variant = sys.argv[1]
    jax.config.update("jax_enable_x64", True)  # keeps the dtypes of inputs
    device = jax.devices()[0]

    def verdict(name):
        folder = pathlib.Path(name)
        meta = json.loads((folder / "meta.json").read_text())
        wants = arrays(folder / "expected.npz")
        program = (folder / variant).read_bytes()
        if variant.endswith(".mlir"):
            program = program.decode()
        try:
            gots = results(device, program, arrays(folder / "inputs.npz"))
        except Exception as error:  # pylint: disable=broad-except
            reason = answers.refusal(str(error))
            return ("left out", reason) if reason else (
                "failed", f"{type(error).__name__}: {error}"[:400])
        noises = meta.get("noise") or [0.0] * len(wants)
        for number, (want, got) in enumerate(zip(wants, gots)):
            said = difference(want, got, meta.get("tol"), noises[number])
            if said:
                return "failed", f"result {number}: {said}"
        return "passed", ""

    answers.answer(device.platform, verdict)


if __name__ == "__main__":
    main()
