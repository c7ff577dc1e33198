"""hawser without JAX: StableHLO programs on NumPy arrays, by ctypes.

    from hawser import pjrt

    client = pjrt.Client()                  # HAWSER_SERVERS, or those of a list
    step = client.compile(text)             # or the bytes of an artifact
    w, loss = step(w, x)                    # NumPy in, NumPy out

    w, x = client.put(w), client.put(x)     # values that stay there
    for _ in range(100):
        w, loss = step.run(w, x)            # nothing crosses the wire
    print(loss.numpy())

What goes wrong is a HawserError. All of it may be used from many threads.
"""

import atexit
import ctypes
import dataclasses
import typing
import weakref

import numpy as np

from hawser import _abi
from hawser._abi import HawserError

__all__ = ["Array", "Client", "DeviceStatus", "HawserError", "Program", "fetch"]

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t

# Entries by their places in the table (client/pjrt/abi/entries.def).
_EVENT_DESTROY, _EVENT_IS_READY, _EVENT_AWAIT = 5, 6, 8
_CLIENT_CREATE, _CLIENT_DESTROY, _CLIENT_DEVICES = 10, 11, 15
_COMPILE, _PUT = 20, 22
_DESCRIPTION_TEXT, _DEVICE_DESCRIPTION = 28, 29
_EXECUTABLE_DESTROY, _NUM_OUTPUTS = 40, 44
_PROGRAM_DESTROY, _PROGRAM_EXECUTABLE, _EXECUTE = 50, 51, 55
_BUFFER_DESTROY, _BUFFER_TYPE, _BUFFER_DIMS = 58, 59, 60
_BUFFER_IS_DELETED, _FETCH = 68, 70

_Handle = _abi.struct("_Handle", ("handle", _POINTER), ("out", _POINTER),
                      ("size", _SIZE))
_Flag = _abi.struct("_Flag", ("handle", _POINTER), ("out", ctypes.c_bool))
_Int = _abi.struct("_Int", ("handle", _POINTER), ("out", ctypes.c_int))
_Dims = _abi.struct("_Dims", ("handle", _POINTER),
                    ("dims", ctypes.POINTER(ctypes.c_int64)), ("size", _SIZE))
_NamedValue = _abi.struct(
    "_NamedValue", ("name", ctypes.c_char_p), ("name_size", _SIZE),
    ("type", ctypes.c_int), ("text", ctypes.c_char_p), ("size", _SIZE))
_CreateArgs = _abi.struct(
    "_CreateArgs", ("options", _POINTER), ("count", _SIZE),
    ("keys", _POINTER * 4), ("client", _POINTER))
_Code = _abi.struct(
    "_Code", ("code", ctypes.c_char_p), ("code_size", _SIZE),
    ("format", ctypes.c_char_p), ("format_size", _SIZE))
_CompileArgs = _abi.struct(
    "_CompileArgs", ("client", _POINTER), ("code", _POINTER),
    ("options", ctypes.c_char_p), ("options_size", _SIZE),
    ("program", _POINTER))
_PutArgs = _abi.struct(
    "_PutArgs", ("client", _POINTER), ("data", _POINTER),
    ("type", ctypes.c_int), ("dims", _POINTER), ("rank", _SIZE),
    ("strides", _POINTER), ("num_strides", _SIZE), ("semantics", ctypes.c_int),
    ("device", _POINTER), ("memory", _POINTER), ("layout", _POINTER),
    ("done", _POINTER), ("buffer", _POINTER))
_ExecuteArgs = _abi.struct(
    "_ExecuteArgs", ("program", _POINTER), ("options", _POINTER),
    ("arguments", _POINTER), ("devices", _SIZE), ("count", _SIZE),
    ("results", _POINTER), ("done", _POINTER), ("device", _POINTER))
_FetchArgs = _abi.struct(
    "_FetchArgs", ("buffer", _POINTER), ("layout", _POINTER), ("to", _POINTER),
    ("size", _SIZE), ("event", _POINTER))


def _call(entry: int, args):
    _abi.api().call(_abi.api().entry(entry), args)
    return args


def _destroy(entry: int, handle: int) -> None:
    _call(entry, _Handle(handle=handle))


def _await(event: int) -> None:
    try:
        _call(_EVENT_AWAIT, _Handle(handle=event))
    finally:
        _destroy(_EVENT_DESTROY, event)


def _dtype(number: int) -> np.dtype:
    """NumPy's dtype of a PJRT_Buffer_Type."""
    name = next(name for name, one in _abi.TYPES.items() if one == number)
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes  # pylint: disable=import-outside-toplevel

    return np.dtype(ml_dtypes.bfloat16)


class Array:
    """A value on a device of hawser, until it is deleted or donated.

    `np.asarray(array)` and `array.numpy()` fetch it.
    """

    def __init__(self, client: "Client", handle: int):
        self._client = client
        self._handle = handle
        self._end = weakref.finalize(self, _destroy, _BUFFER_DESTROY, handle)
        dims = _call(_BUFFER_DIMS, _Dims(handle=handle))
        self.shape = tuple(dims.dims[:dims.size])
        self._type = _call(_BUFFER_TYPE, _Int(handle=handle)).out

    @property
    def dtype(self) -> np.dtype:
        """Its elements, as NumPy knows them."""
        return _dtype(self._type)

    @property
    def deleted(self) -> bool:
        """Whether a program was given it."""
        return _call(_BUFFER_IS_DELETED, _Flag(handle=self._handle)).out

    def numpy(self) -> np.ndarray:
        """Fetches it.

        Raises:
          HawserError: it was donated, or what was to make it went wrong.
        """
        return fetch([self])[0]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        del copy  # it is one in any case
        return np.asarray(self.numpy(), dtype)

    def __repr__(self) -> str:
        return f"hawser.pjrt.Array({self.dtype}{list(self.shape)})"


class _Write:
    """The library writes a value into memory of Python.

    It does so whatever becomes of the caller, to whom a KeyboardInterrupt may
    come between any two lines: so the memory is kept from before the library
    knows of it until its event has come.
    """

    _kept: typing.Set["_Write"] = set()
    _left: typing.List["_Write"] = []  # by callers that were interrupted

    def __init__(self, array: Array):
        self.value = np.empty(array.shape, array.dtype)
        self._args = _FetchArgs(buffer=array._handle, size=self.value.nbytes,
                                to=self.value.ctypes.data)

    def begin(self) -> None:
        """Raises HawserError."""
        self._kept.add(self)
        try:
            _call(_FETCH, self._args)
        except BaseException:
            if not self._args.event:
                self._kept.discard(self)
            raise

    def finish(self) -> None:
        """Raises HawserError: what was to make the value went wrong."""
        if not self._args.event:
            return
        try:
            _call(_EVENT_AWAIT, _Handle(handle=self._args.event))
        finally:
            # An interrupt comes after the library has returned.
            self._drop()

    def _is_done(self) -> bool:
        event = self._args.event
        return not event or _call(_EVENT_IS_READY, _Flag(handle=event)).out

    def _drop(self) -> None:
        event, self._args.event = self._args.event, None  # once, at most
        self._kept.discard(self)
        if event:
            _destroy(_EVENT_DESTROY, event)

    @classmethod
    def leave(cls, writes: typing.List["_Write"]) -> None:
        """Their caller was interrupted."""
        cls._left.extend(writes)

    @classmethod
    def drop_left(cls) -> None:
        """Drops those that were left and are done."""
        for _ in range(len(cls._left)):
            try:
                write = cls._left.pop(0)  # no other thread has it then
            except IndexError:
                return
            if write._is_done():
                write._drop()
            else:
                cls._left.append(write)

    @classmethod
    def keep_for_good(cls) -> None:
        """Python ends, and the library's threads still write."""
        for write in cls._kept:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(write.value))


atexit.register(_Write.keep_for_good)


def fetch(arrays: typing.Sequence[Array]) -> typing.List[np.ndarray]:
    """Fetches values, all at once.

    Raises:
      HawserError: the first that went wrong.
    """
    _Write.drop_left()
    writes = [_Write(array) for array in arrays]
    error = None
    try:
        for step in (_Write.begin, _Write.finish):
            for write in writes:
                try:
                    step(write)
                except HawserError as one:
                    error = error or one
    except BaseException:
        _Write.leave(writes)
        raise
    if error is not None:
        raise error
    return [write.value for write in writes]


Value = typing.Union[Array, np.ndarray, float, int, complex, bool]


class Program:
    """A compiled program. Arguments that it says it donates are deleted."""

    def __init__(self, client: "Client", handle: int, device: int):
        self._client, self._handle, self._device = client, handle, device
        self._end = weakref.finalize(self, _destroy, _PROGRAM_DESTROY, handle)
        executable = _call(_PROGRAM_EXECUTABLE, _Handle(handle=handle)).out
        self.num_results = _call(_NUM_OUTPUTS, _Handle(handle=executable)).out or 0
        _destroy(_EXECUTABLE_DESTROY, executable)

    def run(self, *arguments: Value) -> typing.List[Array]:
        """Runs it at once; its results stay there, and may not be there yet.

        Raises:
          HawserError: another number of arguments, other shapes or dtypes. What
            goes wrong later is an error of fetching the results.
        """
        there = [one if isinstance(one, Array)
                 else self._client.put(one, self._device) for one in arguments]
        given = (_POINTER * len(there))(*[one._handle for one in there])
        got = (_POINTER * self.num_results)()
        lists = (_POINTER * 2)(ctypes.addressof(given), ctypes.addressof(got))
        _call(_EXECUTE, _ExecuteArgs(
            program=self._handle, devices=1, count=len(there),
            arguments=ctypes.addressof(lists),
            results=ctypes.addressof(lists) + ctypes.sizeof(_POINTER)))
        return [Array(self._client, handle) for handle in got]

    def __call__(self, *arguments: Value) -> typing.List[np.ndarray]:
        """Runs it and fetches its results."""
        return fetch(self.run(*arguments))


@dataclasses.dataclass(frozen=True)
class DeviceStatus:
    """A device; `milliseconds`: how long it took to answer now."""

    id: int
    name: str
    kind: str  # what it computed on when the client was made
    reachable: bool
    milliseconds: float
    why: str = ""


class Client:
    """A connection to servers, each a device, with this machine behind them.

    Args:
      servers: "gpu-1:7070"; None: those of HAWSER_SERVERS. Where there are none
        this machine computes.
    """

    def __init__(self, servers: typing.Optional[typing.Sequence[str]] = None):
        args = _CreateArgs()
        if servers is not None:
            text = ",".join(servers).encode()
            option = _NamedValue(name=b"servers", name_size=7, type=0,
                                 text=text, size=len(text))
            args.options, args.count = ctypes.addressof(option), 1
        self._handle = _call(_CLIENT_CREATE, args).client
        self._end = weakref.finalize(
            self, _destroy, _CLIENT_DESTROY, self._handle)
        listed = _call(_CLIENT_DEVICES, _Handle(handle=self._handle))
        self._devices = list((_POINTER * listed.size).from_address(listed.out))

    @property
    def devices(self) -> typing.List[str]:
        """What the devices are called."""
        texts = []
        for device in self._devices:
            description = _call(_DEVICE_DESCRIPTION, _Handle(handle=device)).out
            text = _call(_DESCRIPTION_TEXT, _Handle(handle=description))
            texts.append(ctypes.string_at(text.out, text.size).decode())
        return texts

    def status(self) -> typing.List[DeviceStatus]:
        """Asks every device whether it is there."""
        here = self.put(0)
        return [DeviceStatus(**one)
                for one in _abi.ask("status", buffers=[here._handle])]

    def put(self, value: Value, device: int = 0) -> Array:
        """Sends a value to a device, where it stays.

        Raises:
          TypeError: its elements are none that hawser has.
        """
        array = _abi.dense(value)
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        args = _call(_PUT, _PutArgs(
            client=self._handle, data=array.ctypes.data,
            type=_abi.TYPES[array.dtype.name], dims=ctypes.addressof(dims),
            rank=array.ndim, device=self._devices[device]))
        _await(args.done)
        return Array(self, args.buffer)

    def compile(self, code: typing.Union[str, bytes],
                device: int = 0) -> Program:
        """Compiles StableHLO for a device: text, or a portable artifact.

        Raises:
          HawserError: INVALID_ARGUMENT with line and column; UNIMPLEMENTED
            with all that hawser lacks.
        """
        bytes_ = code.encode() if isinstance(code, str) else bytes(code)
        program = _Code(code=bytes_, code_size=len(bytes_), format=b"mlir",
                        format_size=4)
        # A CompileOptionsProto: the build options, their assignment of devices,
        # its only computation, its devices.
        options = _message(3, _message(9, _message(3, _message(
            1, bytes([device])))))
        args = _call(_COMPILE, _CompileArgs(
            client=self._handle, code=ctypes.addressof(program),
            options=options, options_size=len(options)))
        return Program(self, args.program, device)


def _message(field: int, of: bytes) -> bytes:
    """A field of a protobuf that holds these bytes, fewer than 128."""
    return bytes([field << 3 | 2, len(of)]) + of
