"""The table of docs/guide/hostile-data.md: every wrong posterior is flagged, every right one is not."""

import pathlib
import re
import warnings

import catena
import hostile
import numpy as np
import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/hostile-data.md"


def table():
    """Situation and what catena says, of the page's rows."""
    rows = re.findall(r"^\| ([^|]+) \| `([a-z_]+)` \|", PAGE.read_text(), re.MULTILINE)
    return {name.strip(): said for name, said in rows}


@pytest.fixture(scope="module")
def models():
    return hostile.Models()


def test_the_page_and_the_list_have_the_same_rows():
    assert list(table()) == list(hostile.ALL)
    assert len(table()) >= 15


SLOW = {"FNRE": [pytest.mark.slow]}  # ratios take longer to learn


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(one.method, [])) for name, one in hostile.ALL.items()])
def test_catena_says_what_the_page_says(name, models):
    said, draws, exact = hostile.verdict(models, hostile.ALL[name])
    wrong = True  # of a series that the simulator did not make
    if exact is not None:
        mean, deviation = exact
        # A network of 3,000 transitions is not exact; beyond one and a half standard deviations a posterior is wrong.
        wrong = abs(draws.mean() - mean) > 1.5 * deviation or not 0.5 < draws.std() / deviation < 2
    assert wrong == (said != "ok")
    assert said == table()[name]


def test_series_of_the_model_itself_are_seldom_called_a_misfit(models):
    """At the rate of 0.01 more than 3 of 30 are called so once in 5,000 seeds; the seeds are fixed."""
    one = hostile.ALL["a series of the model itself"]
    posterior = models.of(one)
    called = 0
    for s in range(30):
        rng = np.random.default_rng(100 + s)
        series = hostile.series_of(hostile.pulled, rng.standard_normal(), 0.0, 60)(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior.sample((50,), x=series, seed=s, show_progress_bars=False)
        called += any(found["outcome"] == "misfit" for found in posterior.draws.info["findings"])
    assert called <= 3


def test_findings_are_warnings_and_stay_in_the_file(models, tmp_path):
    one = hostile.ALL["three times the noise"]
    posterior = models.of(one)
    with pytest.warns(RuntimeWarning, match="posterior.sample: misfit: x_1 varies more from step to step than the model says"):
        posterior.sample((50,), x=one.series(np.random.default_rng(7)), seed=1, show_progress_bars=False)
    posterior.draws.save(tmp_path / "draws.nc")
    again = catena.Draws.load(tmp_path / "draws.nc")
    assert again.record["outcome"] == "misfit"
    assert again.info["findings"] == posterior.draws.info["findings"]
    assert 0 <= again.info["misfit"]["p"] < again.info["misfit"]["false_alarms"] == 0.01
