"""Two hosts of one run: network namespaces with addresses of their own, joined by a cable that the test may cut.

mpirun starts its daemon in the other namespace by a script in place of ssh. Nothing of this machine's own network is touched.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import pytest
from compare import contents, litter
from ranks import end, environment, needs_mpi, run, succeed

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(os.getuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and iproute2"),
]
TRAIN = ["--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--seed", "1", "-q", "--threads", "1"]


class Hosts:
    def __init__(self, folder):
        tag = f"{os.getpid() % 100000}"
        self.names = [f"catena-{tag}-a", f"catena-{tag}-b"]
        self.links = [f"ca{tag}", f"cb{tag}"]
        self.addresses = ["10.77.23.1", "10.77.23.2"]
        self.folder = folder
        agent = folder / "agent"
        agent.write_text(
            f"#!/bin/sh\n# mpirun's way to the other host, whose address comes first\nshift\n"
            f"exec ip netns exec {self.names[1]} unshare --uts sh -c 'hostname {self.names[1]}; exec sh -c \"$0\"' \"$*\"\n"
        )
        agent.chmod(0o755)
        self.agent = agent

    def ip(self, *arguments, check=True):
        return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)

    def __enter__(self):
        for name in self.names:
            self.ip("netns", "add", name)
        a, b = self.names
        self.ip("link", "add", self.links[0], "netns", a, "type", "veth", "peer", "name", self.links[1], "netns", b)
        for name, link, address in zip(self.names, self.links, self.addresses, strict=True):
            self.ip("-n", name, "addr", "add", f"{address}/30", "dev", link)
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "link", "set", link, "up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            pids = self.ip("netns", "pids", name, check=False).stdout.split()
            for pid in pids:  # all of them were started here
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            self.ip("netns", "del", name, check=False)

    def cut(self):
        self.ip("-n", self.names[0], "link", "set", self.links[0], "down")

    def mend(self):
        self.ip("-n", self.names[0], "link", "set", self.links[0], "up")

    def command(self, *command):
        network = "10.77.23.0/30"
        mpirun = ["mpirun", "--host", ",".join(f"{each}:1" for each in self.addresses), "-n", "2", "--mca", "plm_rsh_agent", self.agent,
                  "--mca", "btl", "tcp,self", "--mca", "oob_tcp_if_include", network, "--mca", "btl_tcp_if_include", network]  # fmt: skip
        inside = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", f'hostname {self.names[0]}; exec "$@"', "sh"]
        return [str(part) for part in [*inside, *mpirun, *command]]

    def start(self, *command):
        return subprocess.Popen(
            self.command(*command), env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip

    def succeed(self, *command):
        process = self.start(*command)
        try:
            said = process.communicate(timeout=60)[1]
        finally:
            end(process)
        assert process.returncode == 0, said


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        try:
            hosts = stack.enter_context(Hosts(tmp_path_factory.mktemp("hosts")))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this machine allows no network namespaces: {error.stderr.strip()}")
        yield hosts


@pytest.fixture(scope="module")
def transitions(program, hosts):
    path = hosts.folder / "t.nc"
    succeed(0, program, "simulate", "gaussian_rw", "--budget", "2000", "-q", "-o", path)
    return path


def test_simulate_and_train_across_two_hosts(program, hosts, transitions, tmp_path):
    simulate = [program, "simulate", "double_well", "--budget", "2e5", "--seed", "1", "-q", "--threads", "1", "-o"]
    succeed(0, *simulate, tmp_path / "one.nc")
    hosts.succeed(*simulate, tmp_path / "two.nc")
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    train = [program, "train", transitions, *TRAIN, "--steps", "300", "-o"]
    succeed(0, *train, tmp_path / "one.safetensors")
    hosts.succeed(*train, tmp_path / "two.safetensors")
    assert contents(tmp_path / "one.safetensors") == contents(tmp_path / "two.safetensors")


def test_a_cut_cable_ends_in_a_named_error_and_resume_completes(program, hosts, transitions, tmp_path):
    output = tmp_path / "m.safetensors"
    train = [program, "train", transitions, *TRAIN, "--checkpoint-seconds", "0.2", "--steps"]
    succeed(0, *train, "4000", "-o", tmp_path / "one.safetensors")
    process = hosts.start(*train, "4000", "-o", output, "--rank-seconds", "4")
    try:
        until = time.monotonic() + 30
        while not list(tmp_path.glob("m.safetensors.*.checkpoint")):
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        hosts.cut()
        began = time.monotonic()
        said = process.communicate(timeout=60)[1]
        assert process.returncode != 0
        assert time.monotonic() - began < 60
    finally:
        hosts.mend()
        end(process)
    assert f"catena train: rank 1 on {hosts.names[1]} has not been heard of for 4 s (--rank-seconds)" in said
    assert "catena train with the same arguments and --resume goes on" in said
    assert not output.exists()
    result = run(3, *train, "4000", "-o", output, "--resume")
    assert result.returncode == 0, result.stderr
    assert contents(output) == contents(tmp_path / "one.safetensors")
    (tmp_path / "one.safetensors").unlink()
    assert litter(tmp_path) == []
