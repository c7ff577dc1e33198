"""The workloads by CuPy: chains by its `fuse`, reductions, products, a
transpose. It has no bfloat16 and no compiled loops.

A method named like a workload makes its arguments and returns a function that
queues one run.
"""

import cupy

from peer import Missing


@cupy.fuse()
def chain10_1in(x):
    for _ in range(5):
        x = x * 0.9 + 0.5
    return x


@cupy.fuse()
def chain10_2in(x, y):
    v = x
    for _ in range(5):
        v = v * y + 0.5
    return v


@cupy.fuse()
def chain20(x, y):
    v = x
    for _ in range(10):
        v = v * y + 0.5
    return v


class Cupy:
    def __init__(self, device, sizes):
        if device != "cuda":
            raise Missing("cupy has no CPU")
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise Missing(f"cupy {cupy.__version__}: {error}") from error
        self.sizes = sizes
        self.version = f"cupy {cupy.__version__}"

    def wait(self, result):
        cupy.cuda.Device().synchronize()

    def forget(self):
        cupy.get_default_memory_pool().free_all_blocks()

    def random(self, *dims):
        return cupy.random.uniform(-1, 1, dims, dtype=cupy.float32)

    def square(self):
        return self.random(self.sizes.k16, self.sizes.k16)

    def flat(self):
        return self.random(self.sizes.k4 * self.sizes.k4)

    def chain10_1in(self):
        x = self.square()
        return lambda: chain10_1in(x)

    def chain10_2in(self):
        x, y = self.square(), self.square()
        return lambda: chain10_2in(x, y)

    def reduce(self, axis):
        x = self.square()
        return lambda: x.sum(axis=axis)

    def reduce_all_f32(self):
        return self.reduce(None)

    def reduce_row_f32(self):
        return self.reduce(1)

    def reduce_column_f32(self):
        return self.reduce(0)

    def gemm_f32_8192(self):
        x, y = (self.random(self.sizes.k8, self.sizes.k8) for _ in range(2))
        return lambda: x @ y

    def sort_f32(self):
        x = self.flat()
        return lambda: cupy.sort(x)

    def argsort_f32(self):
        x = self.flat()
        return lambda: cupy.argsort(x).astype(cupy.float32)

    def cumsum_f32(self):
        x = self.flat()
        return lambda: cupy.cumsum(x)

    def transpose_f32(self):
        x = self.square()
        return lambda: cupy.ascontiguousarray(x.T)

    def random_normal_f32(self):
        """By cuRAND's XORWOW."""
        x = self.flat()
        return lambda: cupy.random.standard_normal(
            x.size, dtype=cupy.float32) + x[0]

    def small_graph_f32(self):
        x, y = self.random(self.sizes.k4), self.random(self.sizes.k4)
        return lambda: chain20(x, y)
