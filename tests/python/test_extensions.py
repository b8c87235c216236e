"""Gaps, panels, initial states, chains of higher order and blocks from the command line, against exact posteriors."""

import json

import pytest

TRAIN = ["--method", "fnle", "--density", "gaussian", "--decay", "0.5", "--width", "24", "--layers", "2", "--steps", "1500",
         "--batch-size", "200", "--seed", "1"]


@pytest.fixture(scope="module")
def run(catena):
    def checked(*arguments, check=True):
        result = catena(*arguments)
        assert result.returncode == 0 or not check, result.stderr
        return result

    return checked


@pytest.fixture
def fit(run, tmp_path):
    """Simulates and trains; returns the model's path."""

    def fit(name, task, *flags):
        transitions, model = tmp_path / f"{name}.nc", tmp_path / f"{name}.safetensors"
        run("simulate", *task, "--budget", 8000, "--seed", 2, "-o", transitions, *flags)
        run("train", transitions, "-o", model, *TRAIN)
        return model

    return fit


@pytest.fixture
def agree(run, tmp_path):
    """Samples and compares with the exact posterior."""

    def agree(models, task, observation, *flags):
        posterior, reference = tmp_path / "posterior.nc", tmp_path / "reference.nc"
        report = json.loads(run("sample", *models, "--observation", *observation, "-o", posterior, "--json", *flags).stdout)
        exact = json.loads(run("reference", *task, "--observation", *observation, "-o", reference, "--no-cache", "--json",
                               *flags).stdout)
        result = json.loads(run("evaluate", posterior, reference, "--metrics", "mean_difference,log_sd_ratio",
                                "--json").stdout)
        # A small network on few transitions: means within a standard deviation, widths within a third.
        for metric, bound in [("mean_difference", 1.0), ("log_sd_ratio", 0.35)]:
            assert all(abs(value) < bound for value in result[metric].values()), result
        return report, exact

    return agree


def observe(run, task, path, transitions, seed, *flags):
    run("observe", *task, "--transitions", transitions, "--seed", seed, "-o", path, *flags)
    return path


def test_missing_states_and_several_series(run, fit, agree, tmp_path):
    task = ["gaussian_rw", "--proposal-sd", "5"]
    model = fit("gaps", task, "--gaps", "1..6")
    first = observe(run, task, tmp_path / "a.csv", 60, 1, "--missing", "0.3")
    theta = json.loads((tmp_path / "a.json").read_text())["theta"][0]
    observe(run, task, tmp_path / "c.csv", 20, 3, "--theta", theta)
    report, exact = agree([model], task, [first, tmp_path / "c.csv"])
    assert report["series"] == 2
    assert report["transitions"] == exact["transitions"] < 80
    lines = (tmp_path / "c.csv").read_text().splitlines()
    both = ["series,x_1"] + [f"one,{x}" for x in first.read_text().splitlines()[1:]] + [f"two,{x}" for x in lines[1:]]
    (tmp_path / "both.csv").write_text("\n".join(both) + "\n")
    again, _ = agree([model], task, [tmp_path / "both.csv"])
    assert again["transitions"] == report["transitions"]


def test_a_model_of_single_steps_refuses_gaps_or_cuts_them(run, fit, agree, tmp_path):
    task = ["gaussian_rw", "--proposal-sd", "5"]
    model = fit("plain", task)
    series = observe(run, task, tmp_path / "a.csv", 60, 1, "--missing", "0.2")
    result = run("sample", model, "--observation", series, "-o", tmp_path / "p.nc", check=False)
    assert result.returncode == 2
    assert "but must be what the model knows, 1; simulate with gaps up to it, or set --cut-gaps" in result.stderr
    agree([model], task, [series], "--cut-gaps")


def test_initial_states_that_depend_on_theta(run, fit, agree, tmp_path):
    task = ["stationary_ar1", "--proposal-sd", "12"]
    model, initial = fit("transitions", task), fit("initial", task, "--initial")
    series = observe(run, task, tmp_path / "a.csv", 10, 1)
    report, _ = agree([model, initial], task, [series])
    assert report["transitions"] == 11  # and x⁰
    result = run("simulate", "gaussian_rw", "--initial", "-o", tmp_path / "t.nc", check=False)
    assert result.returncode == 2 and "the initial state of this simulator is independent of theta" in result.stderr


def test_chains_of_higher_order(run, fit, agree, tmp_path):
    task = ["ar", "--order", "3"]
    agree([fit("ar", task)], task, [observe(run, task, tmp_path / "a.csv", 50, 1)])


def test_blocks_and_what_they_leave(run, fit, agree, tmp_path):
    task = ["gaussian_rw", "--proposal-sd", "5"]
    blocks = fit("blocks", task, "--block", "5")
    series = observe(run, task, tmp_path / "a.csv", 23, 1)
    result = run("sample", blocks, "--observation", series, "-o", tmp_path / "p.nc", check=False)
    assert result.returncode == 2 and "must be a multiple of 5" in result.stderr
    report, _ = agree([blocks, fit("single", task)], task, [series])
    assert report["transitions"] == 4 + 3


def test_times_of_the_proposal(run, tmp_path):
    run("simulate", "ti_gaussian_rw", "--proposal", "fixed", "--at-times", "[3,5]", "--budget", 100, "-o", tmp_path / "t.nc")
    result = run("simulate", "ti_gaussian_rw", "--proposal", "fixed", "--at-times", "soon", "-o", tmp_path / "t.nc",
                 check=False)
    assert result.returncode == 2 and "times is \"soon\", but must be" in result.stderr
