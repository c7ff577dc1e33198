"""A process that runs cases, asked by their numbers (deploy/jax/workers.py).

    worker.py EVERY
"""

import pathlib
import sys
import warnings

import jax
import numpy as np

import catalog
import compare

sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] /
                    "deploy/jax"))
import answers  # pylint: disable=wrong-import-position

WIDER = {"f": np.float64, "V": np.float64, "c": np.complex128}
# How often what was compiled is forgotten: its memory grows.
FORGET = 300


def as_array(leaf):
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(
            leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def results(case, device, widen=False):
    """What the case gives on this device, as arrays."""
    with jax.default_device(device), jax.enable_x64(case.x64 or widen):
        arguments = [
            argument if isinstance(argument, jax.Array) else np.asarray(argument)
            for argument in case.arguments()]
        if widen:
            arguments = [
                argument.astype(WIDER.get(argument.dtype.kind, argument.dtype))
                if isinstance(argument, np.ndarray) else argument
                for argument in arguments]
        arguments = [jax.device_put(argument, device) for argument in arguments]
        call = jax.jit(case.call) if case.jit else case.call
        return [as_array(leaf)
                for leaf in jax.tree_util.tree_leaves(call(*arguments))]


def compared(case, wants, gots, cpu):
    if len(wants) != len(gots):
        return f"{len(gots)} results, not {len(wants)}"
    wants, gots = case.settle(wants), case.settle(gots)
    stated = case.tolerance or compare.coarsest(case.arguments())
    said = [compare.difference(want, got, stated)
            for want, got in zip(wants, gots)]
    if not any(said):
        return None
    try:
        truths = case.settle(results(case, cpu, widen=True))
    except Exception:  # pylint: disable=broad-except
        truths = []  # no such function of wider numbers
    for number, words in enumerate(said):
        if words and not (len(truths) == len(gots) and compare.nearer(
                truths[number], wants[number], gots[number], stated)):
            return f"result {number}: {words}"
    return None


def verdict(case, hawser, cpu):
    """(outcome, why): passed, failed, left out, or that the CPU refuses."""
    # pylint: disable=broad-except
    try:
        wants = results(case, cpu)
    except Exception as error:
        return "no case", f"{type(error).__name__}: {error}"[:200]
    try:
        gots = results(case, hawser)
    except Exception as error:
        reason = answers.refusal(str(error))
        if reason:
            return "left out", reason
        return "failed", f"{type(error).__name__}: {error}"[:600]
    said = compared(case, wants, gots, cpu)
    known = catalog.KNOWN.get(case.name)
    if known:
        return ("left out", known) if said else (
            "failed", "it is the same now: catalog.py names it in vain")
    return ("failed", said) if said else ("passed", "")


def main():
    warnings.simplefilter("ignore")
    cases = catalog.all_cases(int(sys.argv[1]))
    hawser, cpu = jax.devices("hawser")[0], jax.devices("cpu")[0]
    done = 0

    def asked(number):
        nonlocal done
        done += 1
        if done % FORGET == 0:
            jax.clear_caches()
        return verdict(cases[int(number)], hawser, cpu)

    answers.answer("ready", asked)


if __name__ == "__main__":
    main()
