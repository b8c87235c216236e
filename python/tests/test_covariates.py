"""Covariates: known inputs u of a step, in tables, series, transitions, posteriors and forecasts. The simulator is that of
the task driven_ar, x' = 0.8 x + a + b u + N(0, 0.5²), whose posterior is exact."""

import pickle

import catena
import numpy as np
import pandas as pd
import pytest
from drift_walk import QUIET

QUICK = {"density": "gaussian", "width": 24, "layers": 2, "decay": 0.1}
TRANSITIONS = 20


def driven_step(theta, x, u, rng):
    return 0.8 * x + theta[:, :1] + theta[:, 1:] * u + 0.5 * rng.standard_normal(x.shape)


def sure_step(theta, x, u):
    """Without noise: a step can be computed."""
    return x + theta[:, :1] + theta[:, 1:] * u


@pytest.fixture(scope="module")
def prior():
    return catena.priors.Independent({"a": catena.priors.Normal(), "b": catena.priors.Normal()})


@pytest.fixture(scope="module")
def task():
    return catena.tasks.get("driven_ar")


@pytest.fixture(scope="module")
def table(task):
    return pd.DataFrame(task.covariates, columns=["warmth"])


@pytest.fixture(scope="module")
def observed(task):
    return task.observe(TRANSITIONS, theta=[0.4, 1.2], seed=3)


@pytest.fixture(scope="module")
def frame(observed):
    return pd.DataFrame({"warmth": observed.covariates[:, 0], "level": observed.series[:, 0]})


@pytest.fixture(scope="module")
def data(prior, table):
    return catena.simulate(
        driven_step, prior, covariates=table, proposal=catena.proposals.Gaussian(0, 4), state_names=["level"], budget=8000,
        seed=1, **QUIET,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fnle(data):
    return catena.FNLE(**QUICK).append_simulations(data).train(steps=1200, seed=2, **QUIET)


@pytest.fixture
def posterior(fnle, frame):
    return fnle.build_posterior().set_default_x(frame)


def exact_moments(observed):
    """Mean and standard deviations of the conjugate posterior."""
    w = np.column_stack([np.ones(TRANSITIONS), observed.covariates[:-1, 0]])
    y = observed.series[1:, 0] - 0.8 * observed.series[:-1, 0]
    covariance = np.linalg.inv(np.eye(2) + w.T @ w / 0.25)
    return covariance @ w.T @ y / 0.25, np.sqrt(np.diag(covariance))


def test_a_step_is_given_the_rows_of_the_table(prior):
    rows = pd.DataFrame({"warmth": [1.5, 2.5, 4.5], "day": [3, 4, 5]})
    seen = []

    def step(theta, x, u):
        seen.append(u)
        return x + theta[:, :1] * u[:, :1] + u[:, 1:]

    made = catena.simulate(step, prior, covariates=rows, proposal=catena.proposals.Gaussian(0, 1), budget=500, **QUIET)
    assert made.covariate_names == ["warmth", "day"] and made.u.shape == (500, 2)
    np.testing.assert_array_equal(np.concatenate(seen), made.u)
    np.testing.assert_array_equal(made.x_next, made.x + made.theta[:, :1] * made.u[:, :1] + made.u[:, 1:])
    assert set(made.u[:, 1]) == {3, 4, 5}  # whole numbers stay what they are
    nearest = np.abs(made.u[:, :1] - rows["warmth"].to_numpy()).min(axis=1)
    assert 0 < nearest.max() < 5.5 * 0.1 * rows["warmth"].std(ddof=0)  # a tenth of the spread as noise


def test_the_reference_is_the_conjugate_posterior(task, observed):
    draws = task.reference(observed, n=4000, seed=1, **QUIET)
    mean, sd = exact_moments(observed)
    # 4.5 standard errors of 4,000 independent draws, 4 checks: a false alarm in 37,000 seeds.
    assert np.all(np.abs(draws.mean(0) - mean) < 4.5 * sd / np.sqrt(4000))
    assert np.all(np.abs(draws.std(0) / sd - 1) < 4.5 / np.sqrt(8000))


def test_fnle_finds_the_exact_posterior_and_without_the_covariates_does_not(prior, task, data, fnle, observed, frame):
    mean, sd = exact_moments(observed)
    exact = task.reference(observed, n=1000, seed=2, **QUIET)
    found = fnle.build_posterior().sample((1000,), x=frame, seed=1, **QUIET)
    # A small network's error, as in test_declared.py: means within half a deviation, deviations within a factor e^±0.25.
    # (The default networks are within 0.35, with a C2ST of 0.52 or less: docs/extensions/covariates.md.)
    assert np.all(np.abs(found.mean(0) - mean) < 0.5 * sd)
    assert np.all(np.abs(np.log(found.std(0) / sd)) < 0.25)
    assert catena.evaluate(found, exact, "c2st")["c2st"] < 0.62
    blind = catena.FNLE(prior, **QUICK).append_simulations(data.theta, data.x, data.x_next, state_names=["level"])
    ignored = blind.train(steps=1200, seed=2, **QUIET).build_posterior().sample((1000,), x=frame[["level"]], seed=1, **QUIET)
    assert abs(ignored.mean(0)[1] - mean[1]) > 3 * sd[1]  # it cannot know b
    assert ignored.std(0)[1] > 2 * sd[1]
    assert catena.evaluate(ignored, exact, "c2st")["c2st"] > 0.8


@pytest.mark.parametrize(
    "estimator",
    [
        catena.FNLE(density="separable", decay=0.1),
        catena.FNLE(density="nsf", decay=0.1),
        catena.FNRE(network="gaussian", decay=0.1),
        catena.FNSE(network="separable", ensemble=1),
        catena.FNBE(density="gaussian", decay=0.1),
    ],
    ids=["fnle-separable", "fnle-nsf", "fnre", "fnse", "fnbe"],
)
def test_every_method_sees_them(estimator, prior, data, observed):
    estimator.prior = None
    posterior = estimator.append_simulations(data).train(steps=600, seed=2, **QUIET).build_posterior()
    u = observed.covariates
    as_is = posterior.sample((200,), x=observed.series, covariates=u, **QUIET).mean(0)
    mirrored = posterior.sample((200,), x=observed.series, covariates=-u, **QUIET).mean(0)
    # b is 1.2 with a deviation of 0.1; with −u for u it is −1.2. What few steps have learned is right in size.
    assert as_is[1] > 0.6 and mirrored[1] < -0.6


def test_a_series_may_have_them_as_columns_or_beside_it(posterior, observed, frame):
    by_name = posterior.sample((50,), x=frame, **QUIET)
    beside = posterior.sample((50,), x=observed.series, covariates=observed.covariates, **QUIET)
    observation = posterior.sample((50,), x=observed, **QUIET)
    last = frame.copy()
    last.loc[TRANSITIONS, "warmth"] = np.nan  # from which no transition starts
    for other in (beside, observation, posterior.sample((50,), x=last, **QUIET)):
        np.testing.assert_array_equal(by_name, other)
    two = posterior.sample((50,), x=[observed.series, observed.series], covariates=[observed.covariates] * 2, **QUIET)
    assert (two.std(0) < by_name.std(0)).all()
    theta = by_name[:3]
    assert posterior.log_likelihood(theta, x=frame).shape == (3, TRANSITIONS)
    np.testing.assert_array_equal(posterior.log_prob(theta), posterior.log_prob(theta, x=observed))
    assert posterior.map(**QUIET).shape == (2,)
    batched = posterior.sample_batched((50,), [frame, observed], **QUIET)
    np.testing.assert_allclose(batched[:, 0].mean(0), batched[:, 1].mean(0), atol=0.2)
    given = posterior.sample_batched((50,), [observed.series] * 2, covariates=[observed.covariates] * 2, **QUIET)
    np.testing.assert_array_equal(batched, given)


def test_what_is_wrong_with_them_is_one_sentence(prior, posterior, data, observed, frame, table):
    def refused(kind, sentence, call, *arguments, **keywords):
        with pytest.raises(kind, match=sentence) as caught:
            call(*arguments, **{**QUIET, **keywords})
        assert "\n" not in str(caught.value)

    sample = posterior.sample
    refused(ValueError, "x has no column 'warmth', but must have it: it is a covariate", sample, (5,), x=frame[["level"]])
    refused(ValueError, "the column 'moon' of x is unknown", sample, (5,), x=frame.assign(moon=1.0))
    refused(TypeError, r"the covariates \(warmth\) are missing, but must be columns of x", sample, (5,), x=observed.series)
    refused(ValueError, "covariates has 3 rows, but must have 21", sample, (5,), x=observed.series, covariates=[1.0, 2, 3])
    holed = frame.copy()
    holed.loc[4, "warmth"] = np.nan
    refused(ValueError, "the covariate warmth in row 5 of the series is missing, but must be finite", sample, (5,), x=holed)
    holed.loc[4, "level"] = np.nan  # missing with its state: only the gap is to be said
    refused(ValueError, "the step from row 4 to row 6 of the series is 2, but must be from one row", sample, (5,), x=holed)
    assert sample((5,), x=holed, cut_gaps=True, **QUIET).shape == (5, 2)

    box = {"proposal": catena.proposals.Gaussian(0, 1), "budget": 100}
    refused(TypeError, "covariates is missing, but must be a table", catena.simulate, driven_step, prior, **box)
    refused(ValueError, "the range of steps is 1..3, but must be left out", catena.simulate, driven_step, prior,
            covariates=table, gaps=(1, 3), **box)  # fmt: skip
    refused(TypeError, "has no argument u to take them", catena.simulate, lambda theta, x: x, prior, covariates=table, **box)
    refused(ValueError, "must be left out: the simulator takes none", catena.tasks.get("gaussian_rw").simulate,
            covariates=table, budget=100)  # fmt: skip
    refused(TypeError, "has no argument u, but there are covariates", posterior.check, lambda theta, x, rng: x)
    renamed = table.rename(columns={"warmth": "cold"})
    other = catena.simulate(driven_step, prior, covariates=renamed, state_names=["level"], **box, **QUIET)
    with pytest.raises(ValueError, match="the covariates are cold, but must be warmth"):
        catena.FNLE().append_simulations(data).append_simulations(other)


def test_transitions_keep_them(data, prior, tmp_path):
    data.save(tmp_path / "transitions.nc")
    for other in (catena.Transitions.load(tmp_path / "transitions.nc"), pickle.loads(pickle.dumps(data))):
        np.testing.assert_array_equal(other.u, data.u)
        assert other.covariate_names == ["warmth"]
    dataset = data.to_xarray()
    assert dataset["u"].dims == ("transition", "covariate")
    estimator = catena.FNLE(prior, **QUICK).append_simulations(dataset)
    np.testing.assert_array_equal(estimator._data[0].u, data.u)
    assert estimator._data[0].covariate_names == ["warmth"]
    given = catena.Transitions.from_arrays(prior, data.theta, data.x, data.x_next, u=data.u)
    assert given.covariate_names == ["u_1"] and given.u.shape == (8000, 1)


def test_the_learned_transition_takes_them(fnle, data):
    theta, x, u = [[0.4, 1.2]], [[1.0]], [[0.0], [1.0]]
    draws = fnle.simulate(np.repeat(theta, 4000, 0), x, u=[[1.0]], seed=1)
    # Mean 0.8 + 0.4 + 1.2 of draws with deviation 0.5; the network's error is some 0.05.
    assert abs(draws.mean() - 2.4) < 0.15 and abs(draws.std() - 0.5) < 0.1
    low, high = fnle.log_density(theta, x, [[2.4]], u=u)
    assert high > low + 1  # 2.4 is where u = 1 leads, and 2.4 deviations from where u = 0 does
    with pytest.raises(TypeError, match="u is missing, but must be given"):
        fnle.log_density(theta, x, [[2.4]])


def test_a_forecast_needs_those_of_the_steps_ahead(posterior, observed, frame, table):
    posterior.sample((64,), x=frame, **QUIET)
    ahead = table.iloc[TRANSITIONS + 1 :]
    found = posterior.predict(sure_step, 10, horizon=3, covariates=ahead, **QUIET)
    u = observed.covariates[:, 0]
    wanted = observed.series[:-1, 0] + found.theta[:, :1] + found.theta[:, 1:] * u[:-1]
    np.testing.assert_allclose(found.one_step[:, 1:, 0], wanted, atol=1e-12)
    inputs = table["warmth"].to_numpy()[TRANSITIONS : TRANSITIONS + 3]
    wanted = observed.series[-1, 0] + np.cumsum(found.theta[:, :1] + found.theta[:, 1:] * inputs, axis=1)
    np.testing.assert_allclose(found.forecast[:, :, 0], wanted, atol=1e-12)
    with pytest.raises(ValueError, match="rows of covariates beyond the last observed state is 0, but must be 2 or more"):
        posterior.predict(sure_step, 10, horizon=3, **QUIET)

    longer = pd.concat([frame, ahead.iloc[:2].assign(level=np.nan)], ignore_index=True)
    by_rows = posterior.predict(sure_step, 10, x=longer, horizon=3, **QUIET)
    wanted = observed.series[-1, 0] + np.cumsum(by_rows.theta[:, :1] + by_rows.theta[:, 1:] * inputs, axis=1)
    np.testing.assert_allclose(by_rows.forecast[:, :, 0], wanted, atol=1e-12)
    np.testing.assert_array_equal(by_rows.forecast_times, TRANSITIONS + 1 + np.arange(3))
    both = np.r_[observed.covariates, ahead.to_numpy()]
    beside = posterior.predict(sure_step, 10, x=observed.series, covariates=both, horizon=3, **QUIET)
    np.testing.assert_array_equal(beside.forecast, by_rows.forecast)


def test_draws_files_and_arviz_keep_them(posterior, observed, frame, tmp_path):
    pytest.importorskip("arviz")
    posterior.sample((40,), x=frame, **QUIET)
    posterior.draws.save(tmp_path / "posterior.nc")
    read = catena.Draws.load(tmp_path / "posterior.nc")
    assert read.covariate_names == ["warmth"]
    np.testing.assert_array_equal(read.series[0].covariates, observed.covariates)
    constant = posterior.to_arviz().constant_data["covariates"]
    np.testing.assert_array_equal(constant.values, observed.covariates)
    assert list(constant["covariate"].values) == ["warmth"]


@pytest.mark.parametrize("streams", [False, True], ids=["fnle", "fnse"])
def test_a_series_may_grow(streams, fnle, data, observed):
    if streams:
        fnle = catena.FNSE(network="separable", ensemble=1).append_simulations(data).train(steps=400, seed=2, **QUIET)
    x, u = observed.series, observed.covariates
    whole = fnle.build_posterior().sample((2000,), x=x, covariates=u, seed=1, **QUIET)
    growing = fnle.build_posterior().update(x[:8], covariates=u[:8])
    growing.sample((10,), **QUIET)
    grown = growing.update(x[8:], covariates=u[8:]).sample((2000,), seed=1, **QUIET)
    if not streams:
        np.testing.assert_array_equal(whole, grown)
    # The same sums in another order: the draws of one seed differ by rounding, or, where that decides, as two runs do:
    # 4.5 standard errors of 2,000 draws, 2 checks.
    assert np.all(np.abs(whole.mean(0) - grown.mean(0)) < 4.5 * whole.std(0) * np.sqrt(2 / 2000))


def test_correction_check_and_calibration_take_them(fnle, task, observed, table):
    estimator = catena.FNLE(**QUICK).append_simulations(task.simulate(budget=6000, **QUIET)).train(steps=800, **QUIET)
    posterior = estimator.build_posterior()
    long = task.observe(60, theta=[0.4, 1.2], seed=5)
    corrected = posterior.correct(x=long, budget=20_000, seed=1, **QUIET)
    w = np.column_stack([np.ones(60), long.covariates[:-1, 0]])
    covariance = np.linalg.inv(np.eye(2) + w.T @ w / 0.25)
    mean = covariance @ w.T @ (long.series[1:, 0] - 0.8 * long.series[:-1, 0]) / 0.25
    assert corrected.not_corrected == ""
    # Within half a deviation: a correction of 20,000 transitions is right to a fifth, and draws to 0.03.
    assert np.all(np.abs(corrected.draws.theta.mean(0) - mean) < 0.5 * np.sqrt(np.diag(covariance)))
    assert posterior.check(x=long, budget=2000, **QUIET).transitions == 60
    own = fnle.build_posterior()
    certificate = own.check(driven_step, x=long.series, covariates=long.covariates, budget=2000, **QUIET)
    assert certificate.transitions == 60
    found = catena.calibrate(posterior, task, transitions=5, series=20, draws=20, **QUIET)
    assert found.ranks.shape == (2, 20)
    small = {"initial_state": [0.0], "transitions": 5, "series": 20, "draws": 20, **QUIET}
    assert catena.calibrate(own, driven_step, covariates=table, **small).ranks.shape == (2, 20)
    with pytest.raises(TypeError, match="covariates is missing, but must be a table of warmth"):
        catena.calibrate(own, driven_step, **small)


def test_a_target_gives_its_own(prior, frame):
    target = catena.proposals.Target(frame, covariates="warmth", relative_noise=0.1)
    assert target.states == 1 and target.covariate_names == ["warmth"]
    made = catena.simulate(driven_step, prior, proposal=target, state_names=["level"], budget=500, **QUIET)
    nearest = np.abs(made.u - frame["warmth"].to_numpy()).min(axis=1)
    assert nearest.max() < 5.5 * 0.1 * frame["warmth"].std(ddof=0)


def test_series_from_the_prior_walk_through_the_table(prior):
    table = [[1.5], [2.5], [4.5]]
    found = prior.predict(sure_step, 5, initial_state=[0.0], transitions=2, covariates=table, **QUIET)
    wanted = np.cumsum(found.theta[:, :1] + found.theta[:, 1:] * [1.5, 2.5], axis=1)
    np.testing.assert_allclose(found.series[:, 1:, 0], wanted, atol=1e-12)
    longer = prior.predict(sure_step, 5, initial_state=[0.0], transitions=4, covariates=table, **QUIET)
    wanted = np.cumsum(longer.theta[:, :1] + longer.theta[:, 1:] * [1.5, 2.5, 4.5, 1.5], axis=1)
    np.testing.assert_allclose(longer.series[:, 1:, 0], wanted, atol=1e-12)
    with pytest.raises(ValueError, match="covariates has 3 rows, but must have 5"):
        prior.predict(sure_step, 5, x=np.zeros((5, 1)), covariates=table, **QUIET)
    task = catena.tasks.get("driven_ar")
    assert np.isfinite(task.prior.predict(task, 5, transitions=4, **QUIET).series).all()


def test_a_task_steps_with_them(task):
    theta, x = np.zeros((4000, 2)) + [0.4, 1.2], np.ones((4000, 1))
    # Mean 0.8 + 0.4 + 1.2 u of normals with deviation 0.5, within 4.5 standard errors.
    assert abs(task.step(theta, x, u=[[2.0]], seed=1).mean() - 3.6) < 4.5 * 0.5 / np.sqrt(4000)
    with pytest.raises(TypeError, match=r"the covariates \(u\) are missing"):
        task.step(theta, x)


def test_a_chain_of_higher_order_and_single_rows_take_them(prior):
    def step(theta, x, u, past):
        return x - past[:, 0] + theta[:, :1] + theta[:, 1:] * u

    made = catena.simulate(
        step, prior, order=2, covariates=[[1.5], [2.5]], proposal=catena.proposals.Gaussian(0, 1), budget=300, **QUIET
    )
    wanted = made.x[:, :1] - made.x[:, 1:] + made.theta[:, :1] + made.theta[:, 1:] * made.u
    np.testing.assert_allclose(made.x_next, wanted, atol=1e-12)
    with pytest.warns(UserWarning, match="row by row"):
        by_rows = catena.vectorize(lambda theta, x, u: x + theta[0] + theta[1] * u)
    single = catena.simulate(
        by_rows, prior, covariates=[[1.5], [2.5]], proposal=catena.proposals.Gaussian(0, 1), budget=100, **QUIET
    )
    wanted = single.x + single.theta[:, :1] + single.theta[:, 1:] * single.u
    np.testing.assert_allclose(single.x_next, wanted, atol=1e-12)


def test_a_block_has_those_of_each_step(prior, table, observed):
    made = catena.simulate(
        driven_step, prior, covariates=table, proposal=catena.proposals.Gaussian(0, 4), block=5, budget=20_000, seed=1, **QUIET
    )
    assert made.u.shape == (4000, 5) and made.covariate_names == ["warmth"]
    estimator = catena.FNLE(**QUICK).append_simulations(made).train(steps=1200, seed=2, **QUIET)
    found = estimator.build_posterior().sample((1000,), x=observed.series, covariates=observed.covariates, seed=1, **QUIET)
    mean, sd = exact_moments(observed)
    assert np.all(np.abs(found.mean(0) - mean) < 0.6 * sd)  # 4,000 records of five steps, by a network of 24 units
