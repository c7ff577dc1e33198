"""Rows of jax.nn, jax.random and jax.scipy.special."""

import jax
import jax.numpy as jnp
from jax import nn, random
from jax.scipy import special

from case import FLOATS, Row

ACTIVATIONS = """
    celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity
    leaky_relu log_sigmoid log_softmax logmeanexp logsumexp mish relu relu6 selu
    sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus
    standardize swish tanh
"""
EVERY = ("one", "empty", "special", "grad", "vmap")


def activations():
    for name in ACTIVATIONS.split():
        takes = "T[m,6]" if name == "glu" else "T[m,n]"
        yield Row(name, takes, dtypes=FLOATS + ("i32",), variants=EVERY)
        yield Row(name, "T[5,130]", dtypes=("f32", "bf16"))
    for name in ("softmax", "log_softmax", "logsumexp", "standardize"):
        function = getattr(nn, name)
        yield Row(name, "T[m,n]", lambda a, f=function: f(a, axis=0),
                  dtypes=FLOATS, variants=EVERY)
        yield Row(name, "T[m,n] bool[m,n]",
                  lambda a, w, f=function: f(a, where=w), dtypes=("f32", "bf16"),
                  variants=("grad", "vmap", "empty"))
    yield Row("gelu", "T[m,n]", lambda a: nn.gelu(a, approximate=False),
              dtypes=FLOATS, variants=EVERY)
    yield Row("log1mexp", "T[m,n]+", dtypes=FLOATS, variants=EVERY)
    yield Row("one_hot", "i32[m]", lambda a: nn.one_hot(a, 5))
    yield Row("one_hot", "u8[m,n]", lambda a: nn.one_hot(a, 5, axis=0))
    for causal in (False, True):
        yield Row("dot_product_attention", "T[2,6,4,8] T[2,6,4,8] T[2,6,4,8]",
                  lambda q, k, v, c=causal: nn.dot_product_attention(
                      q, k, v, is_causal=c), dtypes=("f32", "bf16", "f16"),
                  variants=("grad", "vmap"))
    yield Row("dot_product_attention", "T[5,4,8] T[6,2,8] T[6,2,8]",
              nn.dot_product_attention, dtypes=("f32", "bf16"))
    yield Row("dot_product_attention", "T[2,6,4,8] T[2,6,4,8] T[2,6,4,8]",
              lambda q, k, v: nn.dot_product_attention(
                  q, k, v, local_window_size=2, query_seq_lengths=jnp.array(
                      [3, 6]), key_value_seq_lengths=jnp.array([4, 6])))
    yield Row("scaled_dot_general", "f32[2,64] f32[64,4]", lambda a, b: (
        nn.scaled_dot_general(a, b, (((1,), (0,)), ((), ())))))


# name, call: k the key, s the shape.
DRAWS = (
    ("ball", lambda k, s: random.ball(k, 3, shape=s)),
    ("bernoulli", lambda k, s: random.bernoulli(k, 0.3, s)),
    ("beta", lambda k, s: random.beta(k, 2.0, 3.0, s)),
    ("binomial", lambda k, s: random.binomial(k, 9, 0.4, s)),
    ("bits", random.bits),
    ("bits", lambda k, s: random.bits(k, s, "uint8")),
    ("bits", lambda k, s: random.bits(k, s, "uint16")),
    ("categorical", lambda k, s: random.categorical(
        k, jnp.arange(5.0), shape=s)),
    ("cauchy", random.cauchy),
    ("chisquare", lambda k, s: random.chisquare(k, 3.0, s)),
    ("choice", lambda k, s: random.choice(k, 10, s)),
    ("choice", lambda k, s: random.choice(
        k, 4, s, p=jnp.array([0.1, 0.2, 0.3, 0.4]))),
    ("dirichlet", lambda k, s: random.dirichlet(k, jnp.ones(4), s)),
    ("double_sided_maxwell", lambda k, s: random.double_sided_maxwell(
        k, 1.0, 2.0, s)),
    ("exponential", random.exponential),
    ("f", lambda k, s: random.f(k, 3.0, 5.0, s)),
    ("gamma", lambda k, s: random.gamma(k, 2.5, s)),
    ("gamma", lambda k, s: random.gamma(k, 0.4, s)),
    ("generalized_normal", lambda k, s: random.generalized_normal(k, 2.0, s)),
    ("geometric", lambda k, s: random.geometric(k, 0.3, s)),
    ("gumbel", random.gumbel),
    ("laplace", random.laplace),
    ("loggamma", lambda k, s: random.loggamma(k, 0.7, s)),
    ("logistic", random.logistic),
    ("lognormal", lambda k, s: random.lognormal(k, 0.5, s)),
    ("maxwell", random.maxwell),
    ("multinomial", lambda k, s: random.multinomial(
        k, 9, jnp.array([0.2, 0.3, 0.5]), shape=(*s, 3))),
    ("multivariate_normal", lambda k, s: random.multivariate_normal(
        k, jnp.zeros(3), jnp.eye(3) + 1, s)),
    ("multivariate_normal", lambda k, s: distances(k, s, "eigh")),
    ("multivariate_normal", lambda k, s: distances(k, s, "svd")),
    ("normal", random.normal),
    ("normal", lambda k, s: random.normal(k, s, "bfloat16")),
    ("normal", lambda k, s: random.normal(k, s, "complex64")),
    ("orthogonal", lambda k, s: random.orthogonal(k, 3, s)),
    ("pareto", lambda k, s: random.pareto(k, 2.0, s)),
    ("permutation", lambda k, s: random.permutation(k, 12)),
    ("permutation", lambda k, s: random.permutation(
        k, jnp.arange(12).reshape(4, 3), axis=1, independent=True)),
    ("poisson", lambda k, s: random.poisson(k, 3.0, s)),
    ("poisson", lambda k, s: random.poisson(k, 40.0, s)),
    ("rademacher", random.rademacher),
    ("randint", lambda k, s: random.randint(k, s, -5, 50)),
    ("randint", lambda k, s: random.randint(k, s, 0, 200, "uint8")),
    ("rayleigh", lambda k, s: random.rayleigh(k, 2.0, s)),
    ("t", lambda k, s: random.t(k, 3.0, s)),
    ("triangular", lambda k, s: random.triangular(k, 0.0, 1.0, 3.0, s)),
    ("truncated_normal", lambda k, s: random.truncated_normal(
        k, -1.0, 2.0, s)),
    ("uniform", random.uniform),
    ("uniform", lambda k, s: random.uniform(k, s, "float16")),
    ("wald", lambda k, s: random.wald(k, 2.0, s)),
    ("weibull_min", lambda k, s: random.weibull_min(k, 2.0, 3.0, s)),
    ("fold_in", lambda k, s: random.fold_in(k, 7)),
    ("split", lambda k, s: random.split(k, 5)),
    ("clone", lambda k, s: random.clone(k)),
    ("key_data", lambda k, s: random.key_data(random.wrap_key_data(k))),
    ("wrap_key_data", lambda k, s: random.normal(random.wrap_key_data(k), s)),
    ("wrap_key_data", lambda k, s: random.normal(random.wrap_key_data(
        jnp.concatenate([k, k]), impl="rbg"), s)),
    ("wrap_key_data", lambda k, s: random.bits(random.wrap_key_data(
        jnp.concatenate([k, k]), impl="unsafe_rbg"), s)),
    ("key", lambda k, s: random.uniform(random.fold_in(random.key(5), 1), s)),
    ("PRNGKey", lambda k, s: random.PRNGKey(k[0])),
)


def distances(key, shape, method):
    """How far draws are from the mean, in standard deviations: that is of the
    normal numbers that they are made of, whichever vectors `method` gives."""
    spread = jnp.eye(3) + 1
    draws_ = random.multivariate_normal(key, jnp.zeros(3), spread, shape,
                                        method=method)
    return jnp.einsum("...i,ij,...j", draws_, jnp.linalg.inv(spread), draws_)


def draws():
    for name, call in DRAWS:
        for shape in ((), (1,), (9,), (3, 4), (0, 3)):
            yield Row(name, "key[]", lambda k, c=call, s=shape: c(k, s),
                      dtypes=("f32", "f64") if shape == (9,) else ("f32",))
        yield Row(name, "u32[2]", lambda k, c=call: c(k, (4,)),
                  variants=("vmap",))


ONE = """
    bernoulli dawsn digamma entr erf erfc erfcx erfinv exp1 expi expit factorial
    fresnel gamma gammaln gammasgn i0 i0e i1 i1e log_ndtr log_softmax loggamma
    logit logsumexp ndtr ndtri sici softmax spence
"""
TWO = """
    beta betaln boxcox boxcox1p comb gammainc gammaincc kl_div owens_t poch
    rel_entr xlog1py xlogy zeta
"""
THREE = "betainc hyp1f1"


def specials():
    for name in ONE.split():
        if name == "bernoulli":
            yield Row(name, "", lambda: special.bernoulli(9))
            continue
        yield Row(name, "T[m,n]+", dtypes=FLOATS + ("i32",),
                  variants=EVERY)
        yield Row(name, "T[m,n]", dtypes=FLOATS)
        yield Row(name, "T[4,9]u", dtypes=FLOATS)
    for name in TWO.split():
        yield Row(name, "T[m,n]+ T[m,n]+", dtypes=FLOATS + ("i32",),
                  variants=EVERY)
        yield Row(name, "T[4,9] T[9]u", dtypes=("f32", "f64"))
    for name in THREE.split():
        yield Row(name, "T[m,n]+ T[m,n]+ T[m,n]u", dtypes=FLOATS, variants=EVERY)
    yield Row("hyp2f1", "T[n]+ T[n]+ T[n]+ T[n]u", dtypes=("f32", "f64"))
    yield Row("bessel_jn", "T[n]+", lambda z: special.bessel_jn(z, v=3),
              dtypes=("f32", "f64"))
    yield Row("expn", "i32[n]<4 T[n]+", dtypes=("f32", "f64"), variants=("vmap",))
    yield Row("multigammaln", "T[n]+", lambda a: special.multigammaln(a + 2, 3),
              dtypes=FLOATS, variants=("grad", "vmap"))
    yield Row("polygamma", "i32[n]<4 T[n]+", dtypes=FLOATS, variants=("vmap",))
    yield Row("sph_harm_y", "i32[5]<3 i32[5]<3 T[5]u T[5]u", lambda n, m, t, p: (
        special.sph_harm_y(n, m, t, p, n_max=4)), dtypes=("f32", "f64"))
    yield Row("wofz", "T[n]", dtypes=("c64", "c128", "f32"), variants=("vmap",))
    yield Row("loggamma", "T[n]", dtypes=("c64", "c128"))


MODULES = ((nn, "jax.nn", (activations,)), (random, "jax.random", (draws,)),
           (jax.scipy.special, "jax.scipy.special", (specials,)))
