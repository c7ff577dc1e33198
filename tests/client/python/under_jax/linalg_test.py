"""Factorizations, and what JAX makes of them, beside NumPy's."""

import unittest

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(6, 6)).astype(np.float32)
B = RANDOM.normal(size=(6, 2)).astype(np.float32)
STACK = RANDOM.normal(size=(3, 5, 4)).astype(np.float32)
COMPLEX = (A + 1j * RANDOM.normal(size=(6, 6))).astype(np.complex64)
DEFINITE = A @ A.T + 6 * np.eye(6, dtype=np.float32)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 6 * np.eye(6, dtype=np.complex64)


class LinalgTest(unittest.TestCase):
    def near(self, got, want):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)

    def test_solves(self):
        self.near(jnp.linalg.solve(A, B), np.linalg.solve(A, B))
        self.near(jnp.linalg.inv(COMPLEX), np.linalg.inv(COMPLEX))
        self.near(jnp.linalg.slogdet(A)[1], np.linalg.slogdet(A)[1])
        self.near(jsl.cho_solve(jsl.cho_factor(DEFINITE), B),
                  np.linalg.solve(DEFINITE, B))
        self.near(jax.vmap(jnp.linalg.solve)(np.stack([A, DEFINITE]),
                                             np.stack([B, B])),
                  np.linalg.solve(np.stack([A, DEFINITE]), np.stack([B, B])))

    def test_factors(self):
        for mode in ("reduced", "complete"):
            q, r = jnp.linalg.qr(STACK, mode=mode)
            self.near(q @ r, STACK)
        for full in (False, True):
            u, s, vh = jnp.linalg.svd(STACK, full_matrices=full)
            self.near((u[..., :4] * s[..., None, :]) @ vh, STACK)
        for matrix in (DEFINITE, HERMITIAN):
            w, v = jnp.linalg.eigh(matrix)
            self.near((v * w) @ v.conj().T, matrix)
            self.near(jnp.linalg.cholesky(matrix), np.linalg.cholesky(matrix))
        p, l, u = jsl.lu(A)
        self.near(p @ l @ u, A)

    def test_functions_of_singular_values(self):
        self.near(jnp.linalg.pinv(STACK), np.linalg.pinv(STACK))
        self.near(jnp.linalg.norm(A, ord=2), np.linalg.norm(A, ord=2))
        self.assertEqual(jnp.linalg.matrix_rank(DEFINITE), 6)

    def test_eigenvalues(self):
        for matrix in (A, COMPLEX):
            w, v = jnp.linalg.eig(matrix)
            self.near(matrix @ v, v * w)
            self.near(np.linalg.norm(v, axis=0), np.ones(6))
            self.near(np.sort_complex(np.round(jnp.linalg.eigvals(matrix), 3)),
                      np.sort_complex(np.round(np.linalg.eigvals(matrix), 3)))
        text = jax.jit(jnp.linalg.eigvals).lower(A).as_text()
        self.assertIn("@hawser.eig", text)
        with self.assertRaisesRegex(NotImplementedError, "left vectors"):
            jax.jit(jax.lax.linalg.eig)(A)

    def test_gradients(self):
        inverse = np.linalg.inv(DEFINITE)
        self.near(jax.grad(lambda x: jnp.linalg.slogdet(x)[1])(DEFINITE), inverse)
        self.near(jax.grad(lambda x: jnp.sum(jnp.linalg.eigvalsh(x) ** 2) / 100)(
            DEFINITE), DEFINITE / 50)
        u, _, vh = np.linalg.svd(A)
        self.near(jax.grad(lambda x: jnp.sum(jnp.linalg.svd(
            x, compute_uv=False)))(A), u @ vh)

    def test_each_is_one_call(self):
        for name, call in (("svd", jnp.linalg.svd), ("eigh", jnp.linalg.eigh),
                           ("lu", jsl.lu_factor)):
            text = jax.jit(call).lower(DEFINITE).as_text()
            self.assertIn("@hawser." + name, text)
            self.assertNotIn("stablehlo.while", text)

    def test_some_of_the_values_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "eigh of some"):
            jax.jit(lambda x: jax.lax.linalg.eigh(x, subset_by_index=(0, 2)))(
                DEFINITE)


if __name__ == "__main__":
    unittest.main()
