"""Every family of priors: draws, densities, pickles, and what they refuse."""

import pickle

import catena
import numpy as np
import pytest
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
}


def test_every_family_of_the_registry_is_here():
    # MultivariateNormal has the first two; the last is the prior of a second round, which catena makes itself.
    several = {"correlated_normal", "standard_normal", "around"}
    assert set(FAMILIES) | several == set(_core.prior_families())


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_and_densities_are_those_of_scipy(name):
    family, exact = FAMILIES[name]
    prior = priors.Independent({"a": family})
    theta = prior.sample((2000,), seed=3)
    # Kolmogorov-Smirnov at 1e-6: the eight tests raise eight false alarms in a million runs.
    assert scipy.stats.kstest(theta[:, 0], exact.cdf).pvalue > 1e-6
    np.testing.assert_allclose(prior.log_prob(theta), exact.logpdf(theta[:, 0]), rtol=1e-10, atol=1e-12)
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert pickle.loads(pickle.dumps(family)) == family


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
    with pytest.raises(TypeError, match="must be a distribution of catena.priors"):
        priors.Independent({"a": 3})
    with pytest.raises(ValueError, match=r"must end in 1"):
        priors.Independent({"a": priors.Normal()}).log_prob(np.zeros((3, 2)))
    assert "alpha" in priors.Independent({"alpha": priors.Normal()})._repr_html_()
    assert "drift" in repr(catena.priors.Independent({"drift": priors.Normal()}))
