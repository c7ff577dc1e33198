"""hawser for JAX programs: datasets by token, and where values are.

    import hawser.jax as hj

    data = hj.put({"x": images, "y": labels})   # sent once; any process may
    print(data.token)                           # use the token from then on

    data = hj.dataset("@mnist")                 # or by a tag
    loss = step(params, data["x"], data["y"])   # nothing of it crosses the wire

    model = hj.freeze(params_by_name)           # a dataset of what is there
    hj.tag("@model", model.token)

`jit` is for a JAX that does not take the plugin: it runs functions by hawser
and gives arrays of JAX's CPU. Every other function takes the device that it is about, `device`; None is the first
one of hawser. All of them block, and raise HawserError.
"""

import dataclasses
import typing

import jax
import numpy as np

from hawser import _abi
from hawser._abi import HawserError
from hawser._jit import jit
from hawser.jax_plugin import PLATFORM
from hawser.pjrt import DeviceStatus

__all__ = ["Dataset", "DeviceStatus", "HawserError", "RanOn", "dataset",
           "datasets", "delete", "devices", "freeze", "jit", "pin", "put",
           "ran_on", "status", "tag"]


@dataclasses.dataclass(frozen=True)
class RanOn:
    """Where a value was computed; `fallback`: here, as its server was away."""

    where: str
    fallback: bool

    def __str__(self) -> str:
        return self.where


@dataclasses.dataclass(frozen=True)
class Dataset:
    """Named arrays that lie on a server, called by a token.

    `arrays` has the shape and dtype of each. A dataset is a mapping: `d["x"]`
    is a jax.Array on the device, and in a function that is traced the array
    that the program takes from the dataset where it runs. Nothing is sent or
    fetched by that.
    """

    token: str
    arrays: typing.Mapping[str, jax.ShapeDtypeStruct]
    bytes: int
    sent_bytes: int  # by the put that made it; 0: all of it was there
    durable: bool  # survives a restart of the server
    tags: typing.Tuple[str, ...]
    device: jax.Device

    def __getitem__(self, name: str) -> jax.Array:
        if name not in self.arrays:
            raise KeyError(f"{name!r}: {self.token} has "
                           f"{', '.join(map(repr, self.arrays))}")
        load = jax.ffi.ffi_call("hawser.dataset", self.arrays[name])
        with jax.default_device(self.device):
            return load(token=self.token, name=name)

    def __call__(self) -> jax.Array:
        """The array of a dataset of one unnamed array."""
        return self[""]

    def __iter__(self):
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def keys(self):
        """The names of the arrays."""
        return self.arrays.keys()


def devices() -> typing.List[jax.Device]:
    """The devices of hawser: one a server."""
    return jax.devices(PLATFORM)


def _device(device: typing.Optional[jax.Device]) -> jax.Device:
    if device is None:
        return devices()[0]
    if device.platform != PLATFORM:
        raise ValueError(f"{device} is no device of hawser")
    return device


def _ask(verb: str, device: jax.Device, **request):
    """Asks about a device of the client that JAX has: a process may have
    others."""
    return _abi.ask(verb, client=device.hawser_client, device=device.id,
                    **request)


def _dataset(info, device: jax.Device) -> Dataset:
    arrays = {}
    for array in info["arrays"]:
        name = _abi.DTYPES[array["dtype"]]
        dtype = jax.numpy.bfloat16 if name == "bfloat16" else np.dtype(name)
        arrays[array["name"]] = jax.ShapeDtypeStruct(
            tuple(array["shape"]), dtype)
    return Dataset(info["token"], arrays, info["bytes"], info["sent_bytes"],
                   info["durable"], tuple(info["tags"]), device)


def dataset(token: str, device: typing.Optional[jax.Device] = None) -> Dataset:
    """The dataset of a token, or of a tag: "@mnist".

    Raises:
      HawserError: NOT_FOUND, it is unknown there.
    """
    on = _device(device)
    return _dataset(_ask("stat", on, token=token), on)


def datasets(prefix: str = "",
             device: typing.Optional[jax.Device] = None) -> typing.List[Dataset]:
    """Those that you have there, whose tokens begin with `prefix`."""
    on = _device(device)
    return [_dataset(info, on)
            for info in _ask("list", on, prefix=prefix)]


def put(arrays: typing.Union[np.ndarray, typing.Mapping[str, np.ndarray]],
        device: typing.Optional[jax.Device] = None) -> Dataset:
    """Puts arrays of this machine there; what is there already is not sent.

    Args:
      arrays: by name, or one array, whose name is then "".
    """
    on = _device(device)
    named = arrays if isinstance(arrays, typing.Mapping) else {"": arrays}
    return _dataset(
        _ask("put", on, names=list(named),
             arrays=[_abi.dense(array) for array in named.values()]), on)


def freeze(arrays: typing.Union[jax.Array, typing.Mapping[str, jax.Array]]
           ) -> Dataset:
    """Makes arrays that are on a hawser device a dataset where they are.

    They are the same that `put` of their values makes, and outlive the program.
    """
    named = arrays if isinstance(arrays, typing.Mapping) else {"": arrays}
    if not named:
        raise ValueError("a dataset has at least one array")
    on = _device(next(iter(next(iter(named.values())).devices())))
    info = _abi.ask("freeze", buffers=[_handle(a) for a in named.values()],
                    names=list(named))
    return _dataset(info, on)


def pin(token: str, seconds: typing.Optional[float] = None,
        device: typing.Optional[jax.Device] = None) -> Dataset:
    """Keeps a dataset from being evicted, for good or for so many seconds."""
    on = _device(device)
    return _dataset(
        _ask("pin", on, token=token, seconds=seconds), on)


def tag(name: str, token: str, expected: typing.Optional[str] = None,
        device: typing.Optional[jax.Device] = None) -> None:
    """Lets a name, "@mnist", stand for a dataset; token "" removes the name.

    With `expected` only where it stands for that token now ("": for none).

    Raises:
      HawserError: ABORTED, it stands for another one.
    """
    fields = {} if expected is None else {"expected": expected}
    _ask("tag", _device(device), name=name, token=token, **fields)


def delete(token: str, device: typing.Optional[jax.Device] = None) -> None:
    """Deletes a dataset for good."""
    _ask("delete", _device(device), token=token)


def status() -> typing.List[DeviceStatus]:
    """Asks every device whether it is there."""
    return [DeviceStatus(**one) for one in _ask("status", devices()[0])]


def ran_on(array: jax.Array) -> RanOn:
    """Where a value was computed: final once it has been seen."""
    return RanOn(**_abi.ask("ran_on", buffers=[_handle(array)]))


def _handle(array: jax.Array) -> int:
    """The handle of the buffer of an array that is on one device of hawser."""
    on = list(array.devices())
    if len(on) != 1 or on[0].platform != PLATFORM:
        raise ValueError(f"the array is on {', '.join(map(str, on))}, not on one "
                         "device of hawser")
    return array.unsafe_buffer_pointer()
