"""A StableHLO file as XLA compiles it: what exported_program.cc is to hawser."""

import json
import time


MEANS_OVER, SAMPLES, SUMMARIES = 65536, 24, 8


def hashed(np, shape, dtype, number, low, high):
    """Argument `number` of a program, as HashedArgument makes it."""
    count = int(np.prod(shape, dtype=np.int64))
    with np.errstate(over="ignore"):
        h = (np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
             + np.uint32(number * 2246822519 % 2**32))
        h ^= h >> np.uint32(15)
        h *= np.uint32(2246822519)
        h ^= h >> np.uint32(13)
    if np.issubdtype(dtype, np.integer):
        values = int(low) + h.astype(np.int64) % max(1, int(high) - int(low))
    else:
        part = (h >> np.uint32(8)).astype(np.float32) / np.float32(2**24)
        values = np.float32(low) + np.float32(high - low) * part
    return values.astype(dtype).reshape(shape)


def summary(np, result):
    """What two sides compare of a result, as SummaryOf makes it."""
    flat = result.reshape(-1)
    n = flat.size
    some = np.real(flat[::max(1, n // MEANS_OVER)]).astype(np.float64)
    sample = [float(np.real(flat[n * j // SAMPLES]))
              for j in range(SAMPLES)] if n else []
    return {"n": n, "mean": float(some.mean()) if n else 0.0,
            "abs": float(np.abs(some).mean()) if n else 0.0, "sample": sample}


class Program:
    """Called, it queues a run; `facts` says what compiling took and the values.

    Its arguments and what is carried are those of programs.json beside it.
    """

    def __init__(self, path, device):
        import jax  # pylint: disable=import-outside-toplevel
        import numpy as np  # pylint: disable=import-outside-toplevel
        from jaxlib import xla_client  # pylint: disable=import-outside-toplevel

        ranges = json.loads((path.parent / "programs.json").read_text())
        entry = next(e for e in ranges if e["name"] == path.stem)
        self.arguments = [
            jax.device_put(hashed(np, a["shape"], jax.numpy.dtype(a["dtype"]),
                                  k + 1, a["lo"], a["hi"]), device)
            for k, a in enumerate(entry["args"])]
        self.carried = entry.get("carried", 0)
        begin = time.perf_counter()
        self.loaded = device.client.compile_and_load(
            path.read_text(), xla_client.DeviceList((device,)),
            xla_client.CompileOptions())
        compile_ms = (time.perf_counter() - begin) * 1e3
        values = [summary(np, np.asarray(result))
                  for result in self()[:SUMMARIES]]
        self.facts = {"compile_ms": compile_ms, "values": values}

    def __call__(self):
        results = self.loaded.execute(self.arguments)
        self.arguments[:self.carried] = results[:self.carried]
        return results
