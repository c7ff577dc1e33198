#!/usr/bin/python3
import numpy as np


def noise(seed, dims):
    i = np.arange(np.prod(dims), dtype=np.uint32).reshape(dims)
    i += np.uint32(seed << 24)
    i = (i ^ (i >> 16)) * np.uint32(0x7feb352d)
    i = (i ^ (i >> 15)) * np.uint32(0x846ca68b)
    return (i >> 8).astype(np.float32) / np.float32(2**24) - np.float32(0.5)


def parts(x):
    n, h, w, c = x.shape
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.concatenate([x[:, i:i + h, j:j + w] for i in range(3)
                           for j in range(3)], axis=-1)


def back(g, c):
    n, h, w, _ = g.shape
    x = np.zeros((n, h + 2, w + 2, c), np.float32)
    for i in range(3):
        for j in range(3):
            k = (3 * i + j) * c
            x[:, i:i + h, j:j + w] += g[..., k:k + c]
    return x[:, 1:-1, 1:-1]


def loss(w, x, label):
    n = len(x)
    x1 = parts(x)
    y1 = np.maximum(x1 @ w[0], 0)
    pooled = y1.reshape(n, 4, 2, 4, 2, 8).mean(axis=(2, 4))
    x2 = parts(pooled)
    y2 = np.maximum(x2 @ w[1], 0)
    flat = y2.mean(axis=(1, 2))
    scores = flat @ w[2]
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    softmax = e / e.sum(axis=1, keepdims=True)
    value = -np.mean(np.log(softmax[np.arange(n), label]))
    gs = (softmax - np.eye(4, dtype=np.float32)[label]) / np.float32(n)
    g2 = (gs @ w[2].T)[:, None, None, :] / np.float32(16) * (y2 > 0)
    gp = back(g2 @ w[1].T, 8) / np.float32(4)
    g1 = gp.repeat(2, axis=1).repeat(2, axis=2) * (y1 > 0)
    return value, [np.tensordot(x1, g1, ([0, 1, 2], [0, 1, 2])),
                   np.tensordot(x2, g2, ([0, 1, 2], [0, 1, 2])), flat.T @ gs]


label = np.arange(512) % 4
images = noise(1, (512, 8, 8, 1)) + noise(2, (4, 8, 8, 1))[label]
w = [noise(3, (9, 8)), noise(4, (72, 16)), noise(5, (16, 4))]
for step in range(40):
    now = slice(step * 64 % 512, step * 64 % 512 + 64)
    value, g = loss(w, images[now], label[now])
    w = [a - b for a, b in zip(w, g)]
    if step % 2 == 1:
        print(f"step {step} loss {value:.9g}")
print("weights", *(f"{v:.9g}" for v in w[2][0]))
