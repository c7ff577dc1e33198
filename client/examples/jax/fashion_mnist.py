"""A classifier of Fashion-MNIST with dropout, trained by Optax's Adam.

On a device of hawser the images are a dataset: they are sent once, and every
later program has them by the token that this one prints.

    apt install dataset-fashion-mnist
"""

import functools
import gzip
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
BATCH = 256


def read(name, offset, *shape):
    data = gzip.decompress((FOLDER / f"{name}-ubyte.gz").read_bytes())
    return np.frombuffer(data, np.uint8, offset=offset).reshape(-1, *shape)


def arrays():
    images, labels = read("t10k-images-idx3", 16, 784), read("t10k-labels-idx1", 8)
    if jax.devices()[0].platform != "hawser":
        return jnp.asarray(images), jnp.asarray(labels)
    import hawser.jax as hj  # pylint: disable=import-outside-toplevel

    data = hj.put({"images": images, "labels": labels})
    hj.tag("@fashion-mnist", data.token)  # from now on also by that name
    return data["images"], data["labels"]


def logits(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, key, images, labels):
    kept = jax.random.bernoulli(key, 0.8, images.shape)
    x = jnp.where(kept, images.astype(jnp.float32) / 255 / 0.8, 0)
    return optax.softmax_cross_entropy_with_integer_labels(
        logits(params, x), labels.astype(jnp.int32)).mean()


optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, state, key, images, labels, i):
    begin = i * BATCH % (len(images) - BATCH)
    x = jax.lax.dynamic_slice_in_dim(images, begin, BATCH)
    y = jax.lax.dynamic_slice_in_dim(labels, begin, BATCH)
    value, gradient = jax.value_and_grad(loss)(params, key, x, y)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, value


@jax.jit
def accuracy(params, images, labels):
    guessed = jnp.argmax(logits(params, images.astype(jnp.float32) / 255), -1)
    return jnp.mean(guessed == labels)


def main():
    images, labels = arrays()
    key = jax.random.key(0)
    params = []
    for rows, columns in ((784, 128), (128, 10)):
        key, drawn = jax.random.split(key)
        w = jax.random.normal(drawn, (rows, columns)) * (2 / rows) ** 0.5
        params.append((w, jnp.zeros(columns)))
    state = optimizer.init(params)
    for i in range(60):
        key, dropped = jax.random.split(key)
        params, state, value = step(params, state, dropped, images, labels, i)
        if i % 20 == 19:
            print(f"step {i + 1}: loss {float(value):.4f}", flush=True)
    print(f"accuracy {float(accuracy(params, images, labels)):.4f}")
    print(f"on {jax.devices()[0].platform}")


if __name__ == "__main__":
    main()
