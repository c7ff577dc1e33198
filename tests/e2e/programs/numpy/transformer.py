#!/usr/bin/python3
import numpy as np


def noise(seed, dims):
    i = np.arange(np.prod(dims), dtype=np.uint32).reshape(dims)
    i += np.uint32(seed << 24)
    i = (i ^ (i >> 16)) * np.uint32(0x7feb352d)
    i = (i ^ (i >> 15)) * np.uint32(0x846ca68b)
    return (i >> 8) / 2**24 - 0.5


def norm(x):
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def block(p, x):
    batch, time, width = x.shape
    heads = 4
    qkv = (norm(x) @ p[0]).reshape(batch, time, 3, heads, width // heads)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width / heads)
    scores = np.where(np.tri(time), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (e / e.sum(axis=-1, keepdims=True)) @ v
    x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p[1]
    u = norm(x) @ p[2]
    gelu = u * (1 + np.tanh(0.79788456 * (u + 0.044715 * u**3))) / 2
    return x + gelu @ p[3]


def weights(seed):
    return [noise(seed, (64, 192)), noise(seed + 1, (64, 64)),
            noise(seed + 2, (64, 256)), noise(seed + 3, (256, 64))]


x, p = noise(1, (4, 32, 64)), [w / 2 for w in weights(2)]
for turn in range(20):
    way = weights(6 + 4 * turn)

    def loss(s):
        y = block([a + s * b for a, b in zip(p, way)], x)
        return np.mean((y - 1)**2)

    slope = (loss(1e-4) - loss(-1e-4)) / 2e-4
    print(f"turn {turn} loss {loss(0):.9g} slope {slope:.9g}")
    p = [a + 0.1 * b for a, b in zip(p, way)]
