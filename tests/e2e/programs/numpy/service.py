#!/usr/bin/python3
import concurrent.futures

import numpy as np


def values(seed, dims):
    i = np.arange(np.prod(dims), dtype=np.uint32).reshape(dims)
    i = (i * np.uint32(7919) + np.uint32(seed * 104729)) % np.uint32(1009)
    return i.astype(np.float32) / np.float32(1009) - np.float32(0.5)


def model(w1, w2, x):
    scores = np.tanh(x @ w1) @ w2
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


w1, w2 = values(1, (64, 32)), values(2, (32, 10))


def ask(turn, thread):
    total, answered, refused = 0, 0, 0
    for call in range(8):
        rows = 1 + (3 * thread + call) % 8
        columns = 63 if thread == 3 and call % 2 else 64
        x = values(turn * 32 + thread * 8 + call, (rows, columns))
        try:
            total += model(w1, w2, x)[:, 0].sum()
            answered += 1
        except ValueError:
            refused += 1
    return total, answered, refused


with concurrent.futures.ThreadPoolExecutor(4) as threads:
    for turn in range(20):
        sums = threads.map(ask, 4 * [turn], range(4))
        total, answered, refused = (sum(each) for each in zip(*sums))
        print(f"turn {turn} total {total:.9g} answered {answered} "
              f"refused {refused} failed 0")
