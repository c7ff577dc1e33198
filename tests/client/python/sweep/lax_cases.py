"""Rows of jax.lax: JAX's own table of its elementwise ops, and the rest by hand."""

import jax
import jax.numpy as jnp
from jax import lax

from case import ALL, COMPLEX, FLOATS, INEXACT, INTEGERS, REALS, Row

SOME = ("f32", "i32", "bf16", "bool", "c64", "u8", "i64")
USUAL = ("one", "empty", "grad", "vmap")
PLAIN = lax.GatherScatterMode.FILL_OR_DROP


def gathered(a, i, mode=PLAIN):
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    return lax.gather(a, i[:, None], numbers, (1, a.shape[1]), mode=mode)


def scattered(scatter, mode=PLAIN):
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,))
    return lambda a, i, v: scatter(a, i[:, None], v, numbers, mode=mode)


def windows_scattered(scatter, mode=PLAIN):
    """Windows of three, some of them partly outside."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(),
        scatter_dims_to_operand_dims=(0,))
    return lambda a, i, v: scatter(a, i[:, None], v, numbers, mode=mode)


def rooted(a):
    return lax.custom_root(
        lambda x: x ** 3 - a, jnp.ones_like(a),
        lambda f, x: lax.fori_loop(
            0, 30, lambda _, y: y - f(y) / (3 * y ** 2), x),
        lambda g, y: y / g(1.0))


def solved(a, b):
    return lax.custom_linear_solve(
        lambda x: a * x, b, lambda _, y: y / a, lambda _, y: y / a)


def named(call):
    """A function under an axis with a name, as in programs over devices."""
    return lambda a: jax.vmap(call, axis_name="i")(a)


# name, takes, call: dtypes are SOME, variants USUAL.
TABLE = (
    ("argmax", "T[m,n]", lambda a: lax.argmax(a, 1, jnp.int32)),
    ("argmin", "T[m,n]", lambda a: lax.argmin(a, 0, jnp.int32)),
    ("associative_scan", "T[m,n]", lambda a: lax.associative_scan(
        jnp.add, a, axis=1)),
    ("associative_scan", "T[m,n]", lambda a: lax.associative_scan(
        jnp.maximum, a, reverse=True)),
    ("batch_matmul", "T[2,m,n] T[2,n,k]", lax.batch_matmul),
    ("bitcast_convert_type", "T[m,4]", lambda a: lax.bitcast_convert_type(
        a, jnp.uint8)),
    ("broadcast", "T[m,n]", lambda a: lax.broadcast(a, (2, 3))),
    ("broadcast_in_dim", "T[m,n]", lambda a: lax.broadcast_in_dim(
        a, (a.shape[0], 2, a.shape[1]), (0, 2))),
    ("broadcast_like", "T[1,n] T[m,n]", lax.broadcast_like),
    ("broadcast_to_rank", "T[m,n]", lambda a: lax.broadcast_to_rank(a, 4)),
    ("clamp", "T[] T[m,n] T[]", lax.clamp),
    ("clamp", "T[m,n] T[m,n] T[m,n]", lax.clamp),
    ("collapse", "T[m,n,k]", lambda a: lax.collapse(a, 0, 2)),
    ("composite", "T[m,n]", lambda a: lax.composite(
        lambda x: x * 2 + 1, "mine.op")(a)),
    ("concatenate", "T[m,n] T[m,k]", lambda a, b: lax.concatenate([a, b], 1)),
    ("cond", "T[m,n]", lambda a: lax.cond(
        jnp.sum(jnp.abs(a)) > 3, lambda x: x + x, lambda x: x * 0, a)),
    ("convert_element_type", "T[m,n]", lambda a: lax.convert_element_type(
        a, jnp.float32)),
    ("cumlogsumexp", "T[m,n]", lambda a: lax.cumlogsumexp(a, 1)),
    ("cummax", "T[m,n]", lambda a: lax.cummax(a, 1)),
    ("cummin", "T[m,n]", lambda a: lax.cummin(a, 0, reverse=True)),
    ("cumprod", "T[m,n]", lambda a: lax.cumprod(a, 1)),
    ("cumsum", "T[m,n]", lambda a: lax.cumsum(a, 0, reverse=True)),
    ("custom_linear_solve", "T[n]+ T[n]", solved),
    ("custom_root", "T[]+", rooted),
    ("dot", "T[m,n] T[n,k]", lax.dot),
    ("dot_general", "T[2,m,n] T[2,k,n]", lambda a, b: lax.dot_general(
        a, b, (((2,), (2,)), ((0,), (0,))))),
    ("dynamic_index_in_dim", "T[m,5] i32[]", lambda a, i: (
        lax.dynamic_index_in_dim(a, i, 1))),
    ("dynamic_slice", "T[6,n] i32[]", lambda a, i: lax.dynamic_slice(
        a, (i, 0), (3, a.shape[1]))),
    ("dynamic_slice_in_dim", "T[m,6] i32[]", lambda a, i: (
        lax.dynamic_slice_in_dim(a, i, 4, 1))),
    ("dynamic_update_index_in_dim", "T[m,5] T[m] i32[]", lambda a, v, i: (
        lax.dynamic_update_index_in_dim(a, v, i, 1))),
    ("dynamic_update_slice", "T[6,n] T[2,n] i32[]", lambda a, v, i: (
        lax.dynamic_update_slice(a, v, (i, 0)))),
    ("dynamic_update_slice_in_dim", "T[m,6] T[m,2] i32[]", lambda a, v, i: (
        lax.dynamic_update_slice_in_dim(a, v, i, 1))),
    ("expand_dims", "T[m,n]", lambda a: lax.expand_dims(a, (0, 2))),
    ("fori_loop", "T[m,n]", lambda a: lax.fori_loop(
        0, 5, lambda i, x: x + i.astype(x.dtype) * x, a)),
    ("full_like", "T[m,n]", lambda a: lax.full_like(a, 1)),
    ("gather", "T[6,n] i32[4]", gathered),
    ("gather", "T[6,n] i32[4]", lambda a, i: gathered(a, i, "clip")),
    ("gather", "T[6,n] i32[4]<6", lambda a, i: gathered(
        a, i, "promise_in_bounds")),
    ("index_in_dim", "T[m,5]", lambda a: lax.index_in_dim(a, 3, 1)),
    ("index_take", "T[6,n] i32[4]<6", lambda a, i: lax.index_take(a, (i,), (0,))),
    ("integer_pow", "T[m,n]", lambda a: lax.integer_pow(a, 3)),
    ("integer_pow", "T[m,n]+", lambda a: lax.integer_pow(a, -2)),
    ("map", "T[m,n]", lambda a: lax.map(lambda x: x * x, a)),
    ("map", "T[m,n]", lambda a: lax.map(lambda x: x * x, a, batch_size=2)),
    ("optimization_barrier", "T[m,n]", lax.optimization_barrier),
    ("pad", "T[m,n] T[]", lambda a, v: lax.pad(a, v, ((1, 2, 1), (0, -1, 0)))),
    ("platform_dependent", "T[m,n]", lambda a: lax.platform_dependent(
        a, default=lambda x: x + x, tpu=lambda x: x)),
    ("ragged_dot", "T[6,n] T[3,n,k]", lambda a, b: lax.ragged_dot(
        a, b, jnp.array([1, 3, 2], jnp.int32))),
    ("ragged_dot_general", "T[6,n] T[3,n,k]", lambda a, b: lax.ragged_dot_general(
        a, b, jnp.array([1, 3, 2], jnp.int32), lax.RaggedDotDimensionNumbers(
            (((1,), (1,)), ((), ())), [0], [0]))),
    ("reduce", "T[m,n]", lambda a: lax.reduce(
        a, jnp.zeros((), a.dtype), lax.add, (1,))),
    ("reduce", "T[m,n]", lambda a: lax.reduce(
        (a, a), (jnp.zeros((), a.dtype), jnp.ones((), a.dtype)),
        lambda x, y: (x[0] + y[0], x[1] * y[1]), (0,))),
    ("reduce_precision", "T[m,n]", lambda a: lax.reduce_precision(a, 5, 7)),
    ("reshape", "T[4,n]", lambda a: lax.reshape(a, (2, 2 * a.shape[1]))),
    ("rev", "T[m,n]", lambda a: lax.rev(a, (1,))),
    ("scan", "T[m,n]", lambda a: lax.scan(
        lambda c, r: (c + r, c * r), jnp.zeros(a.shape[1], a.dtype), a)),
    ("scan", "T[6,n]", lambda a: lax.scan(
        lambda c, r: (c * r, c), jnp.ones(a.shape[1], a.dtype), a,
        reverse=True, unroll=2)),
    ("select", "bool[m,n] T[m,n] T[m,n]", lax.select),
    ("select_n", "i32[m,n]<3 T[m,n] T[m,n] T[m,n]", lax.select_n),
    ("shape_as_value", "T[m,n]", lambda a: lax.shape_as_value(a.shape)),
    ("slice", "T[6,n]", lambda a: lax.slice(a, (1, 0), (6, a.shape[1]), (2, 1))),
    ("slice_in_dim", "T[m,6]", lambda a: lax.slice_in_dim(a, 1, 5, 2, 1)),
    ("sort", "T[m,n]", lambda a: lax.sort(a, 0)),
    ("sort", "T[m,n] T[m,n]", lambda a, b: lax.sort((a, b), num_keys=2)),
    ("sort_key_val", "T[m,n] i32[m,n]", lax.sort_key_val),
    ("split", "T[6,n]", lambda a: lax.split(a, (1, 2, 3))),
    ("squeeze", "T[1,m,n]", lambda a: lax.squeeze(a, (0,))),
    ("stack", "T[m,n] T[m,n]", lambda a, b: lax.stack([a, b], 1)),
    ("stop_gradient", "T[m,n]", lax.stop_gradient),
    ("switch", "i32[] T[m,n]", lambda i, a: lax.switch(
        i, [lambda x: x + x, lambda x: x * x, lambda x: x], a)),
    ("tile", "T[m,n]", lambda a: lax.tile(a, (2, 3))),
    ("top_k", "T[m,7]", lambda a: lax.top_k(a, 3)),
    ("transpose", "T[m,n,k]", lambda a: lax.transpose(a, (2, 0, 1))),
    ("unstack", "T[3,n]", lax.unstack),
    ("while_loop", "T[m,n]", lambda a: lax.while_loop(
        lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] + a), (0, a))),
    ("approx_max_k", "T[m,40]", lambda a: lax.approx_max_k(a, 4)),
    ("approx_min_k", "T[m,40]", lambda a: lax.approx_min_k(a, 4)),
    ("dce_sink", "T[m,n]", lambda a: (lax.dce_sink(a), a)[1]),
    ("stage", "T[m,n]", lax.stage),
    ("with_sharding_constraint", "T[m,n]", lambda a: (
        lax.with_sharding_constraint(a, jax.sharding.SingleDeviceSharding(
            jax.config.jax_default_device)))),
    ("axis_index", "T[m,n]", named(lambda x: x + lax.axis_index(
        "i").astype(x.dtype))),
    ("axis_size", "T[m,n]", named(lambda x: x * lax.axis_size("i"))),
    ("psum", "T[m,n]", named(lambda x: lax.psum(x, "i"))),
    ("pmax", "T[m,n]", named(lambda x: lax.pmax(x, "i"))),
    ("pmin", "T[m,n]", named(lambda x: lax.pmin(x, "i"))),
    ("pmean", "T[m,n]", named(lambda x: lax.pmean(x, "i"))),
    ("all_gather", "T[m,n]", named(lambda x: lax.all_gather(x, "i"))),
    ("all_to_all", "T[4,4]", named(lambda x: lax.all_to_all(x, "i", 0, 0))),
    ("ppermute", "T[3,n]", named(lambda x: lax.ppermute(
        x, "i", [(0, 1), (1, 2), (2, 0)]))),
    ("pshuffle", "T[3,n]", named(lambda x: lax.pshuffle(x, "i", [2, 0, 1]))),
    ("psum_scatter", "T[4,4]", named(lambda x: lax.psum_scatter(x, "i"))),
    ("pswapaxes", "T[4,4]", named(lambda x: lax.pswapaxes(x, "i", 0))),
    ("conv", "T[2,3,9] T[4,3,3]", lambda a, b: lax.conv(a, b, (2,), "SAME")),
    ("conv_general_dilated", "T[2,3,9,9] T[4,3,3,3]", lambda a, b: (
        lax.conv_general_dilated(a, b, (1, 2), "VALID"))),
    ("conv_general_dilated_local", "T[2,3,9] T[4,9,7]", lambda a, b: (
        lax.conv_general_dilated_local(a, b, (1,), "VALID", (3,)))),
    ("conv_general_dilated_patches", "T[2,3,9]", lambda a: (
        lax.conv_general_dilated_patches(a, (3,), (1,), "SAME"))),
    ("conv_transpose", "T[2,9,3] T[3,3,4]", lambda a, b: lax.conv_transpose(
        a, b, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))),
    ("conv_with_general_padding", "T[2,3,9] T[4,3,3]", lambda a, b: (
        lax.conv_with_general_padding(a, b, (1,), [(1, 2)], (1,), (2,)))),
    ("fft", "T[2,8]", lambda a: lax.fft(
        a.astype(jnp.complex64), lax.FftType.FFT, (8,))),
    ("reduce_window", "T[3,9]", lambda a: lax.reduce_window(
        a, jnp.zeros((), a.dtype), lax.add, (1, 3), (1, 2), "SAME")),
    ("reduce_window", "T[3,9]", lambda a: lax.reduce_window(
        a, jnp.zeros((), a.dtype), lax.max, (2, 3), (1, 2), "VALID")),
)

MATH = """
    igamma igammac igamma_grad_a random_gamma_grad zeta polygamma
"""
SCATTERS = "scatter scatter_add scatter_max scatter_min scatter_mul scatter_sub"
REDUCES = """
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor
"""


def by_hand():
    for name, takes, call in TABLE:
        yield Row(name, takes, call, dtypes=SOME, variants=USUAL)
    for name in MATH.split():
        yield Row(name, "T[m,n]+ T[m,n]+", dtypes=FLOATS,
                  variants=USUAL + ("special",))
    for name in REDUCES.split():
        function = getattr(lax, name)
        yield Row(name, "T[m,n,k]", lambda a, f=function: f(a, axes=(0, 2)),
                  dtypes=ALL, variants=USUAL + ("special",))
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        yield Row(name, "T[m,n] T[m,n]<7", dtypes=INTEGERS, variants=("empty",))
        yield Row(name, "T[m,n] T[m,n]", dtypes=INTEGERS)  # out of range
    for name in SCATTERS.split():
        for mode in ("clip", "drop", "promise_in_bounds"):
            below = "<6" if mode.startswith("promise") else ""
            yield Row(name, f"T[6,n] i32[4]{below} T[4,n]",
                      scattered(getattr(lax, name), mode),
                      dtypes=SOME, variants=USUAL)
            yield Row(name, f"T[9] i32[4]{below} T[4,3]",
                      windows_scattered(getattr(lax, name), mode),
                      dtypes=SOME, variants=("vmap",))
    yield Row("scatter_apply", "T[6] i32[3,1]<6", lambda a, i: lax.scatter_apply(
        a, i, jnp.sin, lax.ScatterDimensionNumbers((), (0,), (0,)),
        update_shape=(3,)),
        dtypes=FLOATS)
    yield Row("complex", "T[m,n] T[m,n]", dtypes=("f32", "f64"), variants=USUAL)


def made():
    for dtype in ("int32", "float32", "uint8", "bfloat16", "complex64", "bool"):
        yield Row("full", "", lambda d=dtype: lax.full((2, 3), 1, d))
        yield Row("iota", "", lambda d=dtype: lax.iota(d, 7))
        yield Row("broadcasted_iota", "", lambda d=dtype: lax.broadcasted_iota(
            d, (3, 4), 1))
    for algorithm in lax.RandomAlgorithm:
        for shape in ((), (5,), (3, 3), (2, 3, 4)):
            yield Row("rng_bit_generator", "u32[4]", lambda k, a=algorithm, s=shape:
                      lax.rng_bit_generator(k, s, algorithm=a))
        for dtype in ("uint8", "uint16", "uint64"):
            yield Row("rng_bit_generator", "u32[4]", lambda k, a=algorithm, d=dtype:
                      lax.rng_bit_generator(k, (4, 3), d, a), dtypes=("f64",))
    yield Row("convert_element_type", "T[m,n]", lambda a: [
        lax.convert_element_type(a, to) for to in (
            "int8", "uint32", "float16", "bfloat16", "float32", "bool",
            "int16", "uint8")], dtypes=REALS + ("bool",), variants=("empty",))
    for to in ("float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
        yield Row("convert_element_type", "T[m,n]", lambda a, t=to: (
            lax.convert_element_type(lax.convert_element_type(
                a, t), "float32")), dtypes=("f32", "i32"))
    yield Row("bitcast_convert_type", "T[m,n]", lambda a: (
        lax.bitcast_convert_type(a, "uint32")), dtypes=("f32", "i32"),
        variants=("special", "empty", "vmap"))
    yield Row("empty", "", lambda: lax.empty((2, 3), "float32"))
    yield Row("rng_uniform", "", lambda: lax.rng_uniform(0.0, 1.0, (3,)))
    yield Row("scaled_dot", "f32[2,64] f32[64,4]", lax.scaled_dot)
    yield Row("reduce_precision", "T[m,n]", lambda a: lax.reduce_precision(
        a, 8, 3), dtypes=FLOATS, variants=("special", "grad"))


def tables():
    """lax_test_util.lax_ops, JAX's table of its elementwise ops."""
    # pylint: disable=import-outside-toplevel
    from jax._src.internal_test_util import lax_test_util

    for record in lax_test_util.lax_ops():
        dims = " ".join(["T[m,n]"] * record.nargs)
        yield Row(record.op, dims, dtypes=INEXACT if record.op in (
            "real", "imag") else ALL, tolerance=record.tol,
                  variants=USUAL + ("special",))
        yield Row(record.op, " ".join(["T[]"] * record.nargs),
                  dtypes=("f32", "i32", "bool", "c64"), tolerance=record.tol)
        positive = " ".join(["T[3,65]+"] * record.nargs)
        yield Row(record.op, positive, dtypes=FLOATS + COMPLEX,
                  tolerance=record.tol)


ROWS = (by_hand, made, tables)
