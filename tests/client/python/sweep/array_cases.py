"""Rows of jax.numpy that move elements, or pick them."""

import jax
import jax.numpy as jnp

from case import ALL, COMPLEX, FLOATS, INEXACT, INTEGERS, REALS, Row

SOME = ("f32", "i32", "bf16", "bool", "c64", "u8", "i64")
USUAL = ("one", "empty", "grad", "vmap")

# name, takes, call: dtypes are SOME, variants USUAL.
MOVES = (
    ("append", "T[m,n] T[k]", jnp.append),
    ("array_split", "T[m,n]", lambda a: jnp.array_split(a, 3)),
    ("block", "T[m,n] T[m,k]", lambda a, b: jnp.block([[a, b], [b, a]])),
    ("broadcast_arrays", "T[m,1] T[n]", jnp.broadcast_arrays),
    ("broadcast_to", "T[n]", lambda a: jnp.broadcast_to(a, (3, *a.shape))),
    ("column_stack", "T[m] T[m,n]", lambda a, b: jnp.column_stack([a, b])),
    ("concat", "T[m,n] T[k,n]", lambda a, b: jnp.concat([a, b])),
    ("concatenate", "T[m,n] T[m,k]", lambda a, b: jnp.concatenate([a, b], 1)),
    ("delete", "T[5,n]", lambda a: jnp.delete(a, 2, axis=0)),
    ("diag", "T[n]", lambda a: jnp.diag(a, 1)),
    ("diag", "T[m,n]", jnp.diag),
    ("diagflat", "T[m,n]", lambda a: jnp.diagflat(a, -1)),
    ("diagonal", "T[m,n,k]", lambda a: jnp.diagonal(a, axis1=0, axis2=2)),
    ("dsplit", "T[m,n,4]", lambda a: jnp.dsplit(a, 2)),
    ("dstack", "T[m,n] T[m,n]", lambda a, b: jnp.dstack([a, b])),
    ("expand_dims", "T[m,n]", lambda a: jnp.expand_dims(a, (0, 2))),
    ("fill_diagonal", "T[n,n]", lambda a: jnp.fill_diagonal(a, 2, inplace=False)),
    ("flip", "T[m,n]", jnp.flip),
    ("fliplr", "T[m,n]", jnp.fliplr),
    ("flipud", "T[m,n]", jnp.flipud),
    ("full_like", "T[m,n]", lambda a: jnp.full_like(a, 3)),
    ("hsplit", "T[m,4]", lambda a: jnp.hsplit(a, [1, 3])),
    ("hstack", "T[m,n] T[m,k]", lambda a, b: jnp.hstack([a, b])),
    ("insert", "T[5,n]", lambda a: jnp.insert(a, 2, 9, axis=0)),
    ("ix_", "i32[3] i32[4]", jnp.ix_),
    ("matrix_transpose", "T[m,n,k]", jnp.matrix_transpose),
    ("meshgrid", "T[m] T[n]", jnp.meshgrid),
    ("moveaxis", "T[m,n,k]", lambda a: jnp.moveaxis(a, 0, 2)),
    ("permute_dims", "T[m,n,k]", lambda a: jnp.permute_dims(a, (2, 0, 1))),
    ("repeat", "T[m,n]", lambda a: jnp.repeat(a, 3, axis=1)),
    ("repeat", "T[4,n]", lambda a: jnp.repeat(
        a, jnp.array([1, 0, 2, 3]), axis=0, total_repeat_length=6)),
    ("reshape", "T[4,n]", lambda a: jnp.reshape(a, (-1, 2))),
    ("resize", "T[m,n]", lambda a: jnp.resize(a, (5, 4))),
    ("roll", "T[m,n]", lambda a: jnp.roll(a, (1, -2), (0, 1))),
    ("rollaxis", "T[m,n,k]", lambda a: jnp.rollaxis(a, 2)),
    ("rot90", "T[m,n]", jnp.rot90),
    ("split", "T[6,n]", lambda a: jnp.split(a, 3)),
    ("squeeze", "T[1,m,1,n]", jnp.squeeze),
    ("stack", "T[m,n] T[m,n]", lambda a, b: jnp.stack([a, b], -1)),
    ("swapaxes", "T[m,n,k]", lambda a: jnp.swapaxes(a, 0, 2)),
    ("tile", "T[m,n]", lambda a: jnp.tile(a, (2, 1, 3))),
    ("trace", "T[m,n]", jnp.trace),
    ("transpose", "T[m,n,k]", jnp.transpose),
    ("tril", "T[m,n]", jnp.tril),
    ("triu", "T[m,n]", lambda a: jnp.triu(a, 1)),
    ("unstack", "T[3,n]", jnp.unstack),
    ("vander", "T[n]", jnp.vander),
    ("vsplit", "T[4,n]", lambda a: jnp.vsplit(a, 2)),
    ("vstack", "T[m,n] T[k,n]", lambda a, b: jnp.vstack([a, b])),
    ("kron", "T[m,n] T[2,k]", jnp.kron),
    ("outer", "T[m] T[n]", jnp.outer),
    ("inner", "T[m,n] T[k,n]", jnp.inner),
    ("dot", "T[m,n] T[n,k]", jnp.dot),
    ("matmul", "T[2,m,n] T[n,k]", jnp.matmul),
    ("matvec", "T[m,n] T[n]", jnp.matvec),
    ("vecmat", "T[m] T[m,n]", jnp.vecmat),
    ("vdot", "T[m,n] T[m,n]", jnp.vdot),
    ("vecdot", "T[m,n] T[m,n]", jnp.vecdot),
    ("tensordot", "T[m,n,k] T[n,k,2]", jnp.tensordot),
    ("einsum", "T[m,n] T[k,n] T[k]", lambda a, b, c: jnp.einsum(
        "ij,kj,k->ik", a, b, c)),
    ("einsum", "T[2,m,n] T[2,n,k]", lambda a, b: jnp.einsum("bij,bjk->bki", a, b)),
    ("einsum", "T[n,n]", lambda a: jnp.einsum("ii->i", a)),
    ("take", "T[m,6] i32[4]", lambda a, i: jnp.take(a, i, axis=1)),
    ("take", "T[m,6] i32[4]", lambda a, i: jnp.take(a, i, axis=1, mode="wrap")),
    ("take", "T[m,6] i32[4]", lambda a, i: jnp.take(a, i, axis=1, mode="clip")),
    ("take", "T[6] u8[2,3]<6", jnp.take),
    ("take_along_axis", "T[m,n] i32[m,2]<3", lambda a, i: jnp.take_along_axis(
        a, i, axis=1)),
    ("put", "T[m,6] i32[2]<5 T[2]", lambda a, i, v: jnp.put(
        a, i, v, inplace=False)),
    ("put_along_axis", "T[3,n] i32[1,n]<3 T[1,n]",
     lambda a, i, v: jnp.put_along_axis(a, i, v, 0, inplace=False)),
    ("place", "T[m,n] bool[m,n] T[3]", lambda a, m, v: jnp.place(
        a, m, v, inplace=False)),
    ("choose", "i32[4]<3 T[4] T[4] T[4]", lambda i, a, b, c: jnp.choose(
        i, [a, b, c], mode="clip")),
    ("compress", "T[3,n]", lambda a: jnp.compress(
        jnp.array([True, False, True]), a, axis=0, size=2)),
    ("extract", "bool[m,n] T[m,n]", lambda m, a: jnp.extract(
        m, a, size=3, fill_value=1)),
    ("select", "bool[m,n] bool[m,n] T[m,n] T[m,n]",
     lambda p, q, a, b: jnp.select([p, q], [a, b], 1)),
    ("piecewise", "T[m,n]", lambda a: jnp.piecewise(
        a, [a < 0, a > 1], [lambda x: -x, 2, lambda x: x + 1])),
    ("argwhere", "T[m,n]", lambda a: jnp.argwhere(a > 0, size=3)),
    ("flatnonzero", "T[m,n]", lambda a: jnp.flatnonzero(a > 0, size=4)),
    ("nonzero", "T[m,n]", lambda a: jnp.nonzero(a > 0, size=5, fill_value=-1)),
    ("partition", "T[m,8]", lambda a: jnp.partition(a, 3)),
    ("argpartition", "T[m,8]", lambda a: jnp.sort(
        jnp.argpartition(a, 3)[:, :3])),
    ("lexsort", "T[n] i32[n]", lambda a, b: jnp.lexsort((a, b))),
    ("sort_complex", "T[n]", jnp.sort_complex),
    ("searchsorted", "T[9]^ T[m,n]", jnp.searchsorted),
    ("searchsorted", "T[9]^ T[n]", lambda a, v: jnp.searchsorted(
        a, v, side="right", method="sort")),
    ("digitize", "T[m,n] T[5]^", jnp.digitize),
    ("bincount", "u8[n]", lambda a: jnp.bincount(a, length=20)),
    ("bincount", "u8[n] T[n]", lambda a, w: jnp.bincount(a, w, length=20)),
    ("histogram_bin_edges", "T[9]", jnp.histogram_bin_edges),
    ("unique", "T[m,n]", lambda a: jnp.unique(
        a, size=9, fill_value=0, return_inverse=True, return_counts=True,
        return_index=True)),
    ("unique", "T[m,n]", lambda a: jnp.unique(a, size=4, axis=0)),
    ("unique_all", "T[n]", lambda a: jnp.unique_all(a, size=5)),
    ("unique_counts", "T[n]", lambda a: jnp.unique_counts(a, size=5)),
    ("unique_inverse", "T[n]", lambda a: jnp.unique_inverse(a, size=5)),
    ("unique_values", "T[n]", lambda a: jnp.unique_values(a, size=5)),
    ("union1d", "T[m] T[n]", lambda a, b: jnp.union1d(a, b, size=9)),
    ("intersect1d", "T[m] T[n]", lambda a, b: jnp.intersect1d(a, b, size=4)),
    ("setdiff1d", "T[m] T[n]", lambda a, b: jnp.setdiff1d(a, b, size=4)),
    ("setxor1d", "T[m] T[n]", lambda a, b: jnp.setxor1d(a, b, size=9)),
    ("packbits", "bool[m,n]", jnp.packbits),
    ("packbits", "u8[m,n]", lambda a: jnp.packbits(a, axis=0, bitorder="little")),
    ("unpackbits", "u8[m,n]", jnp.unpackbits),
    ("ravel_multi_index", "i32[n]<3 i32[n]<4", lambda i, j: jnp.ravel_multi_index(
        (i, j), (3, 4), mode="clip")),
    ("unravel_index", "i32[n]<12", lambda i: jnp.unravel_index(i, (3, 4))),
    ("apply_along_axis", "T[m,n]", lambda a: jnp.apply_along_axis(jnp.sum, 1, a)),
    ("apply_over_axes", "T[m,n]", lambda a: jnp.apply_over_axes(
        jnp.sum, a, [0, 1])),
    ("vectorize", "T[m,n] T[n]", lambda a, b: jnp.vectorize(
        jnp.dot, signature="(n),(n)->()")(a, b)),
    ("frompyfunc", "T[m,n] T[n]", lambda a, b: jnp.frompyfunc(
        lambda x, y: x * 2 + y, 2, 1)(a, b)),
    ("fromfunction", "T[]", lambda a: jnp.fromfunction(
        lambda i, j: i + j + a, (3, 4))),
    ("linspace", "T[] T[]", lambda a, b: jnp.linspace(a, b, 7)),
    ("logspace", "T[]u T[]u", lambda a, b: jnp.logspace(a, b, 7)),
    ("geomspace", "T[]+ T[]+", lambda a, b: jnp.geomspace(a, b, 7)),
    ("indices", "T[]", lambda a: jnp.indices((2, 3)) + a),
    ("cumsum", "T[m,n]", lambda a: jnp.cumsum(a, axis=0)),
)

# What is made of nothing.
MADE = (
    ("arange", lambda: jnp.arange(3, 20, 2)),
    ("arange", lambda: jnp.arange(0.0, 1.0, 0.1)),
    ("bartlett", lambda: jnp.bartlett(9)),
    ("blackman", lambda: jnp.blackman(9)),
    ("diag_indices", lambda: jnp.diag_indices(4)),
    ("diag_indices_from", lambda: jnp.diag_indices_from(jnp.zeros((3, 3)))),
    ("empty", lambda: jnp.empty((2, 3))),
    ("eye", lambda: jnp.eye(3, 5, 1)),
    ("full", lambda: jnp.full((2, 3), 7)),
    ("hamming", lambda: jnp.hamming(9)),
    ("hanning", lambda: jnp.hanning(9)),
    ("identity", lambda: jnp.identity(4)),
    ("kaiser", lambda: jnp.kaiser(9, 3.0)),
    ("mask_indices", lambda: jnp.mask_indices(4, jnp.triu, size=10)),
    ("ones", lambda: jnp.ones((2, 0, 3), jnp.int8)),
    ("tri", lambda: jnp.tri(4, 3, -1)),
    ("tril_indices", lambda: jnp.tril_indices(4)),
    ("tril_indices_from", lambda: jnp.tril_indices_from(jnp.zeros((3, 4)))),
    ("triu_indices", lambda: jnp.triu_indices(4, 1)),
    ("triu_indices_from", lambda: jnp.triu_indices_from(jnp.zeros((3, 4)))),
    ("zeros", lambda: jnp.zeros((), jnp.bfloat16)),
)

# Called without jit: sizes come from values.
EAGER = (
    ("argwhere", lambda a: jnp.argwhere(a > 0)),
    ("nonzero", lambda a: jnp.nonzero(a > 0)),
    ("unique", lambda a: jnp.unique(a, return_counts=True)),
    ("extract", lambda a: jnp.extract(a > 0, a)),
    ("setdiff1d", lambda a: jnp.setdiff1d(a, a[:2])),
    ("bincount", lambda a: jnp.bincount(jnp.abs(a).astype(int).ravel())),
    ("trim_zeros", lambda a: jnp.trim_zeros(jnp.round(a).ravel())),
    ("repeat", lambda a: jnp.repeat(a, 2)),
    ("array", lambda a: a[a > 0]),
    ("array", lambda a: a.at[a > 0].set(1)),
    ("array", lambda a: [float(x) for x in a.ravel()]),
    ("array", lambda a: a + 1 - a.T.T * 2),
    ("array", lambda a: a.tolist()),
)

# Words of jnp.ndarray.at and of indexing.
PICKS = (
    lambda a, i, v: a[i], lambda a, i, v: a[:, i], lambda a, i, v: a[i, 1],
    lambda a, i, v: a[-1, ::-2], lambda a, i, v: a[None, ..., 1:3, None],
    lambda a, i, v: a[i[:, None], i[None, :3]], lambda a, i, v: a[1][i[0]],
    lambda a, i, v: a.at[i].set(v), lambda a, i, v: a.at[i].add(v),
    lambda a, i, v: a.at[i].multiply(v), lambda a, i, v: a.at[i].min(v),
    lambda a, i, v: a.at[i].max(v), lambda a, i, v: a.at[:, i].add(v[:, :1]),
    lambda a, i, v: a.at[i[:2], i[2:]].set(v[0, :2]),
    lambda a, i, v: a.at[1:3].set(v[:2]), lambda a, i, v: a.at[..., ::2].add(1),
    lambda a, i, v: a.at[i].get(mode="fill", fill_value=7),
    lambda a, i, v: a.at[i].set(v, mode="clip"),
    lambda a, i, v: a.at[i].subtract(v, mode="drop"),
    lambda a, i, v: a.at[i].divide(v), lambda a, i, v: a.at[i].power(2),
    lambda a, i, v: a.at[i].apply(jnp.sin),
    lambda a, i, v: a.at[i].add(v, indices_are_sorted=False,
                                unique_indices=False),
)

PADS = ("constant", "edge", "reflect", "symmetric", "wrap", "maximum", "mean",
        "minimum", "median", "linear_ramp", "empty")


def rows():
    for name, takes, call in MOVES:
        generic = "T[" in takes
        yield Row(name, takes, call, dtypes=SOME if generic else ("f32",),
                  variants=USUAL if generic else ("one", "empty", "vmap"))
    for name, call in MADE:
        yield Row(name, "", call)
        yield Row(name, "", call, dtypes=("f64",))
    for name, call in EAGER:
        yield Row(name, "T[4,4]", call, dtypes=("f32", "i32"), jit=False)
    for call in PICKS:
        yield Row("ndarray", "T[6,5] i32[4] T[4,5]", call,
                  dtypes=("f32", "i32", "bf16", "c64", "bool", "u8"),
                  variants=("grad", "vmap", "special"))
        yield Row("ndarray", "T[4,4] i32[4]<4 T[4,4]", call,
                  dtypes=("f32", "f64"), variants=("grad", "vmap"))
    # Of whole numbers some lie on edges, which are rounded.
    yield Row("histogram", "T[n]", dtypes=FLOATS, variants=("one", "vmap"))
    yield Row("histogram2d", "T[n] T[n]", dtypes=FLOATS, variants=("one", "vmap"))
    yield Row("histogramdd", "T[9,2]", lambda a: jnp.histogramdd(a, 3),
              dtypes=FLOATS)
    for mode in PADS:
        yield Row("pad", "T[4,5]", lambda a, m=mode: jnp.pad(
            a, ((1, 2), (0, 3)), mode=m), dtypes=("f32", "i32", "c64", "bool"),
            variants=("grad", "vmap"))
    for wanted in ("float32", "bfloat16"):
        yield Row("matmul", "T[m,n] T[n,k]", lambda a, b, w=wanted: jnp.matmul(
            a, b, preferred_element_type=w), dtypes=("f32", "f16", "bf16", "i8"))
    for precision in jax.lax.Precision:
        yield Row("dot", "T[m,n] T[n,k]", lambda a, b, p=precision: jnp.dot(
            a, b, precision=p), dtypes=INEXACT)
    yield Row("bool_", "T[n]", lambda a: jnp.bool_(a), dtypes=ALL)
    yield Row("sort_complex", "T[n]", dtypes=COMPLEX + FLOATS,
              variants=("special",))
    yield Row("bitwise_count", "T[n]", dtypes=INTEGERS)
    # Not of bf16: hawser rounds at each step, as StableHLO's text says, and XLA
    # adds in a tree, whose rounding grows with the logarithm only.
    yield Row("cumsum", "T[3,500]", lambda a: jnp.cumsum(a, axis=1),
              dtypes=("f32", "f64", "f16") + INTEGERS)


ROWS = (rows,)
