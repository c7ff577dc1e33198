"""A classifier of two layers in Flax, with dropout, trained by Optax's Adam."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(64)(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(4)(x)


model = Classifier()
optimizer = optax.adamw(optax.cosine_decay_schedule(1e-2, 200))


def loss(params, key, x, labels):
    logits = model.apply(params, x, True, rngs={"dropout": key})
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, state, key, x, labels):
    value, gradient = jax.value_and_grad(loss)(params, key, x, labels)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, value


@jax.jit
def accuracy(params, x, labels):
    return jnp.mean(jnp.argmax(model.apply(params, x, False), -1) == labels)


def main():
    kx, kp, key = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(kx, (256, 2))
    labels = 2 * (x[:, 0] > 0) + (x[:, 1] > x[:, 0])
    params = model.init(kp, x, False)
    state = optimizer.init(params)
    for i in range(100):
        key, dropped = jax.random.split(key)
        params, state, value = step(params, state, dropped, x, labels)
        if i % 20 == 19:
            print(f"step {i + 1}: loss {float(value):.4f}", flush=True)
    print(f"accuracy {float(accuracy(params, x, labels)):.4f}")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
