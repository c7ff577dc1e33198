#!/usr/bin/python3
import numpy as np

width, height, limit = 256, 200, 60
for band in range(20):
    x = np.linspace(-2, 0.5, width, dtype=np.float32)
    y = np.linspace(-1.25, 1.25, height, dtype=np.float32)
    c = x + 1j * y[band * 10:(band + 1) * 10, None]
    c = c.astype(np.complex64)
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for turn in range(limit):
        inside = np.abs(z) <= 2
        count += inside
        z = np.where(inside, z * z + c, z)
    print(f"band {band} inside {np.sum(count == limit)} turns {count.sum()}")
