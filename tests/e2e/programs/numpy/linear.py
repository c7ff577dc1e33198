#!/usr/bin/python3
import numpy as np

data = np.load("linear.npz")
x, y, label = data["x"], data["y"], data["label"]


def linear(w, b):
    error = x @ w + b - y
    return np.mean(error**2), 2 * x.T @ error / len(x), 2 * np.mean(error)


def logistic(w, b):
    z = x @ w + b
    error = 1 / (1 + np.exp(-z)) - label
    return (np.mean(np.logaddexp(0, z) - z * label), x.T @ error / len(x),
            np.mean(error))


def train(name, loss, rate):
    w, b = np.zeros(x.shape[1], np.float32), np.float32(0)
    for step in range(1, 41):
        value, gw, gb = loss(w, b)
        w, b = w - np.float32(rate) * gw, b - np.float32(rate) * gb
        if step % 4 == 0:
            print(f"{name} step {step} loss {value:.9g}")
    print(f"{name} weights {' '.join(f'{v:.9g}' for v in w)} bias {b:.9g}")


train("linear", linear, 0.1)
train("logistic", logistic, 0.5)
