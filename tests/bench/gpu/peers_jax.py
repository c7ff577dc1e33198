"""The workloads by JAX, each one jit function.

A method named like a workload makes its arguments and returns a function that
queues one run.
"""

import os

from programs import peers_program
from peer import Missing


class Jax:
    def __init__(self, device, sizes):
        if device == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
        global jax, jnp
        import jax
        import jax.numpy as jnp
        backend = jax.default_backend()
        if device == "cuda" and backend != "gpu":
            raise Missing(f"jax {jax.__version__} sees no GPU, only {backend}")
        self.sizes = sizes
        self.version = f"jax {jax.__version__} on {backend}"
        self.keys = iter(jax.random.split(jax.random.PRNGKey(0), 100))

    def wait(self, result):
        jax.block_until_ready(result)

    def forget(self):
        jax.clear_caches()

    def random(self, dtype, *dims, scale=1):
        return jax.random.uniform(next(self.keys), dims, dtype, -scale, scale)

    def calling(self, fn, *arguments):
        fn = jax.jit(fn)
        self.wait(arguments)
        return lambda: fn(*arguments)

    def program(self, path):
        """One run of a StableHLO file, over the arguments that gpu_bench has."""
        return peers_program.Program(path, jax.devices()[0])

    def square(self):
        return self.random(jnp.float32, self.sizes.k16, self.sizes.k16)

    def flat(self):
        return self.random(jnp.float32, self.sizes.k4 * self.sizes.k4)

    def chain10_1in(self):
        def chain(x):
            for _ in range(5):
                x = x * 0.9 + 0.5
            return x
        return self.calling(chain, self.square())

    @staticmethod
    def chain(turns):
        def fn(x, y):
            v = x
            for _ in range(turns):
                v = v * y + 0.5
            return v
        return fn

    def chain10_2in(self):
        return self.calling(self.chain(5), self.square(), self.square())

    def softmax(self, dtype):
        x = self.random(dtype, self.sizes.k8, self.sizes.k8, scale=4)
        return self.calling(lambda x: jax.nn.softmax(x, axis=-1), x)

    def softmax_bf16(self):
        return self.softmax(jnp.bfloat16)

    def softmax_f32(self):
        return self.softmax(jnp.float32)

    @staticmethod
    def layer_norm(x, scale, shift):
        wide = x.astype(jnp.float32)
        centered = wide - wide.mean(-1, keepdims=True)
        variance = jnp.square(centered).mean(-1, keepdims=True)
        normal = centered * jax.lax.rsqrt(variance + 1e-5)
        return (normal * scale.astype(jnp.float32)
                + shift.astype(jnp.float32)).astype(x.dtype)

    def norm_arguments(self):
        k16, k4 = self.sizes.k16, self.sizes.k4
        return [self.random(jnp.bfloat16, *dims)
                for dims in [(k16, k4), (k4,), (k4,)]]

    def layernorm_bf16(self):
        return self.calling(self.layer_norm, *self.norm_arguments())

    def layernorm_backward_bf16(self):
        x, scale, shift = self.norm_arguments()
        dy = self.random(jnp.bfloat16, *x.shape)

        def backward(x, scale, shift, dy):
            return jax.vjp(self.layer_norm, x, scale, shift)[1](dy)
        return self.calling(backward, x, scale, shift, dy)

    def reduce_all_f32(self):
        return self.calling(lambda x: x.sum(), self.square())

    def reduce_row_f32(self):
        return self.calling(lambda x: x.sum(1), self.square())

    def reduce_column_f32(self):
        return self.calling(lambda x: x.sum(0), self.square())

    def gemm(self, dtype, size, precision):
        return self.calling(
            lambda x, y: jnp.dot(x, y, precision=precision),
            self.random(dtype, size, size), self.random(dtype, size, size))

    def gemm_bf16_4096(self):
        return self.gemm(jnp.bfloat16, self.sizes.k4, None)

    def gemm_bf16_8192(self):
        return self.gemm(jnp.bfloat16, self.sizes.k8, None)

    def gemm_tf32_8192(self):
        return self.gemm(jnp.float32, self.sizes.k8,
                         jax.lax.Precision.DEFAULT)

    def gemm_f32_8192(self):
        return self.gemm(jnp.float32, self.sizes.k8,
                         jax.lax.Precision.HIGHEST)

    def gemm_bias_gelu_bf16(self):
        s = self.sizes
        return self.calling(
            lambda x, w, b: jax.nn.gelu(jnp.dot(x, w) + b, approximate=True),
            self.random(jnp.bfloat16, s.k8, s.k4),
            self.random(jnp.bfloat16, s.k4, s.k16, scale=s.small),
            self.random(jnp.bfloat16, s.k16))

    def mlp_sgd_bf16(self):
        s, half = self.sizes, jnp.bfloat16
        weights = [
            self.random(half, s.k4, s.k16, scale=s.small),
            self.random(half, s.k16, scale=s.small),
            self.random(half, s.k16, s.k4, scale=s.tiny),
            self.random(half, s.k4, scale=s.tiny)]
        x, y = self.random(half, s.k8, s.k4), self.random(half, s.k8, s.k4)
        self.wait((weights, x, y))

        def loss(weights, x, y):
            w1, b1, w2, b2 = weights
            hidden = jnp.maximum(jnp.dot(x, w1) + b1, 0)
            return jnp.square(jnp.dot(hidden, w2) + b2 - y).mean()

        def step(weights, x, y):
            value, gradients = jax.value_and_grad(loss)(weights, x, y)
            return [w - 0.1 * g for w, g in zip(weights, gradients)], value
        step = jax.jit(step, donate_argnums=0)

        def run():
            nonlocal weights
            weights, value = step(weights, x, y)
            return value
        return run

    def sort_f32(self):
        return self.calling(jnp.sort, self.flat())

    def argsort_f32(self):
        return self.calling(lambda x: jnp.argsort(x).astype(jnp.float32),
                            self.flat())

    def top_k_f32(self):
        def top(x):
            values, indices = jax.lax.top_k(x, 8)
            return values, indices.astype(jnp.float32)
        k4 = self.sizes.k4
        return self.calling(top, self.random(jnp.float32, k4, k4))

    def cumsum_f32(self):
        return self.calling(jnp.cumsum, self.flat())

    def transpose_f32(self):
        return self.calling(lambda x: x.T, self.square())

    def random_normal_f32(self):
        def normals(x):
            return jax.random.normal(jax.random.key(1), x.shape) + x[0]
        return self.calling(normals, self.flat())

    def small_graph_f32(self):
        x, y = (self.random(jnp.float32, self.sizes.k4) for _ in range(2))
        return self.calling(self.chain(10), x, y)

    def while_1000_f32(self):
        def turn(_, v):
            return jnp.maximum(v * 0.999 + 0.001, -0.5)

        def loop(v):
            return jax.lax.fori_loop(0, self.sizes.turns, turn, v)
        return self.calling(loop, self.random(jnp.float32, self.sizes.k4))
