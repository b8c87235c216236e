"""Reports as a user makes them: from files of every kind to a page that real Chromium opens without a complaint."""

import html.parser
import json
import os
import shutil
import struct
import subprocess

import arviz
import numpy as np
import pytest
import xarray

ODD_NAMES = ["</script><script>alert(1)</script>", 'α & <b>"β"</b>, a name that is much too long for an axis', "x.y[0]"]


def write_draws(path, columns, chains=1):
    """ArviZ's own writer; names as labels of one variable, because names of variables may not hold a slash."""
    draws = np.stack([np.asarray(v, dtype=float).reshape(chains, -1) for v in columns.values()], axis=-1)
    data = arviz.from_dict(
        posterior={"theta": draws}, coords={"parameter": list(columns)}, dims={"theta": ["parameter"]}
    )
    data.to_netcdf(str(path))
    return path


def write_model(path, metadata):
    strings = {"catena": json.dumps(metadata), "format": "catena-1"}
    header = json.dumps({"__metadata__": strings, "w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<f", 1.0))
    return path


def write_calibration(path, names):
    rng = np.random.default_rng(3)
    ranks = rng.integers(0, 101, size=(len(names), 200))
    ranks[-1] = np.clip(rng.beta(0.4, 0.4, 200) * 101, 0, 100).astype(int)  # overconfident
    data = xarray.Dataset(
        {"rank": (("parameter", "series"), ranks, {"draws": 100})}, coords={"parameter": names}
    )
    data.to_netcdf(path)
    return path


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Draws, a reference, a series with its truth, a calibration and a model that belong together; and odd cases."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(1)
    n = 600
    names = ["alpha", "beta", "gamma"]
    mix = np.array([[1, 0, 0], [0.8, 0.4, 0], [0, 0.2, 1]])
    for name in ("posterior", "reference"):
        values = rng.normal(size=(1600, 3)) @ mix.T  # enough that no effective sample size is near 400
        write_draws(folder / f"{name}.nc", dict(zip(names, values.T, strict=True)), chains=2)
    (folder / "series.csv").write_text("prey,predators\n" + "\n".join(f"{np.sin(t / 5)},{t}" for t in range(50)) + "\n")
    truth = {"task": "demo", "parameters": names, "theta": [0.1, 0.2, -0.3]}
    (folder / "series.json").write_text(json.dumps(truth))
    write_calibration(folder / "calibration.nc", names)
    steps = list(range(0, 4000, 40))
    curve = {
        "step": steps,
        "train_loss": [2 + 3 * np.exp(-s / 500) for s in steps],
        "held_out_loss": [2.1 + 3 * np.exp(-s / 500) for s in steps],
    }
    write_model(folder / "model.safetensors", {"method": "fnse", "settings": {"rate": 1e-3}, "main_network": "score.0",
                                                "networks": {"score.0": {"learning_curve": curve}}})
    write_model(folder / "plain.safetensors", {"method": "fnse"})

    times = np.arange(40.0)
    arviz.from_dict(
        posterior={"a": rng.normal(size=(1, n))},
        posterior_predictive={"series": np.sin(times / 4)[:, None] + rng.normal(size=(1, 50, 40, 1))},
        observed_data={"series": np.sin(times / 4)[:, None]},
    ).to_netcdf(str(folder / "predictive.nc"))
    write_draws(folder / "one.nc", {"mu": np.concatenate([rng.normal(-2, 0.4, n), rng.normal(2, 0.4, n)])})
    ten = rng.normal(size=(n, 10)) @ rng.normal(size=(10, 10))
    write_draws(folder / "ten.nc", {f"p{i}": ten[:, i] for i in range(10)})
    write_draws(folder / "few.nc", {"a": rng.normal(size=7), "b": rng.normal(size=7)})
    write_draws(folder / "constant.nc", {"a": rng.normal(size=n), "fixed": np.full(n, 3.0), "u": rng.uniform(size=n)})
    odd = [rng.normal(size=n), 1e4 + 1e-2 * rng.normal(size=n), rng.exponential(size=n)]
    write_draws(folder / "odd.nc", dict(zip(ODD_NAMES, odd, strict=True)))
    broken = rng.normal(size=(n, 2))
    broken[: n // 2, 0] += 3
    broken[-3:, 1] = np.nan
    write_draws(folder / "broken.nc", {"a": broken[:, 0], "b": broken[:, 1]}, chains=2)
    stuck = rng.normal(size=(2, n // 2)) + [[0], [3]]
    write_draws(folder / "stuck.nc", {"a": stuck.ravel()}, chains=2)
    return folder


@pytest.fixture(scope="module")
def fitted(catena, tmp_path_factory):
    """A small fit from end to end, with series simulated from its posterior."""
    folder = tmp_path_factory.mktemp("fitted")

    def run(*arguments):
        result = catena(*arguments, "--quiet")
        assert result.returncode == 0, result.stderr

    run("simulate", "gaussian_rw", "--budget", 3000, "--proposal-sd", 3, "--seed", 1, "-o", folder / "t.nc")
    run("observe", "gaussian_rw", "--transitions", 20, "--seed", 2, "-o", folder / "series.csv")
    run("train", folder / "t.nc", "--method", "fnle", "--density", "gaussian", "--decay", 0.1, "--steps", 600,
        "--seed", 1, "-o", folder / "model.safetensors")
    run("sample", folder / "model.safetensors", "--observation", folder / "series.csv", "-n", 1000, "-o", folder / "p.nc")
    run("predict", folder / "p.nc", "-o", folder / "predictive.nc")
    return folder


FITTED = ["model.safetensors", "p.nc", "predictive.nc", "series.csv"]
FULL = ["model.safetensors", "posterior.nc", "reference.nc", "series.csv", "calibration.nc"]
CASES = {
    "full": (FULL, ["pair_plot", "series", "calibration", "learning_curve"]),
    "posterior": (["posterior.nc"], ["pair_plot"]),
    "one": (["one.nc"], ["pair_plot"]),
    "ten": (["ten.nc"], ["pair_plot", "marginals"]),
    "few": (["few.nc"], ["pair_plot"]),
    "constant": (["constant.nc"], ["pair_plot"]),
    "odd": (["odd.nc"], ["pair_plot"]),
    "predictive": (["predictive.nc"], ["pair_plot", "series"]),
    "model": (["model.safetensors"], ["learning_curve"]),
    "plain": (["plain.safetensors"], []),
    "calibration": (["calibration.nc"], ["calibration"]),
}

FIGURES = {case: figures for case, (_, figures) in CASES.items()}
FIGURES["fitted"] = ["pair_plot", "series", "one_step", "information", "learning_curve"]


def report(catena, folder, files, *flags):
    return catena("report", *(folder / f for f in files), *flags, "--quiet")


@pytest.fixture(scope="module")
def pages(catena, program, material, fitted):
    if not (program.parent / "share/catena/vega-bundle.js").exists():
        pytest.skip("Vega's JavaScript is not there: run tools/setup and configure the build again")
    made = {}
    for case, (files, _) in CASES.items():
        made[case] = material / f"{case}.html"
        result = report(catena, material, files, "-o", made[case])
        assert (result.returncode, result.stderr) == (0, ""), case
    made["fitted"] = fitted / "report.html"
    assert report(catena, fitted, FITTED, "-o", made["fitted"]).returncode == 0
    return made


@pytest.fixture(scope="module")
def browser():
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("Chromium is not installed: run tools/setup browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
    with playwright.sync_playwright() as driver:
        # Chromium's sandbox does not start for root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = driver.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()


def open_page(browser, path, width, scheme="light"):
    """The page when all is drawn, with everything that it complained about or asked the network for."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: (trouble.append("dialog"), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    return page, trouble


@pytest.mark.parametrize(
    ("case", "width"),
    [(case, 400) for case in FIGURES] + [(case, 1400) for case in ("full", "one", "ten", "odd", "fitted")],
)
def test_chromium_draws_every_figure_and_nothing_sticks_out(browser, pages, case, width):
    page, trouble = open_page(browser, pages[case], width)
    assert trouble == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figures = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => ({name: p.dataset.figure, scroll: p.scrollWidth - p.clientWidth,"
        " width: p.querySelector('svg').getBoundingClientRect().width, paths: p.querySelectorAll('svg path').length}))"
    )
    assert [figure["name"] for figure in figures] == FIGURES[case]
    for figure in figures:
        assert figure["width"] > 200 and figure["paths"] > 3, figure
        if not (case == "ten" and width == 400):  # six columns may scroll on a phone, inside their own box
            assert figure["scroll"] <= 0, figure
    page.close()


def test_dark_mode_and_paper_change_the_colours(browser, pages):
    def colours(page):
        return page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('.plot svg .mark-text text')).fill]"
        )

    light, _ = open_page(browser, pages["full"], 1000)
    dark, _ = open_page(browser, pages["full"], 1000, scheme="dark")
    background, ink = zip(colours(light), colours(dark), strict=True)
    assert background[0] == "rgb(255, 255, 255)" and background[1] != background[0]
    assert ink[0] != ink[1]
    on_screen = colours(dark)
    dark.emulate_media(media="print", color_scheme="dark")
    assert colours(dark) == colours(light) != on_screen
    dark.set_viewport_size({"width": 680, "height": 960})  # A4 at 96 dpi, within its margins
    assert dark.evaluate("document.documentElement.scrollWidth") <= 680
    light.close()
    dark.close()


def test_figures_fit_again_after_the_window_has_changed(browser, pages):
    page, _ = open_page(browser, pages["full"], 1400)
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.querySelector('.plot[data-figure=series] svg').getBoundingClientRect().width < 400")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()


class Tags(html.parser.HTMLParser):
    """The tags of a page, and its text outside scripts and styles."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.ids = [], "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.ids += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data):
        if self.tags[-1:] not in (["script"], ["style"]):
            self.text += data


def parse(path):
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags


def test_names_from_files_are_text_and_never_markup(pages):
    tags = parse(pages["odd"])
    assert "b" not in tags.tags
    assert tags.tags.count("script") == parse(pages["posterior"]).tags.count("script") == 4
    assert all(name in tags.text for name in ODD_NAMES)


def test_the_page_names_no_other_resource(pages):
    assert parse(pages["full"]).ids == ["data:,"]


def test_findings_name_what_is_wrong_and_what_helps(catena, material):
    def findings(*files):
        printed = report(catena, material, files, "-o", material / "f.html", "--json")
        assert printed.returncode == 0, printed.stderr
        return {f["text"]: f["severity"] for f in json.loads(printed.stdout)["findings"]}

    healthy = findings(*FULL)
    assert sum("cannot tell the posterior from the reference" in text for text in healthy) == 1
    assert [text.split(":")[0] for text, kind in healthy.items() if kind == "warning"] == ["Not calibrated"]
    assert any("gamma leave the band" in text and "too narrow" in text for text in healthy)
    assert any("R-hat is" in text and "run them longer" in text for text in findings("stuck.nc"))
    assert any("3 of 600 draws were not finite" in text for text in findings("broken.nc"))
    assert any("only 7 draws" in text for text in findings("few.nc"))
    assert any("All draws of fixed are equal" in text for text in findings("constant.nc"))


def test_the_summary_is_that_of_numpy(catena, material):
    printed = report(catena, material, ["posterior.nc", "series.csv"], "-o", material / "s.html", "--json")
    rows = json.loads(printed.stdout)["parameters"]
    draws = arviz.from_netcdf(str(material / "posterior.nc")).posterior["theta"].values.reshape(-1, 3)
    for row, values in zip(rows, draws.T, strict=True):
        expected = [values.mean(), values.std(ddof=1), *np.quantile(values, [0.05, 0.5, 0.95])]
        assert np.allclose([row[k] for k in ("mean", "sd", "q5", "median", "q95")], expected, rtol=1e-12, atol=1e-14)
    assert [row["truth"] for row in rows] == [0.1, 0.2, -0.3]


def test_the_predictive_band_is_that_of_numpy(catena, material):
    result = report(catena, material, ["predictive.nc"], "-o", material / "predictive", "--format", "json")
    assert result.returncode == 0, result.stderr
    figure = json.loads((material / "predictive/series.json").read_text())
    band, median, observed = (layer["data"]["values"] for layer in figure["concat"][0]["layer"])
    stored = arviz.from_netcdf(str(material / "predictive.nc")).posterior_predictive["series"].values[0, :, :, 0]
    expected = np.quantile(stored, [0.05, 0.5, 0.95], axis=0)
    drawn = [[row["y"] for row in band], [row["y"] for row in median], [row["y2"] for row in band]]
    assert np.allclose(drawn, expected, rtol=1e-8)
    assert [row["x"] for row in observed] == list(range(40))


def test_predictive_series_start_at_the_data_and_have_the_simulators_spread(fitted):
    predictive = arviz.from_netcdf(str(fitted / "predictive.nc"))
    observed = predictive.observed_data["series"].values
    run, one_step = (predictive.posterior_predictive[name].values[0] for name in ("series", "one_step"))
    assert run.shape == one_step.shape == (200, 21, 1)
    assert (run[:, 0] == observed[0]).all() and (one_step[:, 0] == observed[0]).all()
    # x' = 0.9 x + θ + ε with ε ~ N(0, 1): 4,000 residuals of one step, whose spread is known to 0.011; the posterior of θ adds
    # 1/√21 ≈ 0.22 at most, in squares 0.05. Five standard errors: false alarm 6e-7.
    spread = (one_step[:, 1:, 0] - 0.9 * observed[None, :-1, 0]).std()
    assert 1 - 0.06 < spread < np.sqrt(1.05) + 0.06


def test_a_trained_density_stands_in_for_the_simulator(catena, fitted):
    result = catena("predict", fitted / "p.nc", "--model", fitted / "model.safetensors", "-o", fitted / "stand_in.nc", "--quiet")
    assert result.returncode == 0, result.stderr
    ours, exact = (
        arviz.from_netcdf(str(fitted / name)).posterior_predictive["one_step"].values[0, :, 1:, 0]
        for name in ("stand_in.nc", "predictive.nc")
    )
    # Means over 4,000 draws each: standard error 0.022 of the difference, and the network's own error.
    assert abs(ours.mean() - exact.mean()) < 0.25 and 0.8 < ours.std() / exact.std() < 1.25


def test_contributions_of_transitions_add_up_to_the_variance_that_was_removed(catena, fitted):
    result = report(catena, fitted, FITTED, "-o", fitted / "figures", "--format", "json")
    assert result.returncode == 0, result.stderr
    bars = json.loads((fitted / "figures/information.json").read_text())["concat"][0]["layer"][0]["data"]["values"]
    assert [bar["x"] for bar in bars] == list(range(20))
    # θ ~ N(0, 1) and 20 transitions with precision 1 each: 20/21 removed, 1/21 by each. 1,000 draws know 1 − Var and the sum
    # to 5 %, and the network is trained for a moment.
    total = sum(bar["y"] for bar in bars)
    assert abs(total - 20 / 21) < 0.15
    assert all(abs(bar["y"] - 1 / 21) < 0.03 for bar in bars)


def test_a_model_of_other_parameters_is_refused(catena, material, fitted):
    files = [fitted / "model.safetensors", material / "predictive.nc"]
    result = catena("report", *files, "-o", material / "other.html", "--json")
    assert result.returncode == 2
    assert "the list of parameters of" in result.stderr and "but must be that of the draws in predictive.nc" in result.stderr


def test_a_series_that_the_draws_were_not_made_for_is_a_warning(catena, material, fitted):
    result = catena("report", fitted / "p.nc", material / "series.csv", "-o", material / "other.html", "--json")
    found = {f["text"]: f["severity"] for f in json.loads(result.stdout)["findings"]}
    assert [kind for text, kind in found.items() if "not the one that the draws were made for" in text] == ["warning"]
    result = catena("report", fitted / "p.nc", fitted / "series.csv", "-o", material / "same.html", "--json")
    assert "made for" not in result.stdout


def test_of_several_series_the_first_is_shown_and_all_count(catena, fitted):
    catena("observe", "gaussian_rw", "--transitions", 20, "--seed", 2, "-o", fitted / "a.csv")  # θ of one seed, twice
    model, both = fitted / "model.safetensors", ["--observation", fitted / "series.csv", fitted / "a.csv"]
    assert catena("sample", model, *both, "-n", 1000, "-o", fitted / "both.nc", "--quiet").returncode == 0
    result = catena("predict", fitted / "both.nc", "-o", fitted / "first.nc")
    assert result.returncode == 0 and "the first of 2 observed series" in result.stdout, result.stderr
    result = catena("report", model, fitted / "both.nc", fitted / "first.nc", "-o", fitted / "both.html", "--json")
    texts = [finding["text"] for finding in json.loads(result.stdout)["findings"]]
    assert "The draws are of 2 series: figures show the first of them." in texts
    # Contributions of both series add up to what the draws of both have lost.
    assert not any("do not fit together" in text for text in texts)
    assert any("of its 40 transitions" in text for text in texts)


def test_predict_needs_a_simulator(catena, material):
    result = catena("predict", material / "posterior.nc", "--observation", material / "series.csv", "-o", material / "no.nc")
    assert result.returncode == 2 and "names no built-in simulator" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("format", ["png", "svg", "json"])
def test_each_figure_as_a_file(catena, material, format):
    pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    folder = material / format
    result = report(catena, material, FULL, "-o", folder, "--format", format)
    assert (result.returncode, result.stderr) == (0, "")
    files = {f"{name}.{format}": (folder / f"{name}.{format}").read_bytes() for name in CASES["full"][1]}
    assert {path.name for path in folder.iterdir()} == set(files)
    starts = {"png": b"\x89PNG", "svg": b"<svg", "json": b"{"}
    for content in files.values():
        assert content.startswith(starts[format]) and len(content) > 3000


def test_without_vl_convert_one_sentence_says_what_to_install(catena, material):
    result = report(catena, material, ["posterior.nc"], "-o", material / "x", "--format", "png", "--python", "nopython")
    assert result.returncode == 2
    assert "pip install vl-convert-python" in result.stderr and result.stderr.count("\n") == 1


def test_without_vega_the_page_has_tables_and_says_why(catena, program, material, tmp_path):
    alone = tmp_path / "catena"
    shutil.copy(program, alone)
    result = subprocess.run(
        [alone, "report", material / "posterior.nc", "-o", tmp_path / "r.html"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0
    assert result.stderr.count("\n") == 1 and "vega-bundle.js was not found" in result.stderr
    tags = parse(tmp_path / "r.html")
    assert "script" not in tags.tags and "table" in tags.tags and "This figure is missing" in tags.text


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (["posterior.nc", "reference.nc", "one.nc"], "a third file of draws"),
        (["posterior.nc", "one.nc"], "list of parameters"),
        (["series.csv", "series.csv"], "a second series"),
        (["nowhere.nc"], "nowhere.nc"),
    ],
)
def test_misuse_is_one_sentence(catena, material, files, sentence):
    result = report(catena, material, files, "-o", material / "m.html")
    assert result.returncode == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert not (material / "m.html").exists()
