"""Methods that learn from whole series, from the command line: simulate --series, train, sample, calibrate, report, experiment."""

import json

import pytest

SMALL = ["--flow-width", "24", "--flow-layers", "2", "--decay", "0.1", "--steps", "700", "--batch-size", "400"]
MORE = {
    "npe": ["--summaries", "16", "--bins", "6"],
    "npe_windows": ["--summaries", "16", "--bins", "6"],
    "npe_summary": ["--summaries", "16", "--bins", "6", "--summary-epochs", "60"],
    "nle_summary": ["--units", "16", "--summary", "sliced", "--summary-epochs", "60"],
}


@pytest.fixture(scope="module")
def run(catena):
    def checked(*arguments, check=True):
        result = catena(*arguments)
        assert result.returncode == 0 or not check, result.stderr
        return result

    return checked


@pytest.fixture(scope="module")
def series(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("series") / "series.nc"
    result = run("simulate", "gaussian_rw", "--series", 6, "--budget", 18000, "--proposal", "fixed", "--seed", 1, "-o", path, "--json")
    about = json.loads(result.stdout)
    assert about["records"] == 3000 and about["budget"] == 18000 and about["series"] == {"transitions": 6, "start": "proposal"}
    return path


@pytest.fixture(scope="module", params=MORE)
def model(request, run, series):
    path = series.parent / f"{request.param}.safetensors"
    about = json.loads(run("train", series, "--method", request.param, *SMALL, *MORE[request.param], "--seed", 2, "-o", path, "--json").stdout)
    assert about["series"] == 3000 and about["notes"]["series"]["longest"] == 6
    return path


def test_draws_are_near_the_exact_posterior(run, model, tmp_path):
    observed, posterior, exact = tmp_path / "o.csv", tmp_path / "p.nc", tmp_path / "r.nc"
    run("observe", "gaussian_rw", "--transitions", 6, "--seed", 3, "-o", observed)
    about = json.loads(run("sample", model, "--observation", observed, "-o", posterior, "--json").stdout)
    assert about["outcome"] == "ok" and about["longest"] == 6 and about["n"] == 1000
    run("reference", "gaussian_rw", "--observation", observed, "-o", exact, "--no-cache")
    found = json.loads(run("evaluate", posterior, exact, "--json").stdout)
    # A small network on 3,000 series; seeds are fixed and bits the same everywhere. A forest that cannot tell 1,000
    # draws from 1,000 others has 0.5 ± 0.011; the network's own error adds a few hundredths.
    assert found["c2st"] < 0.6
    assert abs(found["mean_difference"]["theta_1"]) < 0.5 and abs(found["log_sd_ratio"]["theta_1"]) < 0.3
    run("map", model, "--observation", observed)
    report = tmp_path / "report.html"
    run("report", model, posterior, "-o", report)
    assert model.stem in report.read_text(encoding="utf-8")  # the method, among what the page says of the model


def test_calibration_and_a_longer_series(run, model, tmp_path):
    run("calibrate", model, "gaussian_rw", "--transitions", 6, "--series", 60, "--draws", 50, "-o", tmp_path / "c.nc", check=False)
    assert (tmp_path / "c.nc").exists()
    observed = tmp_path / "o.csv"
    run("observe", "gaussian_rw", "--transitions", 20, "--seed", 3, "-o", observed)
    result = run("sample", model, "--observation", observed, "-o", tmp_path / "p.nc", check=False)
    assert result.returncode == 1 and "longer_than_trained: 20 transitions were observed, and the longest series of the training set has 6" in result.stderr
    assert (tmp_path / "p.nc").exists()


def test_a_gap_is_left_out_or_refused_with_what_to_do(run, model, tmp_path):
    observed = tmp_path / "o.csv"
    observed.write_text("x_1\n0\n1.2\n\n0.4\n1.1\n0.3\n".replace("\n\n", "\nnan\n"))
    result = run("sample", model, "--observation", observed, "-o", tmp_path / "p.nc", check=False)
    if "windows" in model.name:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode == 2 and "--cut-gaps" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from-initial"], "catena simulate: --from-initial is given, but only --series uses it"),
        (["--series", "5", "--gaps", "1..3"], "catena simulate: --gaps is given, but --series makes no use of it"),
        (["--series", "5", "--shard", "1/2"], "catena simulate: --shard is given, but --series makes no use of it"),
        (["--series", "5000"], "simulate: budget is 1000, but must be enough for one record"),
        (["--series", "5", "--from-initial", "--proposal", "fixed"], "simulate: the proposal of series is "),
        (["--series", "-1"], "catena simulate: --series is -1, but must be "),
    ],
)
def test_misuse_is_one_sentence(catena, tmp_path, arguments, sentence):
    result = catena("simulate", "gaussian_rw", "--budget", 1000, "-o", tmp_path / "s.nc", *arguments)
    assert result.returncode == 2 and sentence in result.stderr, result.stderr
    assert not (tmp_path / "s.nc").exists()


def test_data_of_the_wrong_kind_are_refused(catena, series, tmp_path):
    assert catena("simulate", "gaussian_rw", "--budget", 500, "-o", tmp_path / "t.nc").returncode == 0
    result = catena("train", tmp_path / "t.nc", "--method", "npe", "-o", tmp_path / "m.safetensors")
    assert result.returncode == 2 and "holds transitions, not whole series (catena simulate --series makes some)" in result.stderr
    result = catena("train", series, "--method", "fnle", "-o", tmp_path / "m.safetensors")
    assert result.returncode == 2 and "holds series, not transitions" in result.stderr
    result = catena("train", series, "--method", "npe", "--window-width", 8, "--steps", 10, "-o", tmp_path / "m.safetensors")
    assert result.returncode == 2 and "--window-width is 8, but embedding = gru does not use it (windows does)" in result.stderr


def test_the_pools_series_have_a_flag_of_their_own(run, tmp_path):
    path = tmp_path / "s.nc"
    result = run("simulate", "gaussian_rw", "--series", 5, "--proposal", "predictive", "--pool-series", 4, "--length", 25, "--budget", 1100,
                 "-o", path, "--json")
    about = json.loads(result.stdout)
    assert about["proposal"]["series"] == 4 and about["proposal_cost"] == 100 and about["records"] == 200


def test_a_sweep_has_rows_of_methods_of_both_kinds(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sweep = tmp_path / "sweep.json"
    small = {"summaries": 8, "flow_width": 12, "flow_layers": 2, "bins": 4, "decay": 0.1, "steps": 40}
    methods = [{"method": "npe", "train": small}, {"method": "npe", "label": "npe of 5", "series": 5, "train": small},
               {"method": "npe_windows", "train": small},
               {"method": "fnle", "train": {"steps": 40, "density": "gaussian", "decay": 1}, "sample": {"most_steps": 50}}]
    sweep.write_text(json.dumps({"tasks": [{"name": "gaussian_rw"}], "methods": methods, "budgets": [1000], "transitions": [3],
                                 "observations": 1, "draws": 100, "metrics": ["c2st"]}))
    out = tmp_path / "out"
    run("experiment", "benchmark", "--sweep", sweep, "-o", out, check=False)
    rows = (out / "rows.csv").read_text()
    assert all(f"gaussian_rw,{label}," in rows for label in ("npe", "npe of 5", "npe_windows", "fnle")), rows
    for bad in ({"rounds": 2}, {"correct": {"budget": [100]}}):
        sweep.write_text(json.dumps({"tasks": [{"name": "gaussian_rw"}], "methods": [{"method": "npe", **bad}]}))
        result = run("experiment", "benchmark", "--sweep", sweep, "-o", tmp_path / "none", check=False)
        assert result.returncode == 2 and "one that learns from single transitions, for rounds and corrections" in result.stderr


@pytest.mark.parametrize("verb", [["check"], ["correct", "-o", "c.nc"]])
def test_what_rests_on_transitions_refuses_at_once(verb, catena, series, run, tmp_path):
    model, observed = tmp_path / "m.safetensors", tmp_path / "o.csv"
    run("train", series, "--method", "npe", *SMALL[:-4], "--steps", "5", "-o", model)
    run("observe", "gaussian_rw", "--transitions", 6, "--seed", 3, "-o", observed)
    result = catena(*verb, model, "--observation", observed, "--task", "gaussian_rw", "-q", cwd=tmp_path)
    said = f'{verb[0]}: method with local scores is "npe", but must be one of fnle, fnre, fnse, fnbe\n'
    assert (result.returncode, result.stderr) == (2, said)
