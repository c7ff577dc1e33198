"""The workloads by PyTorch, eager and compiled.

A method named like a workload makes its arguments and returns a function that
queues one run.
"""

import gc

import torch
import torch.nn.functional as F

from peer import Missing

BF16, F32 = torch.bfloat16, torch.float32


def chain10_1in(x):
    for _ in range(5):
        x = x * 0.9 + 0.5
    return x


def chain10_2in(x, y):
    v = x
    for _ in range(5):
        v = v * y + 0.5
    return v


def chain20(x, y):
    v = x
    for _ in range(10):
        v = v * y + 0.5
    return v


def softmax(x):
    return torch.softmax(x, -1)


def layer_norm(x, scale, shift):
    return F.layer_norm(x, x.shape[-1:], scale, shift)


def layer_norm_gradient(x, scale, dy):
    """By its formula, for compilers; eager has it in its library."""
    wide, dy = x.float(), dy.float()
    variance, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
    r = torch.rsqrt(variance + 1e-5)
    normal, g = (wide - mean) * r, dy * scale.float()
    dx = r * (g - g.mean(-1, keepdim=True)
              - normal * (g * normal).mean(-1, keepdim=True))
    return (dx.to(x.dtype), (dy * normal).sum(0).to(x.dtype),
            dy.sum(0).to(x.dtype))


def sum_all(x):
    return x.sum()


def sum_row(x):
    return x.sum(1)


def sum_column(x):
    return x.sum(0)


def product(x, y):
    return x @ y


def dense_gelu(x, w, b):
    return F.gelu(torch.addmm(b, x, w), approximate="tanh")


def loss_of(w1, b1, w2, b2, x, y):
    hidden = torch.relu(torch.addmm(b1, x, w1))
    return (torch.addmm(b2, hidden, w2) - y).square().mean()


def descend(weights, gradients):
    for weight, gradient in zip(weights, gradients):
        weight.sub_(gradient, alpha=0.1)


def transpose(x):
    return x.t().contiguous()


def turn(v):
    return torch.clamp_min(v * 0.999 + 0.001, -0.5)


class Eager:
    def __init__(self, device, sizes):
        if device == "cuda" and not torch.cuda.is_available():
            raise Missing(f"torch {torch.__version__} sees no GPU")
        self.device, self.sizes = device, sizes
        self.version = f"torch {torch.__version__} on {device}"

    def wait(self, result):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def forget(self):
        gc.collect()
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def prepared(self, fn, latency=False):
        """The function as it is called."""
        return fn

    def random(self, dtype, *dims, scale=1):
        made = torch.empty(dims, dtype=dtype, device=self.device)
        return made.uniform_(-scale, scale)

    def calling(self, fn, *arguments, latency=False):
        fn = self.prepared(fn, latency)

        def run():
            with torch.no_grad():
                return fn(*arguments)
        return run

    def square(self):
        return self.random(F32, self.sizes.k16, self.sizes.k16)

    def flat(self):
        return self.random(F32, self.sizes.k4 * self.sizes.k4)

    def chain10_1in(self):
        return self.calling(chain10_1in, self.square())

    def chain10_2in(self):
        return self.calling(chain10_2in, self.square(), self.square())

    def softmax_bf16(self):
        k8 = self.sizes.k8
        return self.calling(softmax, self.random(BF16, k8, k8, scale=4))

    def softmax_f32(self):
        k8 = self.sizes.k8
        return self.calling(softmax, self.random(F32, k8, k8, scale=4))

    def norm_arguments(self):
        k16, k4 = self.sizes.k16, self.sizes.k4
        return (self.random(BF16, k16, k4), self.random(BF16, k4),
                self.random(BF16, k4))

    def layernorm_bf16(self):
        return self.calling(layer_norm, *self.norm_arguments())

    def layernorm_backward_bf16(self):
        wanted = [a.requires_grad_() for a in self.norm_arguments()]
        y = layer_norm(*wanted)
        dy = self.random(BF16, *y.shape)
        return lambda: torch.autograd.grad(y, wanted, dy, retain_graph=True)

    def reduce_all_f32(self):
        return self.calling(sum_all, self.square())

    def reduce_row_f32(self):
        return self.calling(sum_row, self.square())

    def reduce_column_f32(self):
        return self.calling(sum_column, self.square())

    def gemm(self, dtype, size, precision="highest"):
        torch.set_float32_matmul_precision(precision)
        return self.calling(product, self.random(dtype, size, size),
                            self.random(dtype, size, size))

    def gemm_bf16_4096(self):
        return self.gemm(BF16, self.sizes.k4)

    def gemm_bf16_8192(self):
        return self.gemm(BF16, self.sizes.k8)

    def gemm_tf32_8192(self):
        return self.gemm(F32, self.sizes.k8, "high")

    def gemm_f32_8192(self):
        return self.gemm(F32, self.sizes.k8)

    def gemm_bias_gelu_bf16(self):
        s = self.sizes
        return self.calling(
            dense_gelu, self.random(BF16, s.k8, s.k4),
            self.random(BF16, s.k4, s.k16, scale=s.small),
            self.random(BF16, s.k16))

    def mlp_sgd_bf16(self):
        s = self.sizes
        weights = [
            self.random(BF16, s.k4, s.k16, scale=s.small),
            self.random(BF16, s.k16, scale=s.small),
            self.random(BF16, s.k16, s.k4, scale=s.tiny),
            self.random(BF16, s.k4, scale=s.tiny)]
        for weight in weights:
            weight.requires_grad_()
        x, y = self.random(BF16, s.k8, s.k4), self.random(BF16, s.k8, s.k4)
        loss, update = self.prepared(loss_of), self.prepared(descend)

        def run():
            value = loss(*weights, x, y)
            gradients = torch.autograd.grad(value, weights)
            with torch.no_grad():
                update(weights, gradients)
            return value.detach()
        return run

    def sort_f32(self):
        return self.calling(lambda x: torch.sort(x).values, self.flat())

    def argsort_f32(self):
        return self.calling(lambda x: torch.argsort(x, stable=True).to(F32),
                            self.flat())

    def top_k_f32(self):
        k4 = self.sizes.k4

        def top(x):
            values, indices = torch.topk(x, 8)
            return values, indices.to(F32)
        return self.calling(top, self.random(F32, k4, k4))

    def cumsum_f32(self):
        return self.calling(lambda x: torch.cumsum(x, 0), self.flat())

    def transpose_f32(self):
        return self.calling(transpose, self.square())

    def random_normal_f32(self):
        """By Philox, of ten rounds in 32 bits; ours and JAX's is Threefry."""
        return self.calling(lambda x: torch.randn_like(x) + x[0], self.flat())

    def small_graph_f32(self):
        k4 = self.sizes.k4
        return self.calling(chain20, self.random(F32, k4), self.random(F32, k4),
                            latency=True)

    def while_1000_f32(self):
        """A loop in Python: torch has no other that is not unrolled."""
        start, step = self.random(F32, self.sizes.k4), self.prepared(turn)

        def run():
            with torch.no_grad():
                v = start
                for _ in range(self.sizes.turns):
                    v = step(v)
                return v
        return run


class Compiled(Eager):
    def __init__(self, device, sizes):
        if not hasattr(torch, "compile"):
            raise Missing(f"torch {torch.__version__} has no compile")
        super().__init__(device, sizes)

    def forget(self):
        torch._dynamo.reset()
        super().forget()

    def prepared(self, fn, latency=False):
        mode = "reduce-overhead" if latency else None
        return torch.compile(fn, dynamic=False, mode=mode)

    def layernorm_backward_bf16(self):
        x, scale, _ = self.norm_arguments()
        dy = self.random(BF16, *x.shape)
        return self.calling(layer_norm_gradient, x, scale, dy)
