#!/usr/bin/env python3
"""Exact nearest neighbours on Fashion-MNIST in NumPy: the labels that
fashion_mnist_knn must print, one a line.

The arithmetic is exact, so no rounding decides: pixels are centred to
[-128, 127], which keeps every partial sum of a dot product below 2^24, the
largest whole number that float32 counts without gaps. Ties go to the earliest
training image.
"""

import argparse
import gzip

import numpy as np

FOLDER = "/usr/share/datasets/fashion-mnist/"


def read_idx(name):
    with gzip.open(FOLDER + name) as f:
        data = f.read()
    rank = data[3]
    dims = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, -1, 4 + 4 * rank).reshape(dims)


def splitmix64(seed):
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def permutation(n, seed):
    """Fisher-Yates from the end, with splitmix64 modulo (i + 1)."""
    order = np.arange(n)
    words = splitmix64(seed)
    for i in range(n - 1, 0, -1):
        j = next(words) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--shuffle_train", type=int, default=None)
    args = parser.parse_args()
    train = read_idx("train-images-idx3-ubyte.gz").reshape(60000, 784)
    labels = read_idx("train-labels-idx1-ubyte.gz")
    test = read_idx("t10k-images-idx3-ubyte.gz").reshape(10000, 784)
    if args.shuffle_train is not None:
        order = permutation(len(train), args.shuffle_train)
        train, labels = train[order], labels[order]
    train = train.astype(np.float32) - 128
    test = test[:args.images].astype(np.float32) - 128
    # |x - t|^2 = |x|^2 + |t|^2 - 2 x.t; |x|^2 is the same for every t.
    norms = (train.astype(np.int64) ** 2).sum(axis=1)
    for begin in range(0, len(test), 100):
        dots = (test[begin:begin + 100] @ train.T).astype(np.int64)
        for i in np.argmin(norms - 2 * dots, axis=1):
            print(labels[i])


if __name__ == "__main__":
    main()
