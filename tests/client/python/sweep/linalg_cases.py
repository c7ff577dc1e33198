"""Rows of jax.numpy.linalg, jax.numpy.fft and jax.scipy.linalg."""

import jax.numpy as jnp
import jax.scipy.linalg as jsl

from case import Row

SOLVED = ("f32", "f64", "c64")
SIGNS = lambda call: lambda *a: [jnp.abs(x) for x in call(*a)]

# Factors are known but for signs and phases: their sizes are compared.
LINALG = (
    ("cholesky", "T[4,4]d", jnp.linalg.cholesky),
    ("cond", "T[4,4]d", jnp.linalg.cond),
    ("cross", "T[m,3] T[m,3]", jnp.linalg.cross),
    ("det", "T[4,4]", jnp.linalg.det),
    ("diagonal", "T[m,n]", jnp.linalg.diagonal),
    ("eigh", "T[4,4]d", SIGNS(jnp.linalg.eigh)),
    ("eigvalsh", "T[4,4]d", jnp.linalg.eigvalsh),
    ("eig", "T[4,4]", lambda a: jnp.sort(jnp.abs(jnp.linalg.eig(a)[0]))),
    ("eigvals", "T[4,4]", lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a)))),
    ("inv", "T[4,4]d", jnp.linalg.inv),
    ("lstsq", "T[6,3] T[6]", lambda a, b: jnp.linalg.lstsq(a, b)[0]),
    ("matmul", "T[m,n] T[n,k]", jnp.linalg.matmul),
    ("matrix_norm", "T[m,n]", jnp.linalg.matrix_norm),
    ("matrix_power", "T[3,3]", lambda a: jnp.linalg.matrix_power(a, 5)),
    ("matrix_rank", "T[4,4]d", jnp.linalg.matrix_rank),
    ("matrix_transpose", "T[m,n]", jnp.linalg.matrix_transpose),
    ("multi_dot", "T[m,n] T[n,k] T[k,2]", lambda a, b, c: jnp.linalg.multi_dot(
        [a, b, c])),
    ("norm", "T[m,n]", jnp.linalg.norm),
    ("norm", "T[m,n]", lambda a: jnp.linalg.norm(a, ord=1, axis=1)),
    ("norm", "T[m,n]", lambda a: jnp.linalg.norm(a, ord=2)),
    ("outer", "T[m] T[n]", jnp.linalg.outer),
    ("pinv", "T[5,3]", jnp.linalg.pinv),
    ("qr", "T[5,3]", SIGNS(jnp.linalg.qr)),
    ("slogdet", "T[4,4]", jnp.linalg.slogdet),
    ("solve", "T[4,4]d T[4]", jnp.linalg.solve),
    ("svd", "T[5,3]", lambda a: [jnp.abs(x) for x in jnp.linalg.svd(
        a, full_matrices=False)]),
    ("svdvals", "T[5,3]", jnp.linalg.svdvals),
    ("tensordot", "T[m,n,k] T[n,k,2]", jnp.linalg.tensordot),
    ("tensorinv", "T[4,2,2]", lambda a: jnp.linalg.tensorinv(a, 1)),
    ("tensorsolve", "T[4,2,2] T[4]", jnp.linalg.tensorsolve),
    ("trace", "T[m,n]", jnp.linalg.trace),
    ("vecdot", "T[m,n] T[m,n]", jnp.linalg.vecdot),
    ("vector_norm", "T[m,n]", jnp.linalg.vector_norm),
)
SCIPY = (
    ("block_diag", "T[m,n] T[k,2]", jsl.block_diag),
    ("cho_solve", "T[4,4]d T[4]", lambda a, b: jsl.cho_solve(
        jsl.cho_factor(a), b)),
    ("expm", "T[3,3]", jsl.expm),
    ("lu", "T[4,4]", jsl.lu),
    ("lu_solve", "T[4,4] T[4]", lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b)),
    ("solve_triangular", "T[4,4]d T[4,2]", jsl.solve_triangular),
    ("toeplitz", "T[m]", jsl.toeplitz),
)
FFTS = """
    fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2
    irfftn rfft rfft2 rfftn
"""


def linalg():
    for name, takes, call in LINALG:
        yield Row(name, takes, call, dtypes=SOLVED, variants=("grad", "vmap"),
                  tolerance=1e-3)


def scipy():
    for name, takes, call in SCIPY:
        yield Row(name, takes, call, dtypes=SOLVED, variants=("grad", "vmap"),
                  tolerance=1e-3)


def fft():
    for name in FFTS.split():
        yield Row(name, "T[4,8]", dtypes=SOLVED, variants=("grad", "vmap"))
        yield Row(name, "T[2,15]", dtypes=("f32",))
    yield Row("fftfreq", "", lambda: jnp.fft.fftfreq(9))
    yield Row("rfftfreq", "", lambda: jnp.fft.rfftfreq(9))


MODULES = ((jnp.linalg, "jax.numpy.linalg", (linalg,)),
           (jnp.fft, "jax.numpy.fft", (fft,)),
           (jsl, "jax.scipy.linalg", (scipy,)))
