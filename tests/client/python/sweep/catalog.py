"""All cases, and the public functions that no case calls."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np

import array_cases
import compare
import lax_cases
import linalg_cases
import nn_cases
import numpy_cases
from case import DTYPES, WIDE, Case, cases_of, seed_of

MODULES = (
    (jnp, "jax.numpy", numpy_cases.ROWS + array_cases.ROWS),
    (jax.lax, "jax.lax", lax_cases.ROWS),
    *nn_cases.MODULES,
    *linalg_cases.MODULES,
)
# The modules whose public names are all to be tried.
WHOLE = ("jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy.special",
         "jax.numpy.linalg", "jax.numpy.fft")

# Public names that run nothing on a device: they are about types, shapes, files,
# text, or make an object; what takes two devices, and what no CPU has.
NOT_RUN = frozenset("""
    array_repr array_str broadcast_shapes can_cast dtype einsum_path
    finfo from_dlpack frombuffer fromfile fromiter fromstring get_printoptions
    iinfo isdtype isscalar issubdtype iterable load printoptions promote_types
    result_type save savez set_printoptions ufunc generic
    conv_dimension_numbers conv_general_permutations conv_general_shape_tuple
    conv_shape_tuple conv_transpose_shape_tuple padtype_to_pads
    reduce_window_shape_tuple get_scaled_dot_general_config key_dtype key_impl
    after_all create_token pbroadcast pcast precv psend ragged_all_to_all
    scaled_matmul
""".split())


# An unstable sort may leave equal keys in any order, and so may differ, as which
# of equal numbers approx_top_k finds: halves have many.
ANY_ORDER = re.compile(
    r"multiple_arrays_.*isstable_False|large_\w+_op_b?float16_")


def harnesses(every):
    """JAX's own, one case of a primitive each; `every` which share is taken."""
    # pylint: disable=import-outside-toplevel
    from jax._src.internal_test_util import test_harnesses

    wide = {np.dtype(DTYPES[name]) for name in WIDE}
    taken = {}
    for harness in test_harnesses.all_harnesses:
        number = taken.get(harness.group_name, 0)
        taken[harness.group_name] = number + 1
        if number % every and number >= 20:
            continue
        if not harness.filter("cpu") or ANY_ORDER.match(harness.name):
            continue
        yield Case(
            function=f"harness.{harness.group_name}", label=harness.name,
            call=harness.dyn_fun,
            arguments=lambda h=harness: h.dyn_args_maker(
                np.random.RandomState(0)),
            x64=np.dtype(harness.dtype) in wide,
            tolerance=harness.params.get("tol") or TOLERANCES.get(
                harness.group_name),
            settle=SETTLED.get(harness.group_name, list))


# The harnesses of fft state no tolerance. An element of a transform is as exact as
# the magnitude of all of it, so that one which cancels has fewer digits. These are
# our own numbers: JAX's tests of fft were not at hand to compare.
# A Cholesky factor of 200 rows is exact to 200 roundings.
TOLERANCES = {"fft": {np.float32: 1e-4, np.complex64: 1e-4},
              "cholesky": {np.float32: 1e-4, np.complex64: 1e-4}}

# These harnesses call primitives whose results are not all determined: JAX's
# documentation of cholesky_p says nothing of the upper triangle, which its CPU
# leaves as it was given.
SETTLED = {"cholesky": compare.made_of_lower, "eigh": compare.made_of_vectors}

# Cases that differ, and why that is as it should be, or is not cured.
F16_INSIDE = ("f16: XLA rounds polynomials of halves once, hawser after each op, "
              "where they overflow")
KNOWN = {
    "jax.scipy.special.exp1 f16[m,n]+": F16_INSIDE,
    "jax.scipy.special.expi f16[m,n]": F16_INSIDE,
}

# Where not all cases run, one in two of those of these dtypes does.
RARE = ("i8", "i16", "u16", "u32", "u64", "f16", "c128")


def is_drawn(case):
    return case.dtype not in RARE or seed_of(case.name) % 2 == 0


def all_cases(every=1):
    """Every case, in an order that is always the same, names unlike."""
    seen, cases = {}, []
    for module, prefix, tables in MODULES:
        for table in tables:
            for row in table():
                cases += [case for case in cases_of(module, prefix, row)
                          if every == 1 or is_drawn(case)]
    cases += harnesses(every)
    for index, case in enumerate(cases):
        count = seen[case.name] = seen.get(case.name, 0) + 1
        if count > 1:
            cases[index] = Case(**{**vars(case), "label": f"{case.label} #{count}"})
    return cases


def public(module):
    """Its functions, by name."""
    for name in dir(module):
        value = getattr(module, name)
        if (name.startswith("_") or name in NOT_RUN or not callable(value)
                or inspect.ismodule(value)):
            continue
        if isinstance(value, type) or isinstance(value, type(jnp.float32)):
            continue  # a type
        if hasattr(value, "__origin__"):
            continue  # a Union of types
        yield name, value


def not_tried(cases):
    """Public functions that no case names, nor an alias of theirs."""
    tried = {case.function for case in cases}
    for module, prefix, _ in MODULES:
        if prefix not in WHOLE:
            continue
        functions = dict(public(module))
        called = [value for name, value in functions.items()
                  if f"{prefix}.{name}" in tried]
        for name, value in functions.items():
            if f"{prefix}.{name}" not in tried and not any(
                    value is other for other in called):
                yield f"{prefix}.{name}"


def chosen(cases, pattern="", share="0/1"):
    """(index, case) of those whose name matches, and are in the share i/n."""
    part, parts = (int(word) for word in share.split("/"))
    wanted = [(index, case) for index, case in enumerate(cases)
              if re.search(pattern, case.name)]
    return [pair for number, pair in enumerate(wanted) if number % parts == part]
