"""Calibration tells a sound posterior from an overconfident one, and its file goes into a report."""

import catena
import numpy as np
import pytest
from drift_walk import NOISE, QUIET, drift_step

SIZE = {"series": 60, "draws": 40, "transitions": 6, **QUIET}


@pytest.fixture(scope="module")
def posterior(prior):
    wide = catena.proposals.Box(-25, 25)  # six steps of a drift of four standard deviations, and noise
    data = catena.simulate(drift_step, prior, proposal=wide, budget=3000, seed=1, **QUIET)
    estimator = catena.FNBE(prior).append_simulations(data).train(steps=400, seed=2, **QUIET)
    return estimator.build_posterior(steps=60)


def test_a_sound_posterior_and_an_overconfident_one_are_told_apart(posterior):
    def noisier(theta, x, rng):
        return x + theta + 3 * NOISE * rng.standard_normal(x.shape)

    with_truth = catena.calibrate(posterior, drift_step, initial_state=[0.0], seed=1, **SIZE)
    assert with_truth.ranks.shape == (1, 60) and with_truth.ranks.min() >= 0 and with_truth.ranks.max() <= 40
    # An exactly calibrated posterior has p < 1e-3 once in a thousand seeds; a real one is near it after 400 steps.
    assert with_truth.summary["parameters"]["drift"]["p_value"] > 1e-3
    with pytest.warns(UserWarning, match="outside the training range"):  # so much noise was never seen
        overconfident = catena.calibrate(posterior, noisier, initial_state=[0.0], seed=1, **SIZE)
    assert not overconfident.calibrated
    assert overconfident.summary["parameters"]["drift"]["p_value"] < 1e-6
    assert overconfident.summary["parameters"]["drift"]["mean_excess"] < -0.1  # too narrow
    assert "drift p=" in repr(overconfident)


def test_threads_do_not_change_the_ranks(posterior):
    small = {**SIZE, "series": 20}
    one = catena.calibrate(posterior, drift_step, initial_state=[0.0], threads=1, **small)
    two = catena.calibrate(posterior, drift_step, initial_state=[0.0], threads=2, **small)
    np.testing.assert_array_equal(one.ranks, two.ranks)
    np.testing.assert_array_equal(one.tarp, two.tarp)


def test_the_command_line_computes_the_same_and_reports_it(run_program, tmp_path):
    task = catena.tasks.get("gaussian_rw")
    estimator = catena.FNBE().append_simulations(task.simulate(budget=1000, **QUIET))
    estimator.train(steps=50, **QUIET).save(tmp_path / "model.safetensors")
    settings = {"series": 20, "draws": 30, "transitions": 5, "seed": 3, "steps": 30}
    ours = catena.calibrate(estimator.build_posterior(), task, path=tmp_path / "a.nc", **settings, **QUIET)
    flags = [f"--{name}={value}" for name, value in settings.items()]
    run_program("calibrate", tmp_path / "model.safetensors", "gaussian_rw", *flags, "-o", tmp_path / "b.nc")
    xarray = pytest.importorskip("xarray")
    for name in ("a.nc", "b.nc"):
        with xarray.open_dataset(tmp_path / name, engine="h5netcdf") as file:
            np.testing.assert_array_equal(file["rank"].values, ours.ranks)
            np.testing.assert_array_equal(file["tarp_rank"].values, ours.tarp)
    run_program("report", tmp_path / "a.nc", "-o", tmp_path / "report.html")
    assert "calibration" in (tmp_path / "report.html").read_text().lower()
    assert ours.plot().names == ["calibration"]


def test_misuse_is_one_sentence(posterior):
    with pytest.warns(UserWarning, match="transitions lie outside the training range"):
        catena.calibrate(posterior, drift_step, initial_state=[60.0], **{**SIZE, "series": 5})
    with pytest.raises(ValueError, match="initial_state must be given, with 1 states"):
        catena.calibrate(posterior, drift_step, **SIZE)
    with pytest.raises(ValueError, match="the number of series is 3, but must be at least 5"):
        catena.calibrate(posterior, drift_step, initial_state=[0.0], **{**SIZE, "series": 3})
