"""catena train and catena sample as users call them: interrupted, with bad input, and read by other programs."""

import json
import os
import signal
import subprocess
import time

import pytest


@pytest.fixture(scope="session")
def run(catena):
    def checked(*arguments, check=True):
        result = catena(*arguments)
        assert result.returncode == 0 or not check, result.stderr
        return result

    return checked


@pytest.fixture(scope="module")
def transitions(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("train") / "transitions.nc"
    run("simulate", "gaussian_rw", "--dim", 2, "--proposal-sd", 3, "--budget", 6000, "--seed", 1, "-o", path)
    return path


TRAIN = ["--method", "fnse", "--network", "separable", "--ensemble", "2", "--width", "24", "--terms", "8", "--decay", "0.1", "--batch-size", "200", "--steps", "6000"]


@pytest.fixture(scope="module")
def model(run, transitions):
    path = transitions.parent / "model.safetensors"
    run("train", transitions, "-o", path, "--seed", 4, *TRAIN)
    return path


def tensors(path):
    """The bytes behind the header: learning curves hold times, weights must be equal to the bit."""
    data = path.read_bytes()
    return data[8 + int.from_bytes(data[:8], "little"):]


def kill_at_the_first_checkpoint(program, transitions, path, checkpoint, flags):
    command = [program, "train", transitions, "-o", path, "--seed", "4", *flags, "--checkpoint-seconds", "0.05", "--quiet"]
    process = subprocess.Popen(list(map(str, command)))
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert checkpoint.exists() and not path.exists()


def test_a_killed_training_goes_on_to_the_same_bits(run, program, transitions, model, tmp_path):
    path = tmp_path / "model.safetensors"
    kill_at_the_first_checkpoint(program, transitions, path, tmp_path / "model.safetensors.separable-decay-0.1.checkpoint", TRAIN)
    run("train", transitions, "-o", path, "--seed", 4, *TRAIN, "--resume")
    assert tensors(path) == tensors(model)
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_killed_search_of_decays_goes_on_to_the_same_bits(run, program, transitions, tmp_path):
    flags = ["--method", "fnre", "--width", "16", "--terms", "8", "--batch-size", "200", "--steps", "600", "--ensemble", "2"]
    path, whole = tmp_path / "model.safetensors", tmp_path / "whole.safetensors"
    run("train", transitions, "-o", whole, "--seed", 4, *flags)
    checkpoint = tmp_path / "model.safetensors.separable-decay-0.5.checkpoint"
    kill_at_the_first_checkpoint(program, transitions, path, checkpoint, flags)
    run("train", transitions, "-o", path, "--seed", 4, *flags, "--resume")
    assert tensors(path) == tensors(whole)
    assert sorted(os.listdir(tmp_path)) == ["model.safetensors", "whole.safetensors"]


def test_a_killed_embedding_goes_on_to_the_same_bits(run, program, tmp_path):
    flow = tmp_path / "flow.nc"
    run("simulate", "kolmogorov_flow", "--grid", 32, "--inner-steps", 2, "--budget", 600, "-o", flow)
    flags = ["--method", "fnse", "--embedding", "conv", "--convolutions", "8x6/2,8x6/2,4x3", "--embedding-width", "8"]
    flags += ["--embedding-steps", "150", "--steps", "50", "--effort", "quick"]
    path, whole = tmp_path / "model.safetensors", tmp_path / "whole.safetensors"
    run("train", flow, "-o", whole, "--seed", 4, *flags)
    kill_at_the_first_checkpoint(program, flow, path, tmp_path / "model.safetensors.embedding.checkpoint", flags)
    run("train", flow, "-o", path, "--seed", 4, *flags, "--resume")
    assert tensors(path) == tensors(whole)


def test_a_checkpoint_of_other_settings_is_refused(run, program, transitions, tmp_path):
    path = tmp_path / "model.safetensors"
    command = [program, "train", transitions, "-o", path, *TRAIN, "--checkpoint-seconds", "0.05", "--quiet"]
    process = subprocess.Popen(list(map(str, command)))
    checkpoint = tmp_path / "model.safetensors.separable-decay-0.1.checkpoint"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    result = run("train", transitions, "-o", path, *TRAIN, "--learning-rate", "0.1", "--resume", check=False)
    assert result.returncode == 2
    assert "begun with other data or settings" in result.stderr


def test_python_reads_the_model_file(model):
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(model, framework="numpy") as file:
        assert any(name.startswith("score.0/") for name in file.keys())


def series(path, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


@pytest.mark.parametrize(
    "rows, sentence",
    [
        ([[0, 0, 0], [1, 1, 1]], "the number of states of the series is 3, but must be 2"),
        ([[0, 0]], "the number of rows of the series is 1, but must be at least 2"),
        ([[0, 0], [1, "nan"]], "is missing in 1 of 2 coordinates, but must be"),
        ([["a", "b"], [0, 0], [1, 1]], "but must be those of the model, x_1, x_2"),
    ],
)
def test_a_series_that_does_not_fit_is_one_sentence(run, model, tmp_path, rows, sentence):
    output = tmp_path / "posterior.nc"
    result = run("sample", model, "--observation", series(tmp_path / "bad.csv", rows), "-o", output, check=False)
    assert result.returncode == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert not output.exists()


def test_states_outside_the_training_range_are_a_warning(run, model, tmp_path):
    far = series(tmp_path / "far.csv", [[0, 0], [1, 1], [30, 1]])
    result = run("sample", model, "--observation", far, "-n", 10, "-o", tmp_path / "p.nc", check=False)
    assert "1 of 2 transitions lie outside the training range, the worst (number 2) by" in result.stderr


def test_arviz_opens_the_posterior_and_it_is_near_the_exact_one(run, model, tmp_path):
    arviz = pytest.importorskip("arviz")
    run("observe", "gaussian_rw", "--dim", 2, "--transitions", 1, "--seed", 3, "-o", tmp_path / "series.csv")
    posterior, reference = tmp_path / "posterior.nc", tmp_path / "reference.nc"
    result = run("sample", model, "--observation", tmp_path / "series.csv", "-o", posterior, "--json")
    report = json.loads(result.stdout)
    assert report["outcome"] == "ok" and report["transitions"] == 1
    run("reference", "gaussian_rw", "--dim", 2, "--observation", tmp_path / "series.csv", "-o", reference, "--no-cache")
    drawn, exact = arviz.from_netcdf(posterior).posterior, arviz.from_netcdf(reference).posterior
    for name in ("theta_1", "theta_2"):
        assert drawn[name].shape == (1, 1000)
        # The exact deviation is 0.71.
        assert abs(float(drawn[name].mean() - exact[name].mean())) < 0.3
        assert 0.7 < float(drawn[name].std() / exact[name].std()) < 1.4


def test_a_stream_that_comes_in_pieces_ends_at_the_posterior_of_the_whole_series(run, model, tmp_path):
    run("observe", "gaussian_rw", "--dim", 2, "--transitions", 30, "--seed", 5, "-o", tmp_path / "series.csv")
    header, *rows = (tmp_path / "series.csv").read_text().splitlines()
    run("sample", model, "--observation", tmp_path / "series.csv", "-o", tmp_path / "whole.nc", "-n", 200)
    state = tmp_path / "stream.safetensors"
    for piece in (rows[:12], rows[12:13], rows[13:]):
        (tmp_path / "piece.csv").write_text("\n".join([header, *piece]) + "\n")
        result = run("sample", model, "--observation", tmp_path / "piece.csv", "--state", state, "-n", 200,
                     "-o", tmp_path / "pieces.nc", "--json")
    assert json.loads(result.stdout)["transitions"] == 30
    difference = json.loads(run("evaluate", tmp_path / "pieces.nc", tmp_path / "whole.nc", "--metrics", "sw1", "--json").stdout)
    assert difference["sw1"] < 1e-4  # the same draws but for rounding


def test_the_state_of_another_model_is_refused(run, transitions, model, tmp_path):
    run("observe", "gaussian_rw", "--dim", 2, "--transitions", 3, "--seed", 5, "-o", tmp_path / "series.csv")
    other = tmp_path / "other.safetensors"
    run("train", transitions, "-o", other, "--seed", 5, *TRAIN[:-1], "50")
    arguments = ["--observation", tmp_path / "series.csv", "--state", tmp_path / "s.safetensors", "-n", 10,
                 "-o", tmp_path / "p.nc"]
    run("sample", model, *arguments)
    before = (tmp_path / "s.safetensors").read_bytes()
    result = run("sample", other, *arguments, check=False)
    assert result.returncode == 2 and "is the state of another model" in result.stderr
    assert (tmp_path / "s.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    "flags, sentence",
    [
        (["--density", "gaussian", "--bins", 12], "train: bins is 12, but density = gaussian does not use it (nsf does)"),
        (["--flow-layers", 2], "train: --flow-layers is 2, but density = auto does not use it (maf, nsf do)"),
        (["--method", "fnse", "--smallest-eta", 0.1], "train: --smallest-eta is 0.1, but levels = uniform does not use it (log does)"),
        (["--method", "fnre", "--balance", 3], "train: balance is 3, but loss = auto does not use it (balanced does)"),
        (["--weight-decay", 0.1], "train: --weight-decay is 0.1, but the method fnle does not use it"),
        (["--method", "fnbe", "--preset", "paper"], "train: preset is paper, but fnbe is no method of it (fnse, fnle, fnre, npe, npe_windows, npe_summary, nle_summary, nse are)"),
    ],
)
def test_a_setting_that_is_named_in_vain_is_one_sentence(run, transitions, tmp_path, flags, sentence):
    result = run("train", transitions, "-o", tmp_path / "model.safetensors", *flags, check=False)
    assert result.returncode == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1


def test_a_samplers_setting_that_is_named_in_vain_is_one_sentence(run, model, tmp_path):
    run("observe", "gaussian_rw", "--dim", 2, "--transitions", 3, "--seed", 5, "-o", tmp_path / "series.csv")
    arguments = ["sample", model, "--observation", tmp_path / "series.csv", "-n", 10, "-o", tmp_path / "p.nc"]
    for flags, sentence in (
        (["--sampler", "heun", "--langevin-rate", 0.1], "--langevin-rate is 0.1, but sampler = heun does not use it"),
        (["--sampler", "ddim", "--tolerance", 0.1], "tolerance is 0.1, but sampler = ddim does not use it"),
        (["--rule", "fnpe", "--precisions", "sampled"], "precisions is sampled, but rule = fnpe does not use it (gauss does)"),
    ):
        result = run(*arguments, *flags, check=False)
        assert result.returncode == 2 and sentence in result.stderr and result.stderr.count("\n") == 1
    run(*arguments, "--sampler", "heun", "--corrections", 2, "--langevin-rate", 0.1)


@pytest.mark.parametrize("method", ["fnse", "fnle", "fnre"])
def test_the_papers_recipe_is_one_flag_and_what_is_named_wins(run, transitions, tmp_path, method):
    path = tmp_path / "model.safetensors"
    result = json.loads(run("train", transitions, "-o", path, "--method", method, "--preset", "paper", "--steps", 20, "--json").stdout)
    assert result["preset"] == "paper" and {network["steps"] for network in result["networks"].values()} == {20}
    wanted = {"fnse": ("network", "joint"), "fnle": ("density", "maf"), "fnre": ("network", "joint")}[method]
    assert result["settings"][wanted[0]] == wanted[1]
    run("observe", "gaussian_rw", "--dim", 2, "--transitions", 3, "--seed", 5, "-o", tmp_path / "series.csv")
    arguments = ["--observation", tmp_path / "series.csv", "-n", 10, "-o", tmp_path / "p.nc", "--preset", "paper", "--json"]
    more = ["--steps", 30] if method == "fnse" else ["--most-steps", 50, "--least-ess", 10]
    drawn = json.loads(run("sample", path, *arguments, *more, check=False).stdout)
    assert drawn["preset"] == "paper"
    assert drawn["settings"]["steps"] == 30 if method == "fnse" else drawn["settings"]["kernel"] == "slice"
