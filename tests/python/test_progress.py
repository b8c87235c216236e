"""Progress and Ctrl-C, seen from outside the program: on a terminal, in a pipe, and after a signal."""

import os
import pty
import re
import signal
import subprocess
import time

ARGUMENTS = ["bench", "--only", "peak", "--run-seconds", "0.002"]


def on_a_terminal(program, *arguments):
    """Standard error of the program when it is a pseudo-terminal of 80 columns."""
    master, slave = pty.openpty()
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=slave, stdin=slave) as process:
        os.close(slave)
        chunks = []
        try:
            while chunk := os.read(master, 4096):
                chunks.append(chunk)
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(master)
        assert process.wait(timeout=60) == 0
    return b"".join(chunks).decode()


def test_a_terminal_gets_a_bar_that_is_redrawn_in_place(program):
    text = on_a_terminal(program, *ARGUMENTS)
    assert "\rbench 100 % [████████████████████████]" in text
    assert text.count("\n") == 1


def test_a_search_over_networks_is_one_bar_that_never_goes_back(program, catena, tmp_path):
    catena("simulate", "gaussian_rw", "--budget", "600", "-o", tmp_path / "t.nc", "-q")
    for method in ["fnle", "fnre", "fnse", "fnbe"]:
        text = on_a_terminal(program, "train", tmp_path / "t.nc", "--method", method, "--steps", "60", "-o", tmp_path / "m.safetensors")
        assert text.count("\n") == 1 and text.count(f"training {method}") > 1
        shares = [int(share) for share in re.findall(r"training \w+ +(\d+) %", text)]
        assert shares == sorted(shares) and shares[-1] == 100


def test_quiet_says_nothing_even_on_a_terminal(program):
    assert on_a_terminal(program, *ARGUMENTS, "--quiet") == ""


def test_a_pipe_gets_whole_lines(catena):
    text = catena(*ARGUMENTS).stderr
    assert text.startswith("bench 100 %")
    assert "\r" not in text and "\x1b" not in text and "█" not in text


def test_the_style_can_be_chosen(catena, program):
    assert "█" in catena(*ARGUMENTS, "--progress", "bar").stderr
    assert "█" not in on_a_terminal(program, *ARGUMENTS, "--progress", "lines")
    assert catena(*ARGUMENTS, "--progress", "none").stderr == ""


def test_ctrl_c_ends_with_code_130_and_prints_no_result(program):
    command = [program, "bench", "--only", "peak", "--run-seconds", "0.1", "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.5)  # the measurement takes at least 1 s: ten runs of 0.1 s
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (130, "", "catena: interrupted\n")
