"""Programs as JAX users write them, exported for gpu_bench and peers.py.

    python3 export_programs.py FOLDER [NAME...]

Needs jax. Writes NAME.mlir for each program, or for those named, and
programs.json, which says what their arguments are (README.md).
"""

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax import lax

PROGRAMS = {}


def program(*args, carried=0):
    """Adds a function over arguments (shape, dtype, low, high)."""
    def add(function):
        PROGRAMS[function.__name__] = (function, args, carried)
        return function
    return add


def f32(*shape, low=-1.0, high=1.0):
    return (shape, "float32", low, high)


def bf16(*shape, low=-1.0, high=1.0):
    return (shape, "bfloat16", low, high)


def s32(*shape, low=0, high=2):
    return (shape, "int32", low, high)


def convolved(x, w, stride=1, padding="SAME", layout="NHWC", groups=1):
    kernel = {"NHWC": "HWIO", "NCHW": "OIHW"}[layout]
    return lax.conv_general_dilated(
        x, w, (stride, stride), padding, feature_group_count=groups,
        dimension_numbers=(layout, kernel, layout))


# Searches, orders and sums into places.


@program(f32(4096, 50257))
def argmax(x):
    return jnp.argmax(x, axis=-1)


@program(f32(1024, 32768))
def top_k_8(x):
    return lax.top_k(x, 8)


@program(bf16(64, 151936))
def top_k_50_vocabulary(x):
    return lax.top_k(x, 50)


@program(f32(4096, 4096))
def sort_rows(x):
    return jnp.sort(x, axis=-1)


@program(f32(1 << 24), s32(1 << 24, high=1 << 20))
def segment_sum_1m(values, places):
    return jax.ops.segment_sum(values, places, num_segments=1 << 20)


@program(f32(1 << 20, 16), s32(1 << 20, high=10000))
def segment_sum_rows(values, places):
    return jax.ops.segment_sum(values, places, num_segments=10000)


@program(f32(100000, 64), s32(1 << 20, high=100000), s32(1 << 20, high=100000))
def graph_mean(nodes, senders, receivers):
    sums = jax.ops.segment_sum(nodes[senders], receivers, 100000)
    counts = jax.ops.segment_sum(jnp.ones(1 << 20), receivers, 100000)
    return sums / jnp.maximum(counts, 1)[:, None]


@program(f32(1 << 20, 32), f32(1024, 32))
def kmeans(points, centers):
    def turn(_, centers):
        distance = (jnp.sum(centers ** 2, 1)[None]
                    - 2 * points @ centers.T)
        nearest = jnp.argmin(distance, axis=1)
        sums = jax.ops.segment_sum(points, nearest, 1024)
        counts = jax.ops.segment_sum(jnp.ones(points.shape[0]), nearest, 1024)
        return sums / jnp.maximum(counts, 1)[:, None]
    return lax.fori_loop(0, 1, turn, centers)


@program(f32(4096, 3), f32(4096, 3), carried=2)
def nbody(x, v):
    apart = x[None] - x[:, None]
    weight = (jnp.sum(apart ** 2, -1) + 1e-3) ** -1.5
    v = v + 1e-4 * jnp.sum(apart * weight[..., None], axis=1)
    return x + 1e-4 * v, v


# Norms, losses and reductions.


@program(f32(64, 56, 56, 256), f32(256), f32(256), f32(64, 56, 56, 256))
def batchnorm_grad(x, scale, bias, g):
    def norm(x, scale, bias):
        mean = x.mean((0, 1, 2))
        var = ((x - mean) ** 2).mean((0, 1, 2))
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias
    return jax.vjp(norm, x, scale, bias)[1](g)


@program(f32(8192, 1024), f32(1024), f32(1024), f32(8192, 1024))
def layernorm_grad(x, scale, bias, g):
    def norm(x, scale, bias):
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias
    return jax.vjp(norm, x, scale, bias)[1](g)


@program(f32(256, 131072))
def softmax_128k(x):
    return jax.nn.softmax(x, axis=-1)


@program(f32(1 << 26))
def variance_all(x):
    return x.mean(), x.var(), x.min(), x.max()


@program(f32(2048, 2048, low=0.1))
def cumsum_columns(x):
    return jnp.cumsum(x, axis=0)


# Loops.


@program(f32(4096), f32(4096), carried=2)
def ode_1000(x, v):
    def turn(_, state):
        x, v = state
        return x + 1e-3 * v, v - 1e-3 * jnp.sin(x)
    return lax.fori_loop(0, 1000, turn, (x, v))


@program(f32(64, 256), f32(256, 1024), f32(256, 1024), f32(128, 64, 256))
def lstm_scan(h, wx, wh, xs):
    def turn(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(turn, (h, jnp.zeros_like(h)), xs)


@program(f32(1024, 1024, low=0.0, high=1e-3), f32(1024))
def power_iteration(a, v):
    def go_on(state):
        return (state[0] < 200) & (state[2] > 1e-30)
    def turn(state):
        step, v, _ = state
        w = a @ v
        w = w / jnp.linalg.norm(w)
        return step + 1, w, jnp.max(jnp.abs(w - v))
    return lax.while_loop(go_on, turn, (0, v, jnp.float32(1)))


# Convolutions.


@program(bf16(64, 56, 56, 64), bf16(3, 3, 64, 64))
def conv_3x3_64_bf16(x, w):
    return convolved(x, w)


@program(f32(64, 56, 56, 64), f32(3, 3, 64, 64), f32(64, 56, 56, 64))
def conv_3x3_64_grad(x, w, g):
    return jax.vjp(convolved, x, w)[1](g)


@program(bf16(64, 224, 224, 3), bf16(7, 7, 3, 64))
def conv_stem_bf16(x, w):
    return jax.nn.relu(convolved(x, w, stride=2))


@program(f32(64, 64, 56, 56), f32(128, 64, 3, 3), f32(64, 128, 28, 28))
def conv_nchw_stride_grad(x, w, g):
    def forward(x, w):
        return convolved(x, w, stride=2, layout="NCHW")
    return jax.vjp(forward, x, w)[1](g)


@program(f32(64, 56, 56, 128), f32(3, 3, 1, 128))
def conv_depthwise(x, w):
    return convolved(x, w, groups=128)


@program(bf16(32, 1024, 512), bf16(5, 512, 512))
def conv_1d_bf16(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME",
                                    dimension_numbers=("NWC", "WIO", "NWC"))


@program(bf16(32, 28, 28, 256), bf16(1, 1, 256, 64), bf16(3, 3, 64, 64),
         bf16(1, 1, 64, 256))
def resnet_block_bf16(x, a, b, c):
    y = jax.nn.relu(convolved(x, a))
    y = jax.nn.relu(convolved(y, b))
    return jax.nn.relu(convolved(y, c) + x)


@program(f32(128, 28, 28, 1), f32(5, 5, 1, 32), f32(5, 5, 32, 64),
         f32(3136, 10), s32(128, high=10))
def cnn_train_step(x, a, b, c, labels):
    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1),
                                 (1, 2, 2, 1), "VALID")
    def loss(weights):
        a, b, c = weights
        y = pooled(jax.nn.relu(convolved(x, a)))
        y = pooled(jax.nn.relu(convolved(y, b)))
        logits = y.reshape(128, -1) @ c * 0.01
        return -jnp.mean(jnp.take_along_axis(
            jax.nn.log_softmax(logits), labels[:, None], 1))
    value, grads = jax.value_and_grad(loss)((a, b, c))
    return value, [w - 0.01 * g for w, g in zip((a, b, c), grads)]


@program(f32(64, 112, 112, 64), f32(64, 56, 56, 64))
def max_pool_grad(x, g):
    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1),
                                 (1, 2, 2, 1), "SAME")
    return jax.vjp(pooled, x)[1](g)


# Transforms and attention.


@program(f32(4096, 1024))
def fft_batched(x):
    return jnp.abs(jnp.fft.rfft(x))


@program(bf16(2, 4096, 32, 128), bf16(2, 4096, 8, 128), bf16(2, 4096, 8, 128))
def attention_gqa_causal_bf16(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@program(bf16(4, 1024, 16, 64), bf16(4, 1024, 16, 64), bf16(4, 1024, 16, 64),
         bf16(4, 1024, 16, 64))
def attention_grad_bf16(q, k, v, g):
    return jax.vjp(jax.nn.dot_product_attention, q, k, v)[1](g)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for name, (function, args, carried) in PROGRAMS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        shapes = [jax.ShapeDtypeStruct(shape, dtype)
                  for shape, dtype, _, _ in args]
        text = jax.jit(function, keep_unused=True).lower(*shapes).as_text()
        (folder / f"{name}.mlir").write_text(text)
        entries.append({
            "name": name, "carried": carried,
            "args": [{"shape": list(shape), "dtype": dtype, "lo": low,
                      "hi": high} for shape, dtype, low, high in args]})
    (folder / "programs.json").write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
