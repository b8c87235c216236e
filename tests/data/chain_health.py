"""Golden values for tests/sample/chain_health_test.cpp: R-hat, bulk and tail ESS of ArviZ on fixed chains.

Run: python tests/data/chain_health.py > tests/data/chain_health.csv   (needs numpy and arviz; made with ArviZ 0.23.4)
Line: name, chains, draws, r_hat, bulk_ess, tail_ess, then the draws chain by chain. Seed 20240611.
"""
import arviz
import numpy as np

rng = np.random.default_rng(20240611)


def autoregressive(chains, draws, phi):
    x = np.zeros((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * rng.normal(size=chains)
    return x


cases = {
    "independent": rng.normal(size=(4, 100)),
    "correlated": autoregressive(4, 150, 0.9),
    "antithetic": autoregressive(4, 100, -0.6),
    "shifted_chain": autoregressive(4, 100, 0.3) + np.array([[0.0], [0.0], [0.0], [1.0]]),
    "wider_chain": rng.normal(size=(4, 100)) * np.array([[1.0], [1.0], [1.0], [4.0]]),
    "heavy_tail": rng.standard_cauchy(size=(4, 101)),
    "ties": np.floor(autoregressive(3, 120, 0.5) * 2),
    "two_chains": autoregressive(2, 200, 0.5),
    "short": rng.normal(size=(2, 10)),
}
for name, x in cases.items():
    x = np.round(x, 6)
    health = [arviz.rhat(x), arviz.ess(x, method="bulk"), arviz.ess(x, method="tail")]
    print(",".join([name, str(x.shape[0]), str(x.shape[1])] + [repr(float(v)) for v in health] + [repr(float(v)) for v in x.ravel()]))
