"""When two results are the same.

Whole numbers and bools are equal. A float is off by at most TOLERANCE of the
largest of its size and the root mean square of its array, but 1: ten times what JAX's own tests allow between a function and
NumPy's (jax._src.public_test_util.default_tolerance: f32 1e-6, bf16 1e-2, f16
1e-3), since here neither side is the truth, and sums have another order. Of f64
they ask 1e-15 and name many exceptions up to 1e-9 (lax_test_util.lax_ops, "only
accurate to float32"); here it is 1e-12. A result that is further off is held to the
same function in the next wider dtype: it passes where it is as near to that as
JAX's own, or nearer (`nearer` below).
"""

import numpy as np

TOLERANCE = {
    "float16": 1e-2, "bfloat16": 3e-2, "float32": 1e-5, "complex64": 1e-5,
    "float64": 1e-12, "complex128": 1e-12,
}
EXACT = "biu"


def widened(array):
    """Floats as f64, complex numbers as c128."""
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    return array.astype(kind)


def is_exact(dtype):
    return np.dtype(dtype).kind in EXACT and np.dtype(dtype).name != "bfloat16"


def tolerance_of(dtype, stated):
    """`stated`: a number, a mapping from dtypes, or none."""
    if isinstance(stated, dict):
        stated = {np.dtype(key).name: value for key, value in stated.items()
                  }.get(np.dtype(dtype).name)
    return max(stated or 0, TOLERANCE.get(np.dtype(dtype).name, 0))


def coarsest(arguments):
    """The tolerance of the shortest float among these, which a function may
    have computed in: JAX has quantiles of f64 by weights of f32."""
    return max((TOLERANCE[np.dtype(a.dtype).name] for a in arguments
                if np.dtype(a.dtype).name in TOLERANCE), default=0)


def adjoint(matrix):
    return np.conj(np.swapaxes(matrix, -1, -2))


def made_of_lower(results):
    """What a Cholesky factor is a factor of, the sizes of its rows, and whether
    its diagonal is positive. What lies above that is undefined. The product is
    of rows of size 1, to which its errors are relative."""
    lower = np.tril(widened(results[0]))
    diagonal = np.diagonal(lower, axis1=-2, axis2=-1)
    sizes = np.linalg.norm(lower, axis=-1, keepdims=True)
    rows = lower / sizes
    return [(rows @ adjoint(rows)).astype(results[0].dtype),
            sizes.astype(results[0].real.dtype),
            np.all(diagonal.real > 0) & np.all(diagonal.imag == 0)]


def made_of_vectors(results):
    """What eigenvectors and eigenvalues are of, and the products of the vectors:
    these are known but for a factor of size 1 each."""
    vectors, values = (widened(result) for result in results)
    return [((vectors * values[..., None, :]) @ adjoint(vectors)).astype(
        results[0].dtype), (adjoint(vectors) @ vectors).astype(
            results[0].dtype), results[1]]


def errors(want, got):
    """How far each element is off, in sizes; inf where one is NaN or infinite
    and the other not."""
    want, got = widened(want), widened(got)
    with np.errstate(all="ignore"):
        parts = [(want.real, got.real), (want.imag, got.imag)] if (
            want.dtype.kind == "c") else [(want, got)]
        finite = np.abs(want[np.isfinite(want)])
        usual = np.sqrt((finite ** 2).mean()) if finite.size else 1
        usual = usual or 1
        size = np.maximum(np.abs(want), np.clip(usual, 1e-300, 1))
        off = np.zeros(want.shape)
        for one, other in parts:
            same = (one == other) | (np.isnan(one) & np.isnan(other))
            apart = np.abs(one - other) / size
            apart = np.where(np.isnan(apart), np.inf, apart)
            off = np.maximum(off, np.where(same, 0, apart))
    return off


def difference(want, got, stated=None):
    """None when equal enough, else what differs, in words."""
    if want.dtype != got.dtype:
        return f"dtype {got.dtype}, not {want.dtype}"
    if want.shape != got.shape:
        return f"shape {got.shape}, not {want.shape}"
    if is_exact(want.dtype):
        bad = want != got
    elif want.dtype.kind not in "fcV" or want.dtype.names:
        return None if np.array_equal(want, got) else "other values"
    else:
        bad = errors(want, got) > tolerance_of(want.dtype, stated)
    if not bad.any():
        return None
    where = np.argwhere(bad)[0]
    at = tuple(int(i) for i in where)
    return (f"{int(bad.sum())} of {want.size} elements: at {at} {got[at]!s}, "
            f"not {want[at]!s}")


def nearer(truth, want, got, stated=None):
    """True if `got` is as near to the truth as `want` is, or within tolerance."""
    if truth.shape != got.shape or is_exact(got.dtype):
        return False
    with np.errstate(all="ignore"):
        rounded = truth.astype(got.dtype)
    own, ours = errors(rounded, want), errors(rounded, got)
    allowed = np.maximum(1.5 * own, tolerance_of(got.dtype, stated))
    return bool((ours <= allowed).all())
