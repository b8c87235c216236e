"""Figures of posterior and estimator: specifications, pages, pictures, Altair."""

import json

import numpy as np
import pytest
from drift_walk import QUIET, exact_drift


@pytest.fixture(scope="module")
def posterior(fnle, series):
    posterior = fnle.build_posterior()
    posterior.sample((200,), x=series, **QUIET)
    return posterior


def test_a_posterior_is_plotted_with_truth_and_reference(posterior, series, tmp_path):
    mean, deviation = exact_drift(series)
    reference = mean + deviation * np.random.default_rng(0).standard_normal((200, 1))
    figures = posterior.plot(truth=[0.4], reference=reference)
    assert "marginals" in figures.names or "pair_plot" in figures.names
    assert "information" in figures.names
    assert figures.spec["$schema"].endswith("vega-lite/v5.json")
    assert figures[figures.names[0]] == figures.spec
    figures.save(tmp_path / "posterior.html")
    page = (tmp_path / "posterior.html").read_text()
    assert "drift" in page and "vegaEmbed" in page
    figures.save(tmp_path / "posterior.json")
    assert json.loads((tmp_path / "posterior.json").read_text()) == figures.spec
    with pytest.raises(ValueError, match=r"must end in \.html"):
        figures.save(tmp_path / "posterior.doc")


def test_pictures_and_altair(posterior, tmp_path):
    pytest.importorskip("vl_convert")
    altair = pytest.importorskip("altair")
    figures = posterior.plot()
    figures.save(tmp_path / "posterior.png")
    assert (tmp_path / "posterior.png").read_bytes()[:4] == b"\x89PNG"
    figures.save(tmp_path / "posterior.svg")
    assert "<svg" in (tmp_path / "posterior.svg").read_text()
    assert isinstance(figures.to_altair(), altair.TopLevelMixin)


def test_a_notebook_gets_the_specification(posterior):
    bundle = posterior.plot()._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"] == posterior.plot().spec


def test_an_estimator_shows_its_learning_curve(fnle):
    assert fnle.plot().names == ["learning_curve"]


def test_objects_look_well_in_notebooks(fnle, transitions, posterior):
    for thing in (fnle, transitions, posterior, posterior.prior):
        html = thing._repr_html_()
        assert html.startswith("<table>") and "drift" in html
