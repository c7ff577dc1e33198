"""Complex numbers and f64: a state of qubits, and the roots of a polynomial."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

HADAMARD = jnp.array([[1, 1], [1, -1]]) / jnp.sqrt(2.0)


def on_qubit(gate, state, qubit):
    state = jnp.tensordot(gate, state, axes=(1, qubit))
    return jnp.moveaxis(state, 0, qubit)


def phase(state, angle, control, target):
    """Turns the part in which both qubits are 1."""
    where = [slice(None)] * state.ndim
    where[control] = where[target] = 1
    return state.at[tuple(where)].multiply(jnp.exp(1j * angle))


@jax.jit
def transformed(state):
    """The quantum Fourier transform, gate by gate."""
    count = state.ndim
    for i in range(count):
        state = on_qubit(HADAMARD, state, i)
        for j in range(i + 1, count):
            state = phase(state, jnp.pi / 2 ** (j - i), j, i)
    return state.transpose(*range(count - 1, -1, -1))


@jax.jit
def roots(coefficients, guesses):
    """Aberth's steps: Newton's, of all roots at once, which repel each other."""
    def polish(z, _):
        value = jnp.polyval(coefficients, z)
        slope = jnp.polyval(jnp.polyder(coefficients), z)
        gaps = z[:, None] - z[None, :] + jnp.eye(z.size)
        others = jnp.sum(1 / gaps, axis=1) - 1
        ratio = value / slope
        return z - ratio / (1 - ratio * others), jnp.max(jnp.abs(value))
    return jax.lax.scan(polish, guesses, length=40)


def main():
    state = jnp.zeros((2,) * 6, jnp.complex128).at[0, 0, 1, 0, 1, 1].set(1)
    spectrum = transformed(state).ravel()
    print(f"norm {float(jnp.linalg.norm(spectrum)):.12f}", flush=True)
    wanted = jnp.exp(2j * jnp.pi * 11 * jnp.arange(64) / 64) / 8
    print(f"off by {float(jnp.max(jnp.abs(spectrum - wanted))):.6f}")
    laguerre = jnp.array([1.0, -16, 72, -96, 24])
    found, misses = roots(laguerre, (0.4 + 0.9j) ** jnp.arange(4))
    for root in jnp.sort(found.real):
        print(f"root {float(root):.10f}")
    print(f"misses {float(misses[-1]):.6f}")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
