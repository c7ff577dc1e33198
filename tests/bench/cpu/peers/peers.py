#!/usr/bin/env python3
"""The works of cpu_bench by NumPy, torch and JAX, timed as it times its own.

usage: peers.py numpy|torch|jax THREADS small|full

The first line says which version this is, or why there is none. Then, for each
line of the input that names a work, the microseconds of one run, or why it has
none.
"""

import math
import os
import sys
import time

SAMPLE_SECONDS, MOST_RUNS = 0.005, 100000
SCALE, SHIFT = 0.9, 0.5
MEANS, SPREADS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WIDTH, BINS, CLUSTERS = 64, 256, 16
RATE = 0.1


class Sizes:
    """As Setting::Size: the full one, or one that takes no time."""

    def __init__(self, small):
        self.small = small

    def __call__(self, full, reduced):
        return reduced if self.small else full


class Products:
    """Works that are the same in every library."""

    def matmul(self):
        side = self.size(1024, 64)
        a, b = self.floats(-1, 1, side, side), self.floats(-1, 1, side, side)
        return lambda: a @ b

    def matmul_batched(self):
        dims = self.size(256, 8), self.size(64, 16), self.size(64, 16)
        a, b = self.floats(-1, 1, *dims), self.floats(-1, 1, *dims)
        return lambda: a @ b

    def matrix_vector(self):
        side = self.size(8192, 64)
        a, x = self.floats(-1, 1, side, side), self.floats(-1, 1, side)
        return lambda: a @ x


class Numpy(Products):
    """A method named like a work makes its arguments and returns a run."""

    def __init__(self, threads, size):
        import numpy
        self.np, self.size = numpy, size
        self.random = numpy.random.default_rng(1)
        self.version = f"numpy {numpy.__version__}"

    def floats(self, low, high, *dims):
        made = self.random.random(dims, dtype=self.np.float32)
        return made * self.np.float32(high - low) + self.np.float32(low)

    def square(self, low=-1, high=1):
        side = self.size(4096, 64)
        return self.floats(low, high, side, side)

    def chain_f32(self):
        x, scale, shift = self.square(), *self.np.float32([SCALE, SHIFT])

        def run():
            v = x
            for _ in range(5):
                v = v * scale + shift
            return v
        return run

    def chain_three(self):
        x = self.square()
        row, column = self.floats(.5, 1, x.shape[1]), self.floats(
            0, 1, x.shape[0], 1)

        def run():
            v = x
            for _ in range(5):
                v = v * row + column
            return v
        return run

    def gelu(self):
        np, x = self.np, self.square(-6, 6)
        f = np.float32
        return lambda: (f(0.5) * x) * (np.tanh(
            f(0.7978845608) * (x + f(0.044715) * (x * x * x))) + f(1))

    def softplus(self):
        np, x = self.np, self.square(-6, 6)
        return lambda: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    def silu(self):
        np, x = self.np, self.square(-6, 6)
        return lambda: x / (np.exp(-x) + np.float32(1))

    def rows(self):
        return self.floats(-4, 4, self.size(8192, 32), self.size(1024, 64))

    def softmax(self):
        np, x = self.np, self.rows()

        def run():
            e = np.exp(x - x.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)
        return run

    def layer_norm(self):
        np, x = self.np, self.rows()
        scale, shift = self.floats(.5, 1.5, x.shape[1]), self.floats(
            -.5, .5, x.shape[1])

        def run():
            centered = x - x.mean(1, keepdims=True)
            variance = np.square(centered).mean(1, keepdims=True)
            return centered / np.sqrt(variance + np.float32(1e-5)
                                      ) * scale + shift
        return run

    def rms_norm(self):
        np, x = self.np, self.rows()
        scale = self.floats(.5, 1.5, x.shape[1])
        return lambda: x / np.sqrt(np.square(x).mean(1, keepdims=True)
                                   + np.float32(1e-5)) * scale

    def cross_entropy(self):
        np, x = self.np, self.rows()
        labels = self.random.integers(0, x.shape[1], x.shape[0])
        each = np.arange(x.shape[0])

        def run():
            most = x.max(1, keepdims=True)
            e = np.exp(x - most)
            total = e.sum(1, keepdims=True)
            loss = (np.log(total) + most)[:, 0] - x[each, labels]
            gradient = e / total
            gradient[each, labels] -= 1
            gradient /= x.shape[0]
            return loss.mean(), gradient
        return run

    def transpose_f32(self):
        x = self.square()
        return lambda: self.np.ascontiguousarray(x.T)

    def transpose_u8(self):
        x = (self.square(0, 255)).astype(self.np.uint8)
        return lambda: self.np.ascontiguousarray(x.T)

    def images_nhwc(self):
        np, side = self.np, self.size(224, 16)
        x = self.random.integers(0, 256, (self.size(64, 2), 3, side, side),
                                 dtype=np.uint8)
        means, spreads = np.float32(MEANS), np.float32(SPREADS)
        return lambda: (np.ascontiguousarray(x.transpose(0, 2, 3, 1)).astype(
            np.float32) / np.float32(255) - means) / spreads

    def numbers(self):
        rows, count = self.size(1 << 17, 64), self.size(1 << 18, 256)
        return rows, self.random.integers(0, rows, count)

    def gather_rows(self):
        rows, wanted = self.numbers()
        table = self.floats(-1, 1, rows, WIDTH)
        return lambda: table[wanted]

    def scatter_add_rows(self):
        np, (rows, wanted) = self.np, self.numbers()
        updates = self.floats(-1, 1, len(wanted), WIDTH)

        def run():
            out = np.zeros((rows, WIDTH), np.float32)
            np.add.at(out, wanted, updates)
            return out
        return run

    def histogram(self):
        x = self.random.integers(0, BINS, self.size(1 << 20, 1024))
        return lambda: self.np.bincount(x, minlength=BINS)

    def kmeans_turn(self):
        np = self.np
        x = self.floats(-1, 1, self.size(100000, 256), 16)
        centers = self.floats(-1, 1, CLUSTERS, 16)

        def run():
            far = np.square(centers).sum(1) - 2 * (x @ centers.T)
            nearest = far.argmin(1)
            member = (nearest[:, None] == np.arange(CLUSTERS)).astype(
                np.float32)
            size = member.sum(0)[:, None]
            return np.where(size > 0, member.T @ x / np.maximum(size, 1),
                            centers)
        return run

    def count(self):
        return self.size(1 << 24, 4096)

    def sort_f32(self):
        x = self.floats(-1, 1, self.count())
        return lambda: self.np.sort(x)

    def sort_s32(self):
        x = self.random.integers(0, 2000000000, self.count()).astype(
            self.np.int32)
        return lambda: self.np.sort(x)

    def argsort(self):
        x = self.floats(-1, 1, self.count())
        return lambda: self.np.argsort(x, kind="stable")

    def fourier(self, name, rows, length, real=False):
        """scipy's, which keeps f32, where it is installed."""
        try:
            from scipy import fft
        except ImportError:
            fft = self.np.fft
        x, run = self.floats(-1, 1, rows, length), getattr(fft, name)
        if not real:
            x = x + self.np.complex64(1j) * self.floats(-1, 1, rows, length)
        return lambda: run(x)

    def fft_rows(self):
        return self.fourier("fft", self.size(1024, 4), self.size(1024, 64))

    def fft_one(self):
        return self.fourier("fft", 1, self.size(1 << 20, 4096))

    def fft_square(self):
        return self.fourier("fft2", self.size(1024, 12), self.size(1024, 64))

    def fft_primes(self):
        return self.fourier("fft", self.size(1024, 4), self.size(1009, 61))

    def rfft_rows(self):
        return self.fourier("rfft", self.size(1024, 4), self.size(2048, 64),
                            real=True)

    def top_k(self):
        np, x, k = self.np, self.floats(-1, 1, self.count()), self.size(
            1000, 10)

        def run():
            places = np.argpartition(x, -k)[-k:]
            order = np.argsort(-x[places])
            return x[places[order]], places[order]
        return run

    def cumsum(self):
        x = self.floats(0, 1, self.count())
        return lambda: self.np.cumsum(x)

    def random_normal(self):
        count = self.size(1000064, 4096)
        return lambda: self.random.standard_normal(count, self.np.float32)

    def grid(self):
        side = self.size(1024, 16)
        at = self.np.arange(side, dtype=self.np.float32) / side
        return self.np.meshgrid(2.5 * at - 2, 2.5 * at - 1.25)

    def mandelbrot(self):
        np, (c_re, c_im) = self.np, self.grid()
        c_re, c_im = c_re.astype(np.float32), c_im.astype(np.float32)

        def run():
            re, im = np.zeros_like(c_re), np.zeros_like(c_im)
            stays = np.zeros(c_re.shape, np.int32)
            for _ in range(self.size(100, 10)):
                re2, im2 = re * re, im * im
                inside = re2 + im2 <= 4
                re, im = (np.where(inside, re2 - im2 + c_re, re),
                          np.where(inside, (re + re) * im + c_im, im))
                stays += inside
            return stays
        return run

    def tiny_call(self):
        x, y = self.floats(-1, 1, 16), self.floats(-1, 1, 16)
        return lambda: x + y

    tiny_jit = tiny_call


class Torch(Products):
    """As Numpy."""

    def __init__(self, threads, size):
        import torch
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        self.torch, self.size = torch, size
        self.f = torch.nn.functional
        self.version = f"torch {torch.__version__}"

    def floats(self, low, high, *dims):
        return self.torch.empty(dims).uniform_(low, high)

    def square(self, low=-1, high=1):
        side = self.size(4096, 64)
        return self.floats(low, high, side, side)

    def chain(self, x, scale, shift):
        def run():
            v = x
            for _ in range(5):
                v = v * scale + shift
            return v
        return run

    def count(self):
        return self.size(1 << 24, 4096)

    def sort_f32(self):
        x = self.floats(-1, 1, self.count())
        return lambda: x.sort()

    def argsort(self):
        x = self.floats(-1, 1, self.count())
        return lambda: x.sort(stable=True)[1]

    def top_k(self):
        x = self.floats(-1, 1, self.count())
        return lambda: x.topk(self.size(1000, 10))

    def cumsum(self):
        x = self.floats(0, 1, self.count())
        return lambda: x.cumsum(0)

    def random_normal(self):
        count = self.size(1000064, 4096)
        return lambda: self.torch.randn(count)

    def chain_f32(self):
        return self.chain(self.square(), SCALE, SHIFT)

    def chain_bf16(self):
        return self.chain(self.square().bfloat16(), SCALE, SHIFT)

    def chain_three(self):
        x = self.square()
        return self.chain(x, self.floats(.5, 1, x.shape[1]),
                          self.floats(0, 1, x.shape[0], 1))

    def gelu(self):
        x = self.square(-6, 6)
        return lambda: self.f.gelu(x, approximate="tanh")

    def softplus(self):
        x = self.square(-6, 6)
        return lambda: self.f.softplus(x)

    def silu(self):
        x = self.square(-6, 6)
        return lambda: self.f.silu(x)

    def rows(self):
        return self.floats(-4, 4, self.size(8192, 32), self.size(1024, 64))

    def softmax(self):
        x = self.rows()
        return lambda: self.torch.softmax(x, -1)

    def layer_norm(self):
        x = self.rows()
        width = x.shape[1]
        scale, shift = self.floats(.5, 1.5, width), self.floats(-.5, .5, width)
        return lambda: self.f.layer_norm(x, (width,), scale, shift)

    def rms_norm(self):
        x = self.rows()
        scale = self.floats(.5, 1.5, x.shape[1])
        return lambda: x * self.torch.rsqrt(
            x.square().mean(-1, keepdim=True) + 1e-5) * scale

    def cross_entropy(self):
        x = self.rows().requires_grad_()
        labels = self.torch.randint(0, x.shape[1], (x.shape[0],))

        def run():
            loss = self.f.cross_entropy(x, labels)
            return loss, self.torch.autograd.grad(loss, x)
        return run

    def transpose_f32(self):
        x = self.square()
        return lambda: x.t().contiguous()

    def transpose_u8(self):
        x = self.square(0, 255).byte()
        return lambda: x.t().contiguous()

    def images_nhwc(self):
        side = self.size(224, 16)
        x = self.torch.randint(0, 256, (self.size(64, 2), 3, side, side),
                               dtype=self.torch.uint8)
        means, spreads = self.torch.tensor(MEANS), self.torch.tensor(SPREADS)
        return lambda: (x.permute(0, 2, 3, 1).contiguous().float() / 255
                        - means) / spreads

    def numbers(self):
        rows, count = self.size(1 << 17, 64), self.size(1 << 18, 256)
        return rows, self.torch.randint(0, rows, (count,))

    def gather_rows(self):
        rows, wanted = self.numbers()
        table = self.floats(-1, 1, rows, WIDTH)
        return lambda: table.index_select(0, wanted)

    def scatter_add_rows(self):
        rows, wanted = self.numbers()
        updates = self.floats(-1, 1, len(wanted), WIDTH)
        return lambda: self.torch.zeros(rows, WIDTH).index_add_(
            0, wanted, updates)

    def histogram(self):
        x = self.torch.randint(0, BINS, (self.size(1 << 20, 1024),))
        return lambda: self.torch.bincount(x, minlength=BINS)

    def matmul_bf16(self):
        side = self.size(1024, 64)
        a, b = (self.floats(-1, 1, side, side).bfloat16() for _ in range(2))
        return lambda: a @ b

    def mlp_step(self):
        torch, size = self.torch, self.size
        rows, inputs, width = size(256, 16), size(784, 32), size(512, 16)
        weights = [self.floats(-.05, .05, *dims).requires_grad_() for dims in
                   [(inputs, width), (width,), (width, 10), (10,)]]
        x, labels = self.floats(0, 1, rows, inputs), torch.randint(
            0, 10, (rows,))

        def run():
            w1, b1, w2, b2 = weights
            scores = torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2)
            loss = self.f.cross_entropy(scores, labels)
            gradients = torch.autograd.grad(loss, weights)
            with torch.no_grad():
                return loss, [w.sub(g, alpha=RATE)
                              for w, g in zip(weights, gradients)]
        return run

    def transformer_block(self):
        torch, f = self.torch, self.f
        batch, length = self.size(8, 2), self.size(128, 8)
        w, heads = self.size(256, 32), 4
        by = math.sqrt(3 / w)
        p = [self.floats(low, high, *dims).requires_grad_()
             for low, high, dims in [
                 (-1, 1, (batch, length, w)), (.5, 1.5, (w,)),
                 (-.5, .5, (w,)), (-by, by, (w, 3 * w)), (-by, by, (w, w)),
                 (.5, 1.5, (w,)), (-.5, .5, (w,)), (-by, by, (w, 4 * w)),
                 (-.5, .5, (4 * w,)), (-by / 2, by / 2, (4 * w, w)),
                 (-.5, .5, (w,))]]

        def loss():
            x, scale1, shift1, qkv, out, scale2, shift2, w1, b1, w2, b2 = p
            q, k, v = (f.layer_norm(x, (w,), scale1, shift1) @ qkv).view(
                batch, length, 3, heads, w // heads).permute(2, 0, 3, 1, 4)
            mixed = torch.softmax(
                q @ k.transpose(-1, -2) / math.sqrt(w // heads), -1) @ v
            middle = x + mixed.transpose(1, 2).reshape(batch, length, w) @ out
            hidden = f.gelu(f.layer_norm(middle, (w,), scale2, shift2) @ w1
                            + b1, approximate="tanh")
            return (middle + hidden @ w2 + b2).square().mean()

        def run():
            value = loss()
            return value, torch.autograd.grad(value, p)
        return run

    def kmeans_turn(self):
        torch = self.torch
        x = self.floats(-1, 1, self.size(100000, 256), 16)
        centers = self.floats(-1, 1, CLUSTERS, 16)

        def run():
            far = centers.square().sum(1) - 2 * (x @ centers.t())
            nearest = far.argmin(1)
            sums = torch.zeros(CLUSTERS, 16).index_add_(0, nearest, x)
            size = torch.bincount(nearest, minlength=CLUSTERS)[:, None]
            return torch.where(size > 0, sums / size.clamp(min=1), centers)
        return run

    def mandelbrot(self):
        torch, side = self.torch, self.size(1024, 16)
        at = torch.arange(side) / side
        c_im, c_re = torch.meshgrid(2.5 * at - 1.25, 2.5 * at - 2,
                                    indexing="ij")

        def run():
            re, im = torch.zeros(side, side), torch.zeros(side, side)
            stays = torch.zeros(side, side, dtype=torch.int32)
            for _ in range(self.size(100, 10)):
                re2, im2 = re * re, im * im
                inside = re2 + im2 <= 4
                re, im = (torch.where(inside, re2 - im2 + c_re, re),
                          torch.where(inside, (re + re) * im + c_im, im))
                stays += inside
            return stays
        return run

    def tiny_call(self):
        x, y = self.floats(-1, 1, 16), self.floats(-1, 1, 16)
        return lambda: x + y

    tiny_jit = tiny_call


class Jax:
    """NumPy's works, each one compiled function of arrays that are there."""

    def __init__(self, threads, size):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
        import jax
        self.jax, self.numpy = jax, Numpy(threads, size)
        self.version = f"jax {jax.__version__}"

    def __getattr__(self, work):
        body = getattr(JaxWorks, work, None)
        if body is None:
            raise AttributeError(work)

        def prepare():
            fn, arguments = body(self.jax, self.numpy)
            fn = self.jax.jit(fn)
            there = [self.jax.device_put(a) for a in arguments]
            return lambda: self.jax.block_until_ready(fn(*there))
        return prepare


def chained(v, scale, shift):
    for _ in range(5):
        v = v * scale + shift
    return v


class JaxWorks:
    """A method gives the function and its arguments, made by `n`, a Numpy."""

    def chain_f32(jax, n):
        return lambda x: chained(x, SCALE, SHIFT), [n.square()]

    def chain_bf16(jax, n):
        x = jax.numpy.asarray(n.square(), jax.numpy.bfloat16)
        return lambda x: chained(x, SCALE, SHIFT), [x]

    def chain_three(jax, n):
        x = n.square()
        return chained, [x, n.floats(.5, 1, x.shape[1]),
                         n.floats(0, 1, x.shape[0], 1)]

    def gelu(jax, n):
        return lambda x: jax.nn.gelu(x, approximate=True), [n.square(-6, 6)]

    def softplus(jax, n):
        return jax.nn.softplus, [n.square(-6, 6)]

    def silu(jax, n):
        return jax.nn.silu, [n.square(-6, 6)]

    def softmax(jax, n):
        return jax.nn.softmax, [n.rows()]

    def layer_norm(jax, n):
        def run(x, scale, shift):
            centered = x - x.mean(1, keepdims=True)
            variance = (centered * centered).mean(1, keepdims=True)
            return centered * jax.lax.rsqrt(variance + 1e-5) * scale + shift
        x = n.rows()
        width = x.shape[1]
        return run, [x, n.floats(.5, 1.5, width), n.floats(-.5, .5, width)]

    def rms_norm(jax, n):
        def run(x, scale):
            return x * jax.lax.rsqrt(
                (x * x).mean(1, keepdims=True) + 1e-5) * scale
        x = n.rows()
        return run, [x, n.floats(.5, 1.5, x.shape[1])]

    def cross_entropy(jax, n):
        def loss(x, labels):
            logs = jax.nn.log_softmax(x)
            return -jax.numpy.take_along_axis(logs, labels[:, None], 1).mean()
        x = n.rows()
        labels = n.random.integers(0, x.shape[1], x.shape[0], dtype="int32")
        return jax.value_and_grad(loss), [x, labels]

    def transpose_f32(jax, n):
        return lambda x: x.T, [n.square()]

    def transpose_u8(jax, n):
        return lambda x: x.T, [n.square(0, 255).astype("uint8")]

    def images_nhwc(jax, n):
        side = n.size(224, 16)
        x = n.random.integers(0, 256, (n.size(64, 2), 3, side, side),
                              dtype="uint8")
        means, spreads = (jax.numpy.asarray(v, "float32")
                          for v in (MEANS, SPREADS))
        return lambda x: (x.transpose(0, 2, 3, 1).astype("float32") / 255
                          - means) / spreads, [x]

    def gather_rows(jax, n):
        rows, wanted = n.numbers()
        return lambda t, i: t[i], [n.floats(-1, 1, rows, WIDTH),
                                   wanted.astype("int32")]

    def scatter_add_rows(jax, n):
        rows, wanted = n.numbers()
        zeros = n.np.zeros((rows, WIDTH), "float32")
        return lambda u, i: jax.numpy.asarray(zeros).at[i].add(u), [
            n.floats(-1, 1, len(wanted), WIDTH), wanted.astype("int32")]

    def histogram(jax, n):
        x = n.random.integers(0, BINS, n.size(1 << 20, 1024), dtype="int32")
        return lambda x: jax.numpy.bincount(x, length=BINS), [x]

    def matmul(jax, n):
        side = n.size(1024, 64)
        return lambda a, b: a @ b, [n.floats(-1, 1, side, side),
                                    n.floats(-1, 1, side, side)]

    def matmul_batched(jax, n):
        dims = n.size(256, 8), n.size(64, 16), n.size(64, 16)
        return lambda a, b: a @ b, [n.floats(-1, 1, *dims),
                                    n.floats(-1, 1, *dims)]

    def matrix_vector(jax, n):
        side = n.size(8192, 64)
        return lambda a, x: a @ x, [n.floats(-1, 1, side, side),
                                    n.floats(-1, 1, side)]

    def kmeans_turn(jax, n):
        np = jax.numpy

        def run(x, centers):
            far = np.square(centers).sum(1) - 2 * (x @ centers.T)
            member = (far.argmin(1)[:, None] == np.arange(CLUSTERS)).astype(
                np.float32)
            size = member.sum(0)[:, None]
            return np.where(size > 0, member.T @ x / np.maximum(size, 1),
                            centers)
        return run, [n.floats(-1, 1, n.size(100000, 256), 16),
                     n.floats(-1, 1, CLUSTERS, 16)]

    def mandelbrot(jax, n):
        np, turns = jax.numpy, n.size(100, 10)

        def run(c_re, c_im):
            def turn(_, state):
                re, im, stays = state
                re2, im2 = re * re, im * im
                inside = re2 + im2 <= 4
                return (np.where(inside, re2 - im2 + c_re, re),
                        np.where(inside, (re + re) * im + c_im, im),
                        stays + inside)
            zeros = np.zeros_like(c_re)
            return jax.lax.fori_loop(0, turns, turn, (
                zeros, zeros, np.zeros(c_re.shape, np.int32)))[2]
        return run, [c.astype("float32") for c in n.grid()]

    def tiny_call(jax, n):
        return lambda x, y: x + y, [n.floats(-1, 1, 16), n.floats(-1, 1, 16)]

    tiny_jit = tiny_call


def reduced(kind, over):
    """The method of a reduction, for either framework."""
    def prepare(self):
        a, b = self.size(4096, 64), self.size(256, 16)
        axis = {"all": (), "rows": (1,), "columns": (0,), "middle": (1,)}[over]
        x = self.floats(0, 1, *((b, b, b) if over == "middle" else (a, a)))
        if kind == "max":  # torch has another name for several axes
            fn = getattr(x, "amax", x.max)
        else:
            fn = getattr(x, kind)
        return lambda: fn(*axis)
    return prepare


def reduced_by_jax(kind, over):
    def prepare(jax, n):
        a, b = n.size(4096, 64), n.size(256, 16)
        axis = {"all": None, "rows": 1, "columns": 0, "middle": 1}[over]
        x = n.floats(0, 1, *((b, b, b) if over == "middle" else (a, a)))
        return lambda x: getattr(x, kind)(axis), [x]
    return prepare


for kind in ("sum", "max", "argmax"):
    for over in ("all", "rows", "columns", "middle"):
        for framework in (Numpy, Torch):
            setattr(framework, f"{kind}_{over}", reduced(kind, over))
        setattr(JaxWorks, f"{kind}_{over}", reduced_by_jax(kind, over))


def micros(run):
    """As Timed() of work.cc."""
    start = time.perf_counter()
    run()
    first = max(time.perf_counter() - start, 1e-9)
    runs = int(min(max(SAMPLE_SECONDS / first, 1), MOST_RUNS))
    start = time.perf_counter()
    for _ in range(runs):
        run()
    return (time.perf_counter() - start) / runs * 1e6


def main():
    name, threads, size = sys.argv[1:]
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[variable] = threads
    # Idle threads of OpenBLAS sleep after 2^20 cycles, before others are timed.
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"
    try:
        peer = {"numpy": Numpy, "torch": Torch, "jax": Jax}[name](
            int(threads), Sizes(size == "small"))
    except ImportError as error:
        print(str(error).splitlines()[0], flush=True)
        return
    print(peer.version, flush=True)
    prepared, run = None, None
    for line in sys.stdin:
        work = line.strip()
        if work != prepared:
            run = None  # its arguments are free again
            prepare = getattr(peer, work, None)
            run, prepared = prepare and prepare(), work
        print(micros(run) if run else f"not for {name}", flush=True)


if __name__ == "__main__":
    main()
