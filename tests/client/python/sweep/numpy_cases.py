"""Rows of jax.numpy that are a function of each element, or fold an array."""

import jax.numpy as jnp

from case import ALL, COMPLEX, FLOATS, INEXACT, INTEGERS, REALS, Row

UNARY = """
    abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh
    asin asinh atan atanh cbrt ceil conj conjugate cos cosh deg2rad degrees exp
    exp2 expm1 fabs fix floor frexp i0 imag iscomplex isfinite isinf isnan
    isneginf isposinf isreal log log10 log1p log2 logical_not modf nan_to_num
    negative positive rad2deg radians real reciprocal rint sign signbit sin sinc
    sinh spacing sqrt square tan tanh trunc round around copy ravel array asarray
    atleast_1d atleast_2d atleast_3d size ndim shape iscomplexobj isrealobj
    zeros_like ones_like empty_like invert bitwise_not bitwise_invert
    bitwise_count
"""
BINARY = """
    add arctan2 atan2 bitwise_and bitwise_or bitwise_xor copysign divide
    divmod equal float_power floor_divide fmax fmin fmod gcd greater greater_equal
    heaviside hypot isclose lcm less less_equal logaddexp logaddexp2 logical_and
    logical_or logical_xor maximum minimum mod multiply nextafter not_equal
    polyadd polysub pow power remainder subtract true_divide
"""
SHIFTS = """
    left_shift right_shift bitwise_left_shift bitwise_right_shift
"""
FOLDS = """
    all amax amin any argmax argmin average count_nonzero max mean median min
    nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod nanstd nansum
    nanvar prod ptp std sum var
"""
SCANS = "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum"
SORTS = "argsort sort"


def elementwise():
    for name in UNARY.split():
        if not hasattr(jnp, name):
            continue
        yield Row(name, "T[m,n]", dtypes=ALL,
                  variants=("one", "empty", "special", "grad", "vmap"))
        yield Row(name, "T[]", dtypes=("f32", "i32", "bf16", "c64"))
        yield Row(name, "T[3,257]", dtypes=("f32", "bf16", "f64", "c64"))
    for name in BINARY.split():
        dims = ("n", "n") if name.startswith("poly") else ("m,n", "m,n")
        yield Row(name, f"T[{dims[0]}] T[{dims[1]}]", dtypes=ALL,
                  variants=("one", "empty", "special", "grad", "vmap"))
        if not name.startswith("poly"):
            yield Row(name, "T[m,1] T[n]", dtypes=("f32", "i32", "u8", "f64"))
            yield Row(name, "T[m,n] T[]", dtypes=("f32", "i32", "bf16", "c64"))
            yield Row(name, "T[m,n] i32[m,n]", dtypes=("f32", "i8", "u32", "bool"))
            yield Row(name, "T[5,130] T[5,130]", dtypes=("f32", "i16", "f16"))
    for name in SHIFTS.split():
        yield Row(name, "T[m,n] T[m,n]<7", dtypes=INTEGERS,
                  variants=("one", "empty", "vmap"))
        yield Row(name, "T[m,n] T[m,n]", dtypes=("i32", "u8"))
    yield Row("ldexp", "T[m,n] i32[m,n]", dtypes=FLOATS,
              variants=("special", "empty", "vmap"))


def folds():
    for name in FOLDS.split():
        function = getattr(jnp, name)
        yield Row(name, "T[m,n]", dtypes=ALL,
                  variants=("one", "empty", "special", "grad", "vmap"))
        for axis in (0, 1):
            yield Row(name, "T[m,n]", lambda a, f=function, x=axis: f(a, axis=x),
                      dtypes=("f32", "i32", "f16", "c64", "bool"),
                      variants=("one", "empty", "special", "grad", "vmap"))
        yield Row(name, "T[m,40,n]", lambda a, f=function: f(a, axis=1),
                  dtypes=("f32", "bf16", "i8", "f64"))
        if name not in ("nanargmax", "nanargmin", "argmax", "argmin"):
            yield Row(name, "T[m,n,k]", lambda a, f=function: f(a, axis=(0, 2)),
                      dtypes=("f32", "u8"))
        yield Row(name, "T[m,n]",
                  lambda a, f=function: f(a, axis=1, keepdims=True))
    for name in SCANS.split():
        function = getattr(jnp, name)
        yield Row(name, "T[n]", dtypes=ALL,
                  variants=("one", "empty", "special", "grad", "vmap"))
        if not name.startswith("cumulative"):
            yield Row(name, "T[m,n]", lambda a, f=function: f(a, axis=1),
                      dtypes=("f32", "i32", "bf16", "c64"), variants=("grad",))
    for name in SORTS.split():
        function = getattr(jnp, name)
        yield Row(name, "T[m,n]", dtypes=ALL,
                  variants=("one", "empty", "special", "grad", "vmap"))
        yield Row(name, "T[m,n]", lambda a, f=function: f(a, axis=0),
                  dtypes=("f32", "i32", "c64"), variants=("special", "grad"))
        yield Row(name, "T[2,300]", lambda a, f=function: f(a, descending=True),
                  dtypes=("f32", "i32", "u8", "bf16", "bool"))
    for name in ("mean", "sum", "max", "std", "var", "nanmean"):
        function = getattr(jnp, name)
        extra = {"initial": 0} if name == "max" else {}
        yield Row(name, "T[m,n] bool[m,n]",
                  lambda a, w, f=function, e=extra: f(a, where=w, **e),
                  dtypes=("f32", "i32", "c64"), variants=("empty", "vmap"))


QUANTILES = "quantile nanquantile percentile nanpercentile"


def numeric():
    """What has more numbers in it than a fold."""
    for name in QUANTILES.split():
        function, scale = getattr(jnp, name), 100 if "perc" in name else 1
        for method in ("linear", "lower", "nearest", "midpoint"):
            yield Row(name, "T[m,n] f32[3]u",
                      lambda a, q, f=function, s=scale, how=method: f(
                          a, q * s, axis=1, method=how),
                      dtypes=("f32", "i32", "f64"),
                      variants=("one", "special", "grad", "vmap"))
    yield Row("allclose", "T[m,n] T[m,n]", dtypes=("f32", "i32", "c64", "bool"),
              variants=("special", "empty"))
    for name in ("array_equal", "array_equiv"):
        yield Row(name, "T[m,n] T[m,n]", dtypes=("f32", "i32", "c64", "bool"),
                  variants=("special", "empty"))
    yield Row("average", "T[m,n] T[n]+", lambda a, w: jnp.average(
        a, axis=1, weights=w), dtypes=INEXACT, variants=("grad", "vmap"))
    yield Row("clip", "T[m,n]", lambda a: jnp.clip(a, -1, 2), dtypes=REALS,
              variants=("special", "empty", "grad", "vmap"))
    yield Row("convolve", "T[n] T[3]", dtypes=("f32", "i32", "c64"),
              variants=("grad", "vmap"))
    yield Row("correlate", "T[n] T[3]", dtypes=("f32", "i32", "c64"),
              variants=("grad", "vmap"))
    yield Row("corrcoef", "T[3,9]", dtypes=("f32", "f64", "c64"))
    yield Row("cov", "T[3,9]", dtypes=("f32", "f64", "c64", "i32"),
              variants=("grad", "vmap"))
    yield Row("cross", "T[m,3] T[m,3]", dtypes=("f32", "i32", "c64", "bf16"),
              variants=("empty", "grad", "vmap"))
    yield Row("gradient", "T[5,n]", lambda a: jnp.gradient(a, axis=0),
              dtypes=INEXACT, variants=("grad", "vmap"))
    yield Row("interp", "T[n] T[5]^ T[5]", dtypes=("f32", "f64", "bf16"),
              variants=("special", "empty", "grad", "vmap"))
    for name in ("trapezoid",):
        yield Row(name, "T[m,n]", dtypes=INEXACT + ("i32",),
                  variants=("one", "empty", "grad", "vmap"))
    yield Row("unwrap", "T[m,n]", dtypes=FLOATS, variants=("empty", "vmap"))
    yield Row("ediff1d", "T[m,n]", dtypes=REALS + COMPLEX, variants=("one", "grad"))
    yield Row("diff", "T[m,n]", dtypes=ALL, variants=("one", "empty", "grad", "vmap"))
    yield Row("diff", "T[5,n]", lambda a: jnp.diff(a, n=2, axis=0),
              dtypes=("f32", "i32"))
    for name in ("poly", "polyder", "polyint"):
        yield Row(name, "T[4]", dtypes=("f32", "f64", "c64"), variants=("vmap",))
    yield Row("polymul", "T[4] T[n]", dtypes=("f32", "i32", "c64"))
    yield Row("polydiv", "T[5]+ T[3]+", dtypes=("f32", "f64", "c64"))
    yield Row("polyval", "T[4] T[n]", dtypes=("f32", "i32", "c64", "f64"),
              variants=("empty", "grad", "vmap"))
    yield Row("polyfit", "T[9]! T[9]", lambda x, y: jnp.polyfit(x, y, 2),
              dtypes=("f32", "f64"))
    yield Row("roots", "T[4]+", lambda p: jnp.roots(p, strip_zeros=False),
              dtypes=("f32", "f64"))
    yield Row("nan_to_num", "T[m,n]", lambda a: jnp.nan_to_num(
        a, nan=7.0, posinf=1.0, neginf=-1.0), dtypes=INEXACT,
        variants=("special", "grad"))
    yield Row("round", "T[m,n]", lambda a: jnp.round(a, 1), dtypes=INEXACT,
              variants=("special", "empty"))
    yield Row("where", "bool[m,n] T[m,n] T[m,n]", dtypes=ALL,
              variants=("special", "empty", "grad", "vmap"))
    yield Row("isin", "T[m,n] T[k]", dtypes=("f32", "i32", "u8", "bool"),
              variants=("empty", "special"))
    yield Row("astype", "T[m,n]", lambda a: [
        jnp.astype(a, to) for to in ("int8", "uint32", "float16", "bfloat16",
                                     "float32", "bool", "int32")],
        dtypes=REALS + ("bool",), variants=("empty", "vmap"))
    yield Row("astype", "T[m,n]", lambda a: jnp.astype(a, "complex64"), dtypes=ALL)


ROWS = (elementwise, folds, numeric)
