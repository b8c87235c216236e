"""The score of a transition as a network's output, or as the gradient in θ_a of a scalar network (an energy, which would
also give a density to Markov chains)? The paper's network and preconditioning either way, the same transitions, steps and
seeds, judged by the denoising loss on held-out transitions: an error of the score, whatever made it.

    build/catena simulate TASK --budget 10000 --seed 1 -o transitions.nc
    python benchmarks/compare/energy_form.py transitions.nc      (needs jax and h5py)
"""

import sys
import time
from functools import partial

import h5py
import jax
import jax.numpy as jnp
import numpy as np

WIDTH, LAYERS, BATCH, STEPS, HELD_OUT = 50, 5, 1000, 8000, 1000


def dense(key, n_in, n_out):
    return {"w": jax.random.normal(key, (n_in, n_out)) / np.sqrt(n_in), "b": jnp.zeros(n_out)}


def initial(key, d, features, outputs):
    keys = jax.random.split(key, 2 * LAYERS + 4)
    return {
        "frequencies": jax.random.normal(keys[0], (1, 16)),
        "c": dense(keys[1], features, WIDTH // 2),
        "z": dense(keys[2], d, WIDTH // 2),
        "layers": [dense(keys[3 + i], WIDTH, WIDTH) for i in range(LAYERS - 1)],
        "times": [dense(keys[3 + LAYERS + i], 32, WIDTH) for i in range(LAYERS)],
        "out": dense(keys[-1], WIDTH, outputs),
    }


def apply(p, x):
    return x @ p["w"] + p["b"]


def schedule(a):
    """Variance preserving: m(a), σ(a)."""
    m = jnp.exp(-0.25 * a**2 * 9.9 - 0.05 * a)
    return m, jnp.sqrt(1 - m**2)


def network(w, z, a, c):
    _, sigma = schedule(a)
    phase = 2 * jnp.pi * sigma * w["frequencies"][0]
    features = jnp.concatenate([jnp.sin(phase), jnp.cos(phase)])
    h = jax.nn.gelu(jnp.concatenate([apply(w["c"], c), apply(w["z"], z)]) + apply(w["times"][0], features))
    for layer, time_layer in zip(w["layers"], w["times"][1:], strict=True):
        h = jax.nn.gelu(apply(layer, h) + apply(time_layer, features)) + h
        h = (h - h.mean()) / jnp.sqrt(h.var() + 1e-6)
    return apply(w["out"], h)


def score(form, w, z_a, a, c):
    """(m y − θ_a)/(m² s² + σ²) with s² = 1/2; y a network, or y = ∂E/∂(c_in θ_a)."""
    m, sigma = schedule(a)
    v = 0.5 * m**2 + sigma**2
    z_in = z_a * jnp.sqrt(0.5 / v)
    y = network(w, z_in, a, c) if form == "output" else jax.grad(lambda z: network(w, z, a, c)[0])(z_in)
    return (m * y - z_a) / v


def loss(form, w, z, c, a, eps):
    m, sigma = schedule(a)
    s = jax.vmap(partial(score, form, w))(m[:, None] * z + sigma[:, None] * eps, a, c)
    return jnp.mean(jnp.maximum(sigma**2, 0.01) * jnp.sum((s + eps / sigma[:, None]) ** 2, axis=1))


def train(form, z, c, decay, seed):
    d = z.shape[1]
    w = initial(jax.random.key(seed), d, c.shape[1], d if form == "output" else 1)
    held, rest = (z[:HELD_OUT], c[:HELD_OUT]), (z[HELD_OUT:], c[HELD_OUT:])
    zeros = jax.tree.map(jnp.zeros_like, w)

    def draw(key, data, n):
        keys = jax.random.split(key, 3)
        rows = jax.random.choice(keys[0], len(data[0]), (n,))
        return (data[0][rows], data[1][rows], jax.random.uniform(keys[1], (n,), minval=0.01), jax.random.normal(keys[2], (n, d)))

    def step(carry, i):
        w, mean, square = carry
        batch = draw(jax.random.fold_in(jax.random.key(seed + 1000), i), rest, BATCH)
        gradient = jax.grad(lambda w: loss(form, w, *batch))(w)
        rate = 2e-3 * 0.5 * (1 + jnp.cos(jnp.pi * i / STEPS)) * jnp.minimum(1, i / 500)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
        hat, hat2 = 1 - 0.9 ** (i + 1.0), 1 - 0.999 ** (i + 1.0)
        w = jax.tree.map(
            lambda p, m, s: p - rate * (m / hat / (jnp.sqrt(s / hat2) + 1e-8) + (decay * p if p.ndim == 2 else 0)), w, mean, square
        )
        return (w, mean, square), None

    pieces, best = 20, np.inf
    run = jax.jit(lambda carry, first: jax.lax.scan(step, carry, first + jnp.arange(STEPS // pieces))[0])
    test = draw(jax.random.key(7), held, 20 * HELD_OUT)  # the same noise for both forms
    measure = jax.jit(lambda w: loss(form, w, *test))
    carry, begin = (w, zeros, zeros), time.time()
    for piece in range(pieces):
        carry = run(carry, piece * STEPS // pieces)
        best = min(best, float(measure(carry[0])))  # early stopping
    return best, float(measure(carry[0])), time.time() - begin


def main(path):
    with h5py.File(path) as file:
        z, x, x_next = (np.array(file[name]) for name in ("z", "x", "x_next"))
    c = np.column_stack([x, x_next - x])
    c = jnp.asarray((c - c.mean(0)) / c.std(0), jnp.float32)
    z = jnp.asarray(z, jnp.float32)
    print(f"{'form':<8} {'decay':>6} {'seed':>4}  {'best held-out':>13}  {'last':>8}  {'s':>5}")
    for seed in (1, 2, 3):
        for decay in (0.01, 0.1):
            for form in ("output", "energy"):
                best, last, seconds = train(form, z, c, decay, seed)
                print(f"{form:<8} {decay:>6} {seed:>4}  {best:13.4f}  {last:8.4f}  {seconds:5.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
