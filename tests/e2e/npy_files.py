#!/usr/bin/env python3
"""Array files by NumPy, for cli_test: `write FOLDER` makes some of many kinds
and prints their names; `equal A B` ends with 0 when both hold the same dtype,
shape and bits."""

import pathlib
import sys

import numpy as np

DTYPES = ("bool u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16").split()


def write(folder):
    rng = np.random.default_rng(1)
    files = {}
    for name in DTYPES:
        dtype = np.dtype(name if name == "bool" else "<" + name)
        data = rng.integers(0, 2 if name == "bool" else 256,
                            24 * dtype.itemsize, np.uint8)
        files[name] = data.view(dtype).reshape(2, 3, 4)
    files["scalar"] = np.float32(2.5)
    files["empty"] = np.zeros((3, 0, 2), np.int32)
    files["columns"] = np.asfortranarray(files["i4"][0])
    files["same"] = files["i4"]
    files["large"] = rng.integers(0, 256, (3, 1 << 20, 3), np.uint8)
    for name, array in files.items():
        np.save(folder / (name + ".npy"), array)
        print(name + ".npy")


def equal(a, b):
    a, b = np.load(a), np.load(b)
    same = (a.dtype == b.dtype and a.shape == b.shape
            and a.tobytes("C") == b.tobytes("C"))
    if not same:
        print(f"{a.dtype}{a.shape} is not {b.dtype}{b.shape}, or not its bits")
    return 0 if same else 1


if __name__ == "__main__":
    paths = [pathlib.Path(path) for path in sys.argv[2:]]
    sys.exit(write(*paths) if sys.argv[1] == "write" else equal(*paths))
