"""Every family of priors: draws, densities, pickles, and what they refuse."""

import pickle

import catena
import numpy as np
import pytest
import scipy.special
import scipy.stats
from catena import _core, priors

FAMILIES = {
    "normal": (priors.Normal(1, 2), scipy.stats.norm(1, 2)),
    "uniform": (priors.Uniform(1, 3), scipy.stats.uniform(1, 2)),
    "log_normal": (priors.LogNormal(0.5, 0.7), scipy.stats.lognorm(0.7, scale=np.exp(0.5))),
    "gamma": (priors.Gamma(2, 0.5), scipy.stats.gamma(2, scale=0.5)),
    "beta": (priors.Beta(2, 5), scipy.stats.beta(2, 5)),
    "exponential": (priors.Exponential(2), scipy.stats.expon(scale=0.5)),
    "half_normal": (priors.HalfNormal(0.3), scipy.stats.halfnorm(scale=0.3)),
    "truncated_normal": (priors.TruncatedNormal(0, 1, low=-1, high=2), scipy.stats.truncnorm(-1, 2)),
    "student_t": (priors.StudentT(3.5, -1, 2), scipy.stats.t(3.5, -1, 2)),
    "cauchy": (priors.Cauchy(1, 0.5), scipy.stats.cauchy(1, 0.5)),
    "half_cauchy": (priors.HalfCauchy(2), scipy.stats.halfcauchy(scale=2)),
    "laplace": (priors.Laplace(-1, 2), scipy.stats.laplace(-1, 2)),
    "logistic": (priors.Logistic(2, 0.5), scipy.stats.logistic(2, 0.5)),
    "inverse_gamma": (priors.InverseGamma(3, 2), scipy.stats.invgamma(3, scale=2)),
    "log_uniform": (priors.LogUniform(0.01, 10), scipy.stats.loguniform(0.01, 10)),
    "weibull": (priors.Weibull(1.5, 2), scipy.stats.weibull_min(1.5, scale=2)),
}


def test_every_family_of_the_registry_is_here():
    # MultivariateNormal has the first two; the third is the prior of a second round, which catena makes itself; the
    # others have tests of their own.
    several = {"correlated_normal", "standard_normal", "around", "truncated", "dirichlet", "fixed", "logit_normal"}
    assert set(FAMILIES) | several == set(_core.prior_families())


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_and_densities_are_those_of_scipy(name):
    family, exact = FAMILIES[name]
    prior = priors.Independent({"a": family})
    theta = prior.sample((2000,), seed=3)
    # Kolmogorov-Smirnov at 1e-6: the 16 tests raise 16 false alarms in a million runs.
    assert scipy.stats.kstest(theta[:, 0], exact.cdf).pvalue > 1e-6
    np.testing.assert_allclose(prior.log_prob(theta), exact.logpdf(theta[:, 0]), rtol=1e-10, atol=1e-12)
    z = np.linspace(-6, 6, 25)[:, None]
    below, above = scipy.stats.norm.cdf(z), scipy.stats.norm.sf(z)
    quantiles = np.where(z < 0, exact.ppf(below), exact.isf(above))
    np.testing.assert_allclose(prior._core.to_theta(z), quantiles, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(prior._core.to_z(prior._core.to_theta(z)), z, rtol=1e-6, atol=1e-9)
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert pickle.loads(pickle.dumps(family)) == family


@pytest.mark.parametrize("name", FAMILIES)
def test_frozen_distributions_of_scipy_become_these_families(name):
    family, exact = FAMILIES[name]
    converted = priors.as_family(exact, "test")
    theta = priors.Independent({"a": family}).sample((50,), seed=2)
    np.testing.assert_allclose(
        priors.Independent({"a": converted}).log_prob(theta), exact.logpdf(theta[:, 0]), rtol=1e-10, atol=1e-12
    )
    assert type(converted) is type(family)


def test_a_logit_normal_is_a_sigmoid_of_a_normal_between_its_bounds():
    prior = priors.Independent({"a": priors.LogitNormal(-0.5, 1.5, 1, 3)})
    z = np.linspace(-6, 6, 25)[:, None]
    theta = 1 + 2 * scipy.special.expit(-0.5 + 1.5 * z)
    np.testing.assert_allclose(prior._core.to_theta(z), theta, rtol=1e-13)
    np.testing.assert_allclose(prior._core.to_z(theta), z, rtol=1e-8, atol=1e-12)
    slope = 1.5 * (theta - 1) * (3 - theta) / 2  # dθ/dz
    np.testing.assert_allclose(prior.log_prob(theta), (scipy.stats.norm.logpdf(z) - np.log(slope))[:, 0], rtol=1e-9)
    assert prior.log_prob(np.array([[1.0], [3.5]])).tolist() == [-np.inf, -np.inf]


def test_distributions_of_several_parameters_come_from_scipy_too():
    normal = scipy.stats.multivariate_normal([0, 1], [[1.0, 0.8], [0.8, 2.0]])
    parts = scipy.stats.dirichlet([2.0, 3.0, 1.5])
    prior = priors.Independent({("a", "b"): normal, ("p", "q", "r"): parts})
    theta = prior.sample((20,), seed=1)
    seen = prior.complete(theta)
    exact = normal.logpdf(seen[:, :2]) + parts.logpdf(seen[:, 2:].T)
    np.testing.assert_allclose(prior.log_prob(theta), exact, rtol=1e-10)
    np.testing.assert_allclose(seen[:, 2:].sum(axis=1), 1, rtol=1e-15)


def of_torch(name, **attributes):
    """As torch's distributions look from outside; torch itself is no package of the tests."""
    return type(name, (), {"__module__": f"torch.distributions.{name.lower()}", **attributes})()


def test_distributions_of_torch_become_these_families():
    found = {
        "a": of_torch("Gamma", concentration=np.array(2.0), rate=np.array(4.0)),
        "b": of_torch("StudentT", df=np.array([3.0]), loc=np.array([0.5]), scale=np.array([2.0])),
        ("p", "q"): of_torch("Dirichlet", concentration=np.array([1.0, 2.0])),
    }
    wanted = {"a": priors.Gamma(2, 0.25), "b": priors.StudentT(3, 0.5, 2), ("p", "q"): priors.Dirichlet([1, 2])}
    assert priors.Independent(found) == priors.Independent(wanted)
    with pytest.raises(TypeError, match="a is torch's Gumbel, which has no counterpart here, but must be one of Normal"):
        priors.Independent({"a": of_torch("Gumbel", loc=0, scale=1)})


def test_truncated_families_are_those_of_scipy_between_the_bounds():
    exact = scipy.stats.t(4, 1, 2)
    prior = priors.Independent({"a": priors.Truncated(priors.StudentT(4, 1, 2), low=-0.5, high=6)})
    theta = prior.sample((2000,), seed=3)
    assert theta.min() > -0.5
    assert theta.max() < 6
    mass = exact.cdf(6) - exact.cdf(-0.5)
    assert scipy.stats.kstest(theta[:, 0], lambda x: (exact.cdf(x) - exact.cdf(-0.5)) / mass).pvalue > 1e-6
    np.testing.assert_allclose(prior.log_prob(theta), exact.logpdf(theta[:, 0]) - np.log(mass), rtol=1e-10, atol=1e-12)
    same = priors.Independent({"a": priors.Truncated(exact, low=-0.5, high=6)})
    np.testing.assert_array_equal(same.sample((5,), seed=3), theta[:5])
    assert pickle.loads(pickle.dumps(prior)) == prior


def test_a_simulator_sees_what_is_known_and_nobody_infers_it(tmp_path):
    prior = priors.Independent({"drift": priors.Normal(), "sd": 0.5, ("p", "q"): priors.Dirichlet([2, 2])})
    assert prior.names == ["drift", "p"]
    seen = []

    def step(theta, x, rng):
        seen.append(theta)
        return x + theta[:, :1] + theta[:, 1:2] * rng.standard_normal(x.shape)

    data = catena.simulate(
        step, prior, initial_state=lambda theta: theta[:, 1:2], budget=400, seed=1, show_progress_bars=False,
        proposal=catena.proposals.Predictive(series=5, length=20),
    )  # fmt: skip
    assert data.theta.shape == (300, 2)  # and 100 for the proposal
    assert all(batch.shape[1] == 4 for batch in seen)
    np.testing.assert_array_equal(np.concatenate(seen)[:, 1], 0.5)
    np.testing.assert_allclose(np.concatenate(seen)[:, 2:].sum(axis=1), 1, rtol=1e-14)
    data.save(tmp_path / "known.nc")
    assert catena.Transitions.load(tmp_path / "known.nc").prior == prior
    around = prior.around(prior.sample((50,)))
    assert around.seen_names == prior.seen_names
    np.testing.assert_array_equal(around.complete([[0.1, 0.25]]), [[0.1, 0.5, 0.25, 0.75]])


def test_a_multivariate_normal_has_several_names():
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    prior = priors.Independent({("a", "b"): priors.MultivariateNormal([0, 1], covariance), "c": priors.Uniform(0, 1)})
    theta = prior.sample((4000,), seed=1)
    assert prior.names == ["a", "b", "c"]
    # The correlation of 4,000 pairs has a standard error of (1 − 0.8²)/√4000 = 0.006.
    assert abs(np.corrcoef(theta[:, :2].T)[0, 1] - 0.8) < 4.5 * 0.006
    exact = scipy.stats.multivariate_normal([0, 1], covariance).logpdf(theta[:, :2])
    np.testing.assert_allclose(prior.log_prob(theta), exact, rtol=1e-9)


def test_what_is_outside_the_support_has_no_density():
    assert priors.Independent({"a": priors.Uniform(0, 1)}).log_prob([[2.0]])[0] == -np.inf


def test_seeds_decide_and_none_is_fresh():
    prior = priors.Independent({"a": priors.Normal()})
    np.testing.assert_array_equal(prior.sample((5,), seed=1), prior.sample((5,), seed=1))
    assert not np.array_equal(prior.sample((5,), seed=None), prior.sample((5,), seed=None))
    for wrong in (-1, 1.5, 2**64, "one"):
        with pytest.raises(ValueError, match="seed is"):
            prior.sample((5,), seed=wrong)


def test_misuse_is_one_sentence():
    with pytest.raises(ValueError, match="prior: high is 1, but must be above low"):
        priors.Uniform(2, 1)
    with pytest.raises(ValueError, match="gives 1 names"):
        priors.Independent({"a": priors.MultivariateNormal([0, 0], np.eye(2))})
    with pytest.raises(TypeError, match="must be a distribution of catena.priors: Beta, Cauchy"):
        priors.Independent({"a": "normal"})
    with pytest.raises(TypeError, match="a list, but must be a dictionary"):
        priors.Independent([priors.Normal()])
    with pytest.raises(ValueError, match="is empty, but must have a distribution"):
        priors.Independent({})
    with pytest.raises(ValueError, match="only known values"):
        priors.Independent({"a": 3})
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match=f"HalfNormal: sd is {wrong}, but must be finite"):
            priors.HalfNormal(wrong)
        with pytest.raises(ValueError, match=r"mean is (nan|inf), but must be finite"):
            priors.MultivariateNormal([0, wrong], np.eye(2))
    with pytest.raises(ValueError, match="TruncatedNormal: low is nan"):
        priors.TruncatedNormal(0, 1, low=np.nan)
    with pytest.raises(ValueError, match="Fixed: value is nan"):
        priors.Fixed(np.nan)
    with pytest.raises(TypeError, match="a is scipy.stats' gumbel_r, which has no counterpart here, but must be one of norm"):
        priors.Independent({"a": scipy.stats.gumbel_r()})
    with pytest.raises(ValueError, match="a is scipy.stats' gamma, whose loc is 1.0, but must be 0"):
        priors.Independent({"a": scipy.stats.gamma(2, loc=1)})
    with pytest.raises(ValueError, match="prior family is .*but must be one of normal"):
        _core.Prior.from_json('{"factors": [{"family": "gumbel", "names": ["a"]}]}')
    with pytest.raises(ValueError, match=r"must end in 1"):
        priors.Independent({"a": priors.Normal()}).log_prob(np.zeros((3, 2)))
    assert "alpha" in priors.Independent({"alpha": priors.Normal()})._repr_html_()
    assert "drift" in repr(catena.priors.Independent({"drift": priors.Normal()}))
