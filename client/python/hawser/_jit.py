"""hawser.jax.jit: functions of a JAX that knows no plugin, run by hawser.pjrt."""

import functools
import inspect
import threading
import typing
import weakref

import jax
import numpy as np

from hawser import pjrt


def jit(function: typing.Optional[typing.Callable] = None, *,
        static_argnums: typing.Union[int, typing.Sequence[int]] = (),
        static_argnames: typing.Union[str, typing.Sequence[str]] = (),
        donate_argnums: typing.Union[int, typing.Sequence[int]] = (),
        client: typing.Optional[pjrt.Client] = None) -> typing.Callable:
    """jax.jit, but what it computes is computed by hawser.

    Any jaxlib will do, with or without the plugin: JAX traces and lowers on its
    CPU, and results are arrays of its CPU. Arguments and results are pytrees. A
    jax.Array that is an argument again is sent once, and results that become
    arguments not at all.

    Args:
      function: None: this gives a decorator.
      static_argnums, static_argnames, donate_argnums: as of jax.jit.
      client: None: one for the process, of HAWSER_SERVERS.

    Raises:
      HawserError: when it is called: what hawser lacks, or what went wrong.
    """
    if function is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums, client=client)
    return functools.wraps(function)(_Function(
        function, _tuple(static_argnums), _tuple(static_argnames),
        _tuple(donate_argnums), client))


def _tuple(one_or_more) -> tuple:
    single = isinstance(one_or_more, (int, str))
    return (one_or_more,) if single else tuple(one_or_more)


@functools.lru_cache(maxsize=None)
def _client() -> pjrt.Client:
    return pjrt.Client()


@functools.lru_cache(maxsize=None)
def _cpu() -> jax.Device:
    return jax.devices("cpu")[0]


def _settings() -> tuple:
    """What a trace depends on beside its arguments: the precision of products,
    whether there are 64 bits, ..."""
    try:
        from jax._src import config  # pylint: disable=import-outside-toplevel

        return config.trace_context()
    except (ImportError, AttributeError):
        return (jax.config.jax_enable_x64,
                jax.config.jax_default_matmul_precision,
                jax.config.jax_numpy_dtype_promotion,
                jax.config.jax_default_prng_impl)


def _typed(static) -> tuple:
    """A key of a static argument: 2 is another one than 2.0 and True."""
    return (type(static), static)


def _is_key(leaf) -> bool:
    """Whether it is of keys of jax.random, which are numbers on a device."""
    dtype = getattr(leaf, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(
        dtype, jax.dtypes.prng_key)


def _described(leaf) -> tuple:
    """A key of what a leaf is, whatever its value."""
    if _is_key(leaf):
        return leaf.shape, leaf.dtype, False
    return (np.shape(leaf), str(jax.dtypes.result_type(leaf)),
            getattr(leaf, "weak_type", isinstance(leaf, (int, float, complex))))


class _Copies:
    """What lies on a device of the arrays of JAX that are alive: an array of
    JAX never changes. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._copies = {}

    def add(self, array: jax.Array, there: pjrt.Array) -> None:
        """Keeps it as long as `array` lives."""
        key = id(array)
        alive = weakref.ref(array, lambda _: self._copies.pop(key, None))
        with self._lock:
            self._copies[key] = (alive, there)

    def find(self, array) -> typing.Optional[pjrt.Array]:
        """None: there is none, or a program was given it."""
        with self._lock:
            alive, there = self._copies.get(id(array), (None, None))
        if there is None or alive() is not array or there.deleted:
            return None
        return there


class _Function:
    """A function that is lowered once for all arguments of the same shapes."""

    def __init__(self, function, static_argnums, static_argnames, donate_argnums,
                 client):
        names = list(inspect.signature(function).parameters)
        self._statics = set(static_argnums) | {
            names.index(name) for name in static_argnames if name in names}
        self._static_names = set(static_argnames) | {
            names[i] for i in static_argnums if 0 <= i < len(names)}
        self._jitted = jax.jit(
            function, keep_unused=True, donate_argnums=donate_argnums,
            static_argnums=static_argnums or None,
            static_argnames=static_argnames or None)
        self._maybe_client = client
        self._programs = {}
        self._copies = _Copies()

    @property
    def _client(self) -> pjrt.Client:
        return self._maybe_client or _client()

    def _split(self, args, kwargs):
        """The leaves that are traced, and a key of all the others."""
        count = len(args)
        statics = {i % count for i in self._statics if -count <= i < count}
        traced = ([arg for i, arg in enumerate(args) if i not in statics],
                  {name: value for name, value in kwargs.items()
                   if name not in self._static_names})
        fixed = (tuple(_typed(args[i]) for i in sorted(statics)),
                 frozenset((name, _typed(value))
                           for name, value in kwargs.items()
                           if name in self._static_names))
        leaves, tree = jax.tree_util.tree_flatten(traced)
        shapes = tuple(map(_described, leaves))
        return leaves, (tree, shapes, fixed, _settings())

    def _send(self, leaf) -> pjrt.Array:
        there = self._copies.find(leaf)
        if there is not None:
            return there
        value = np.asarray(
            jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        dtype = jax.dtypes.canonicalize_dtype(value.dtype)
        there = self._client.put(value.astype(dtype, copy=False))
        if isinstance(leaf, jax.Array):
            self._copies.add(leaf, there)
        return there

    def __call__(self, *args, **kwargs):
        leaves, key = self._split(args, kwargs)
        if key not in self._programs:
            with jax.default_device(_cpu()):
                lowered = self._jitted.lower(*args, **kwargs)
            kinds = [one.dtype._impl.name if _is_key(one) else None
                     for one in jax.tree_util.tree_leaves(lowered.out_info)]
            self._programs[key] = (self._client.compile(lowered.as_text()),
                                   lowered.out_tree, kinds)
        program, out_tree, kinds = self._programs[key]
        arrays = program.run(*map(self._send, leaves))
        results = jax.device_put(pjrt.fetch(arrays), _cpu())
        results = [one if kind is None
                   else jax.random.wrap_key_data(one, impl=kind)
                   for one, kind in zip(results, kinds)]
        for here, there in zip(results, arrays):
            self._copies.add(here, there)
        return jax.tree_util.tree_unflatten(out_tree, results)
