#!/usr/bin/python3
import numpy as np

x, label = np.load("x.npy"), np.load("label.npy")
rows, batch = len(x), 64


def noise(seed, dims):
    i = np.arange(np.prod(dims), dtype=np.uint32).reshape(dims)
    i += np.uint32(seed << 24)
    i = (i ^ (i >> 16)) * np.uint32(0x7feb352d)
    i = (i ^ (i >> 15)) * np.uint32(0x846ca68b)
    return (i >> 8).astype(np.float32) / np.float32(2**24) - np.float32(0.5)


def loss(p, x, label):
    w1, b1, w2, b2 = p
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    softmax = e / e.sum(axis=1, keepdims=True)
    value = -np.mean(np.log(softmax[np.arange(len(x)), label]))
    gs = (softmax - np.eye(4, dtype=np.float32)[label]) / np.float32(len(x))
    gh = gs @ w2.T * (hidden > 0)
    return value, [x.T @ gh, gh.sum(axis=0), hidden.T @ gs, gs.sum(axis=0)]


p = [noise(1, (32, 48)) / 3, np.zeros(48, np.float32),
     noise(2, (48, 4)) / 3, np.zeros(4, np.float32)]
m, v, t = [0 * a for a in p], [0 * a for a in p], 0
for epoch in range(20):
    order = (np.arange(rows) * 389 + epoch * 57) % rows
    total = np.float32(0)
    for first in range(0, rows, batch):
        now = order[first:first + batch]
        value, g = loss(p, x[now], label[now])
        total, t = total + value, t + 1
        m = [np.float32(.9) * a + np.float32(.1) * b for a, b in zip(m, g)]
        v = [np.float32(.99) * a + np.float32(.01) * b * b for a, b in zip(v, g)]
        rate = np.float32(0.003 * np.sqrt(1 - .99**t) / (1 - .9**t))
        p = [a - rate * b / (np.sqrt(c) + np.float32(1e-7))
             for a, b, c in zip(p, m, v)]
    print(f"epoch {epoch} loss {total / (rows // batch):.9g}")
hidden = np.maximum(x @ p[0] + p[1], 0)
found = (hidden @ p[2] + p[3]).argmax(axis=1)
print(f"right {np.mean(found == label):.9g}")
