"""Dates wherever a time is taken: in every form, with a unit, through draws, files, ArviZ and forecasts."""

import datetime
import json

import catena
import numpy as np
import pandas as pd
import pytest
from catena._times import as_times, split_time
from drift_walk import QUIET, drift_step

DAYS = pd.date_range("2001-03-30", periods=7, freq="D")


@pytest.fixture(scope="module")
def over_gaps(prior):
    """An estimator that steps over gaps of up to four steps."""
    data = catena.simulate(drift_step, prior, proposal=catena.proposals.Box(-15, 15), gaps=(1, 4), budget=3000, **QUIET)
    return catena.FNLE(prior).append_simulations(data).train(steps=400, seed=2, **QUIET)


@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        DAYS.to_numpy(),
        list(DAYS),
        [day.date() for day in DAYS],
        [day.date().isoformat() for day in DAYS],
        pd.Series(DAYS),
        DAYS.tz_localize("UTC"),
        DAYS.to_period("D"),
    ],
    ids=["index", "datetime64", "timestamps", "dates", "texts", "column", "zone", "periods"],
)
def test_dates_in_every_form_are_the_same_seconds(dates):
    wanted = (DAYS - pd.Timestamp("1970-01-01")) / pd.Timedelta(seconds=1)
    np.testing.assert_array_equal(as_times(dates, "f"), wanted)


def test_times_that_are_neither_numbers_nor_dates_are_refused():
    with pytest.raises(ValueError, match="has 'May', but must have numbers or dates"):
        as_times(["1990-05-01", "May"], "f")
    with pytest.raises(TypeError, match="time differences, but must be numbers or dates"):
        as_times(DAYS - DAYS[0], "f")
    with pytest.raises(ValueError, match="missing"):
        as_times(pd.DatetimeIndex(["1990-05-01", None]), "f")


def test_an_index_that_looks_like_time_is_used_or_refused(series):
    table = pd.DataFrame({"x_1": series[:, 0]})
    assert split_time(table, "f")[1] is None
    assert split_time(table[3:], "f")[1] is None  # still one apart
    np.testing.assert_array_equal(split_time(table.set_index(DAYS), "f")[1], as_times(DAYS, "f"))
    years = table.set_index(pd.Index(np.arange(1900, 1907), name="year"))
    np.testing.assert_array_equal(split_time(years, "f")[1], np.arange(1900.0, 1907.0))
    texts = table.set_index(pd.Index([str(day.date()) for day in DAYS]))
    np.testing.assert_array_equal(split_time(texts, "f")[1], as_times(DAYS, "f"))
    with pytest.raises(ValueError, match="an index of numbers that are not one apart.*reset_index"):
        split_time(table.drop(index=3), "f")
    with pytest.raises(ValueError, match="both look like times"):
        split_time(table.assign(date=DAYS).set_index(DAYS), "f")
    rest, times = split_time(table.assign(when=DAYS), "f")
    assert list(rest.columns) == ["x_1"] and len(times) == 7


def test_dates_change_nothing_for_a_model_of_single_steps(fnle, series):
    posterior = fnle.build_posterior()
    plain = posterior.sample((100,), x=series, **QUIET)
    table = pd.DataFrame({"x_1": series[:, 0]}, index=pd.date_range("1990-01-31", periods=7, freq="ME"))
    np.testing.assert_array_equal(posterior.sample((100,), x=table, **QUIET), plain)
    calendar = json.loads(posterior.draws.calendar)
    assert (calendar["unit"], calendar["origin"], calendar["month_ends"]) == ("month", "1990-01-31", True)
    np.testing.assert_array_equal(posterior.draws.times[0], table.index.to_numpy())


def test_a_hole_between_dates_is_a_gap(over_gaps, series):
    posterior = over_gaps.build_posterior(time_unit="week")
    weeks = pd.date_range("1990-01-01", periods=7, freq="7D")
    table = pd.DataFrame({"x_1": series[:, 0]}, index=weeks).drop(index=weeks[[2, 3]])
    holed = series.copy()
    holed[[2, 3]] = np.nan
    grid = np.linspace(-1, 1, 5)[:, np.newaxis]
    wanted = posterior.log_prob(grid, x=holed)
    np.testing.assert_array_equal(posterior.log_prob(grid, x=table), wanted)
    np.testing.assert_array_equal(posterior.log_prob(grid, x=table.to_numpy(), times=list(table.index)), wanted)
    with pytest.raises(ValueError, match=r"from row 1 to row 2 of the series is 7"):
        posterior.log_prob(grid, x=table, time_unit="day")


def test_a_model_that_knows_gaps_must_be_told_the_unit(over_gaps, series):
    table = pd.DataFrame({"x_1": series[:, 0]}, index=DAYS)
    with pytest.raises(ValueError, match=r"the unit of the dates is not said, but must be one of year, month"):
        over_gaps.build_posterior().sample((10,), x=table, **QUIET)


def test_update_goes_on_in_the_same_unit(over_gaps, series):
    posterior = over_gaps.build_posterior(time_unit="day")
    table = pd.DataFrame({"x_1": series[:, 0]}, index=DAYS)
    grid = np.linspace(-1, 1, 5)[:, np.newaxis]
    wanted = posterior.log_prob(grid, x=table.iloc[[0, 1, 2, 5, 6]])
    growing = over_gaps.build_posterior(time_unit="day").update(table.iloc[:3]).update(table.iloc[5:])
    np.testing.assert_array_equal(growing.log_prob(grid), wanted)
    with pytest.raises(ValueError, match="must have them both or neither"):
        growing.update(series[:1])


def test_batches_and_calibration_take_times(over_gaps, series):
    posterior = over_gaps.build_posterior(time_unit="day")
    times = [DAYS[[0, 1, 2, 4, 6]], np.arange(7)]
    rows = [series[[0, 1, 2, 4, 6]], series]
    batched = posterior.sample_batched((32,), rows, times=times, seed=1, **QUIET)
    child = catena._core.child_seed(1, "sample_batched", 0)
    np.testing.assert_array_equal(batched[:, 0], posterior.sample((32,), x=rows[0], times=times[0], seed=child, **QUIET))
    found = catena.calibrate(
        posterior, drift_step, times=times[0], initial_state=[0.0], series=40, draws=32, seed=3, **QUIET
    )
    assert found.summary["transitions_outside_training_range"] < 20
    # 40 ranks of a calibrated posterior, tested at 1e-3.
    assert found.summary["parameters"]["drift"]["p_value"] > 1e-3


def test_times_survive_files_arviz_and_forecasts(over_gaps, series, tmp_path):
    posterior = over_gaps.build_posterior(time_unit="day")
    table = pd.DataFrame({"x_1": series[:, 0]}, index=DAYS).drop(index=DAYS[3])
    posterior.sample((64,), x=table, **QUIET)
    predictive = posterior.predict(drift_step, 20, horizon=2, **QUIET)
    ahead = pd.date_range(DAYS[-1], periods=3, freq="D")[1:]
    np.testing.assert_array_equal(predictive.times_ahead, ahead.to_numpy())
    assert list(predictive.bands("forecast").index) == list(ahead)
    data = posterior.to_arviz()
    np.testing.assert_array_equal(data.observed_data["time"].values, table.index.to_numpy())
    np.testing.assert_array_equal(data.predictions["time"].values, ahead.to_numpy())

    posterior.draws.save(tmp_path / "posterior.nc")
    again = catena.Draws.load(tmp_path / "posterior.nc")
    np.testing.assert_array_equal(again.series[0].times, posterior.draws.series[0].times)
    np.testing.assert_array_equal(again.times[0], table.index.to_numpy())
    import arviz

    read = arviz.from_netcdf(tmp_path / "posterior.nc")
    np.testing.assert_array_equal(read.observed_data["time"].values, table.index.to_numpy())
    read.to_netcdf(tmp_path / "by_arviz.nc")  # ArviZ may choose a unit of its own
    np.testing.assert_allclose(catena.Draws.load(tmp_path / "by_arviz.nc").series[0].times, again.series[0].times)


def test_axes_are_dates(over_gaps, series):
    posterior = over_gaps.build_posterior(time_unit="day")
    posterior.sample((64,), x=pd.DataFrame({"x_1": series[:, 0]}, index=DAYS), **QUIET)
    spec = posterior.plot()["series"]
    layer = spec["concat"][0]["layer"][-1]
    assert layer["encoding"]["x"]["type"] == "temporal"
    first = layer["data"]["values"][0]["x"]
    assert datetime.datetime.fromtimestamp(first / 1000, datetime.timezone.utc).date() == DAYS[0].date()
