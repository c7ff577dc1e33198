"""What JAX calls of every plugin that is installed, at its first jax.devices().

Everything here is cheap, and an error never reaches a program that does not
use hawser. Names of JAX that are private are looked for first, so that a JAX
that lacks one works without what it was for.
"""

import os
import warnings

from hawser import library

PLATFORM = "hawser"

# JAX takes the platform of the highest priority where JAX_PLATFORMS names none;
# its own CPU has 0, its GPUs 200.
PRIORITY = 500


def is_asked_for() -> bool:
    """True if HAWSER_SERVERS names a server, or JAX_PLATFORMS hawser.

    JAX makes a client of each platform that is registered, so that hawser is
    not there unless a program asks for it.
    """
    import jax  # pylint: disable=import-outside-toplevel

    named = (os.environ.get("JAX_PLATFORMS"),
             getattr(jax.config, "jax_platforms", None))
    return bool(os.environ.get("HAWSER_SERVERS", "").strip(" ,")) or any(
        PLATFORM in (platforms or "").split(",") for platforms in named)


def initialize() -> None:
    """Registers the platform "hawser".

    With HAWSER_SERVERS programs use it unasked; without, only where
    JAX_PLATFORMS names it, and then this CPU computes.
    """
    if not is_asked_for():
        return
    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel

    try:
        path = library.path()
    except FileNotFoundError as error:
        warnings.warn(str(error))
        return
    nonexperimental = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if nonexperimental is not None:
        nonexperimental.add(PLATFORM)
    xla_bridge.register_plugin(
        PLATFORM,
        priority=PRIORITY,
        library_path=path,
        options=None)
    _allow_donation()
    _drop_prints()
    _lower_factorizations()
    # Equinox and what stands on it raise errors by callbacks, which no remote
    # device has. Said in README.
    os.environ.setdefault("EQX_ON_ERROR", "nan")


def _allow_donation() -> None:
    """JAX donates arguments on platforms that are in its list."""
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    platforms = getattr(mlir, "_platforms_with_donation", None)
    if platforms is not None and PLATFORM not in platforms:
        platforms.append(PLATFORM)


# Primitives of jax.lax.linalg that JAX lowers for its own platforms alone, or to
# programs of many lines: each is a call of hawser's op of that name, with these
# of its parameters.
FACTORIZATIONS = {
    "eig": (),
    "eigh": ("lower",),
    "geqrf": (),
    "householder_product": (),
    "lu": (),
    "svd": ("compute_uv", "full_matrices"),
}


def _lower_factorizations() -> None:
    """Registers them; the platform must be there."""
    try:
        from jax import ffi  # pylint: disable=import-outside-toplevel
        from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
        from jax._src.lax import linalg  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    for name, flags in FACTORIZATIONS.items():
        primitive = getattr(linalg, name + "_p", None)
        if primitive is not None:
            mlir.register_lowering(primitive, _call_of(ffi, name, flags),
                                   platform=PLATFORM)


def _call_of(ffi, name, flags):
    """The rule that lowers a primitive to a call, of all its results."""
    call = ffi.ffi_lowering("hawser." + name)

    def rule(ctx, *operands, **params):
        whole = params.get("subset_by_index")
        least = min(ctx.avals_in[0].shape[-2:])
        if whole is not None and tuple(whole) != (0, least):
            raise NotImplementedError(
                f"hawser: {name} of some of the values alone")
        if params.get("compute_left_eigenvectors"):
            raise NotImplementedError(f"hawser: {name} with left vectors")
        return call(ctx, *operands,
                    **{flag: bool(params[flag]) for flag in flags})

    return rule


_warned = False


def _dropped(ctx, *args, **kwargs):
    """Lowers a print to nothing, and says so once."""
    del args, kwargs
    # Ordered ones hand on what orders them.
    tokens = getattr(ctx, "tokens_in", None)
    if tokens:
        ctx.set_tokens_out(tokens)
    global _warned  # pylint: disable=global-statement
    if not _warned:
        _warned = True
        warnings.warn("hawser: jax.debug.print and jax.debug.callback do nothing "
                      "in programs that run on a hawser device")
    return []


def _drop_prints() -> None:
    """Registers what becomes of jax.debug.print: the program runs on."""
    from jax._src import debugging  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    for name in ("debug_callback_p", "debug_print_p"):
        primitive = getattr(debugging, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, _dropped, platform=PLATFORM)
