"""The shared library by ctypes: its table of entries, its errors, its extension.

Structs are those of client/pjrt/abi; each begins with its size.
"""

import ctypes
import functools
import json
import typing

from hawser import library

# Entries by their places in the table (client/pjrt/abi/entries.def).
ERROR_DESTROY, ERROR_MESSAGE, ERROR_GET_CODE = 0, 1, 2

_EXTENSION_TYPE = 0x48575352

# Codes of errors, as in absl and gRPC.
_CODES = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND "
          "ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED "
          "FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL "
          "UNAVAILABLE DATA_LOSS UNAUTHENTICATED").split()

# PJRT_Buffer_Type by the names of NumPy's dtypes.
TYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6,
    "uint16": 7, "uint32": 8, "uint64": 9, "float16": 10, "float32": 11,
    "float64": 12, "bfloat16": 13, "complex64": 14, "complex128": 15,
}

# The names that hawser gives dtypes.
DTYPES = {
    "bool": "bool", "s8": "int8", "s16": "int16", "s32": "int32",
    "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
    "bf16": "bfloat16", "c64": "complex64", "c128": "complex128",
}


class HawserError(RuntimeError):
    """What hawser says went wrong. `code`: "NOT_FOUND", "UNAVAILABLE", ..."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


def struct(name: str, *fields: typing.Tuple[str, type]) -> type:
    """A struct of the ABI: its size and an extension, then `fields`."""

    def init(self, **values):
        ctypes.Structure.__init__(self, ctypes.sizeof(type(self)), None)
        for field, value in values.items():
            setattr(self, field, value)

    return type(name, (ctypes.Structure,), {
        "_fields_": [("struct_size", ctypes.c_size_t),
                     ("extension", ctypes.c_void_p), *fields],
        "__init__": init})


ENTRY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

_ErrorArgs = struct("_ErrorArgs", ("error", ctypes.c_void_p))
_MessageArgs = struct("_MessageArgs", ("error", ctypes.c_void_p),
                      ("message", ctypes.c_void_p), ("size", ctypes.c_size_t))
_CodeArgs = struct("_CodeArgs", ("error", ctypes.c_void_p),
                   ("code", ctypes.c_int))


class _Table(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("extension_start", ctypes.c_void_p),
                ("version_size", ctypes.c_size_t),
                ("version_extension", ctypes.c_void_p),
                ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class _Extension(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int),
                ("next", ctypes.c_void_p), ("ask", ENTRY)]


class _Array(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int),
                ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("num_dims", ctypes.c_size_t), ("data", ctypes.c_void_p)]


_AskArgs = struct(
    "_AskArgs", ("request", ctypes.c_char_p), ("request_size", ctypes.c_size_t),
    ("buffers", ctypes.c_void_p), ("num_buffers", ctypes.c_size_t),
    ("arrays", ctypes.c_void_p), ("num_arrays", ctypes.c_size_t),
    ("answer", ctypes.c_void_p), ("answer_size", ctypes.c_size_t),
    ("delete_answer", ctypes.CFUNCTYPE(None, ctypes.c_void_p)))


class Api:
    """The table of one library. Thread-safe."""

    def __init__(self, path: str):
        self._library = ctypes.CDLL(path)  # kept
        self._library.GetPjrtApi.restype = ctypes.c_void_p
        self._address = self._library.GetPjrtApi()
        self.table = _Table.from_address(self._address)

    def entry(self, index: int):
        """The entry with that number."""
        address = (self._address + ctypes.sizeof(_Table) +
                   index * ctypes.sizeof(ctypes.c_void_p))
        return ENTRY(ctypes.c_void_p.from_address(address).value)

    def call(self, entry, args) -> None:
        """Calls an entry.

        Raises:
          HawserError: what it says.
        """
        error = entry(ctypes.addressof(args))
        if not error:
            return
        said = _MessageArgs(error=error)
        self.entry(ERROR_MESSAGE)(ctypes.addressof(said))
        message = ctypes.string_at(said.message, said.size)
        code = _CodeArgs(error=error)
        self.entry(ERROR_GET_CODE)(ctypes.addressof(code))
        gone = _ErrorArgs(error=error)
        self.entry(ERROR_DESTROY)(ctypes.addressof(gone))
        raise HawserError(_CODES[code.code], message.decode(errors="replace"))

    def extension(self) -> _Extension:
        """hawser's own extension."""
        address = self.table.extension_start
        while address:
            extension = _Extension.from_address(address)
            if extension.type == _EXTENSION_TYPE:
                return extension
            address = extension.next
        raise HawserError("UNIMPLEMENTED", "the library has no such extension")


@functools.lru_cache(maxsize=None)
def api() -> Api:
    """The table of the library that JAX uses, too."""
    return Api(library.path())


def dense(array):
    """`array` as NumPy has it densely.

    Raises:
      TypeError: its elements are none that hawser has.
    """
    import numpy as np  # pylint: disable=import-outside-toplevel

    values = np.ascontiguousarray(array).reshape(np.shape(array))
    if values.dtype.name not in TYPES:
        raise TypeError(f"hawser has no elements of {values.dtype}")
    return values


def ask(verb: str, buffers=(), arrays=(), **request):
    """Asks the extension, and returns its answer as JSON's values.

    Args:
      verb: one of client/pjrt/extension/extension.cc.
      buffers: handles of buffers (`jax.Array.unsafe_buffer_pointer()`).
      arrays: NumPy arrays, dense.
      request: the fields that the verb reads.

    Raises:
      HawserError: what it says.
    """
    text = json.dumps({"verb": verb, **request}).encode()
    handles = (ctypes.c_void_p * len(buffers))(*buffers)
    described = (_Array * len(arrays))()
    dims = [(ctypes.c_int64 * array.ndim)(*array.shape) for array in arrays]
    for to, array, sizes in zip(described, arrays, dims):
        to.type = TYPES[array.dtype.name]
        to.dims, to.num_dims = sizes, array.ndim
        to.data = array.ctypes.data
    args = _AskArgs(
        request=text, request_size=len(text),
        buffers=ctypes.addressof(handles), num_buffers=len(buffers),
        arrays=ctypes.addressof(described), num_arrays=len(arrays))
    api().call(api().extension().ask, args)
    try:
        return json.loads(ctypes.string_at(args.answer, args.answer_size))
    finally:
        args.delete_answer(args.answer)
