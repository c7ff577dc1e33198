#!/usr/bin/python3
"""Writes the files that the programs of both languages read."""

import numpy as np

rng = np.random.default_rng(20261123)


def f32(*dims):
    return rng.normal(size=dims).astype(np.float32)


x = f32(2000, 20)
y = x @ f32(20) + 0.5 + 0.1 * f32(2000)
np.savez("linear.npz", x=x, y=y, label=(y > 0).astype(np.float32))

label = rng.integers(0, 4, size=1024)
x = f32(4, 32)[label] + 1.5 * f32(1024, 32)
np.save("x.npy", x)
np.save("label.npy", label.astype(np.int32))

species = np.arange(150) % 3
flowers = f32(3, 4)[species] + 5 + 0.6 * f32(150, 4)
np.savetxt("flowers.csv", np.column_stack([flowers, species]), fmt="%.4f",
           delimiter=",", comments="",
           header="sepal_length,sepal_width,petal_length,petal_width,species")
