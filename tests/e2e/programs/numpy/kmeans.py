#!/usr/bin/python3
import numpy as np


def noise(seed, dims):
    i = np.arange(np.prod(dims), dtype=np.uint32).reshape(dims)
    i += np.uint32(seed << 24)
    i = (i ^ (i >> 16)) * np.uint32(0x7feb352d)
    i = (i ^ (i >> 15)) * np.uint32(0x846ca68b)
    return (i >> 8).astype(np.float32) / np.float32(2**24) - np.float32(0.5)


def cluster(x, centers):
    turns, moved = 0, np.inf
    while turns < 50 and moved > 1e-4:
        far = np.sum(centers**2, axis=1) - 2 * x @ centers.T
        member = (far.argmin(axis=1)[:, None] == np.arange(8)).astype(x.dtype)
        size = member.sum(axis=0)[:, None]
        new = np.where(size > 0, member.T @ x / np.maximum(size, 1), centers)
        turns, moved, centers = turns + 1, np.abs(new - centers).max(), new
    spread = np.mean(far.min(axis=1) + np.sum(x**2, axis=1))
    return turns, spread, centers


points, middles = noise(1, (2000, 16)), noise(2, (8, 16))
points += 2 * np.tile(middles, (250, 1))
best = np.inf
for start in range(20):
    turns, spread, centers = cluster(points, points[start * 9:start * 9 + 8])
    print(f"start {start} turns {turns} spread {spread:.9g}")
    if spread < best:
        best, found = spread, centers
print(f"best {best:.9g} center", *(f"{v:.9g}" for v in found[0]))
