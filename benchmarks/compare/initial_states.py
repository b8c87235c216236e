"""Initial states that depend on θ: a network of their own, or one network for both with an input that says "nothing came
before this"? On stationary_ar1, whose posterior of x⁰ alone is exact: θ | x⁰ ~ N(10 x⁰ λ/(1 + 100 λ), 1/(1 + 100 λ)), λ = 0.19.

    PYTHONPATH=build/python .venv/bin/python benchmarks/compare/initial_states.py
"""

import catena
import numpy as np

BUDGET, SHARE, N = 8000, 0.2, 4000  # transitions and initial states in all, the share of the latter, draws
FIRST = (-20.0, -10.0, -3.0, 3.0, 10.0, 20.0)
QUIET = {"show_progress_bars": False}


def own_network(task, seed):
    data = task.simulate(budget=int(SHARE * BUDGET), initial=True, seed=seed, **QUIET)
    posterior = catena.FNLE().append_simulations(data).train(seed=seed, **QUIET).build_posterior()
    return lambda x: posterior.sample((N,), x=[[x]], **QUIET)


def shared_network(task, seed):
    """The state gets a second coordinate: 1 before an initial state, whose first is 0 then, and 0 otherwise."""
    first = task.simulate(budget=int(SHARE * BUDGET), initial=True, seed=seed, **QUIET)
    moves = task.simulate(budget=int((1 - SHARE) * BUDGET), seed=seed, **QUIET)
    before = np.concatenate([np.tile([0.0, 1.0], (len(first), 1)), np.column_stack([moves.x, np.zeros(len(moves))])])
    after = np.concatenate([first.x_next, moves.x_next])
    theta = np.concatenate([first.theta, moves.theta])
    mixed = np.random.default_rng(seed).permutation(len(theta))
    after = np.column_stack([after, np.zeros(len(after))])
    estimator = catena.FNLE(task.prior).append_simulations(theta[mixed], before[mixed], after[mixed])
    posterior = estimator.train(seed=seed, **QUIET).build_posterior()
    return lambda x: posterior.sample((N,), x=[[0.0, 1.0], [x, 0.0]], **QUIET)


def main():
    task = catena.tasks.get("stationary_ar1")
    precision = 1 + 100 * 0.19
    print(f"{'network':<8} {'seed':>4}  {'mean off, in sd':>16}  {'log sd ratio off':>16}   largest over x0 = {FIRST}")
    for seed in (1, 2, 3):
        for name, make in (("its own", own_network), ("shared", shared_network)):
            draw = make(task, seed)
            off, ratio = [], []
            for x in FIRST:
                theta = draw(x)[:, 0]
                off.append(abs(theta.mean() - 10 * x * 0.19 / precision) * precision**0.5)
                ratio.append(abs(np.log(theta.std() * precision**0.5)))
            print(f"{name:<8} {seed:>4}  {max(off):>16.3f}  {max(ratio):>16.3f}", flush=True)


if __name__ == "__main__":
    main()
