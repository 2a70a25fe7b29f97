"""Which GPU is used, with a driver of our own: there need not be any card."""

import os
import subprocess
from pathlib import Path

import pytest

from oracle.common.errors import RnngError
from rnng_dy import engine
from tests.commands import PYTHON, run
from tests.conftest import needs_proc

# as the real one: the variable is read when cuInit is called, once for the process
DRIVER = """
#include <stdlib.h>
#include <string.h>
static int count = -1;
int cuInit(unsigned flags) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (count < 0) {
        count = 4;
        if (visible) {
            count = *visible != 0;
            for (; *visible; visible++) count += *visible == ',';
        }
    }
    return 0;
}
int cuDeviceGetCount(int *n) { *n = count; return 0; }
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The folder of a library that says it is NVIDIA's driver and has four cards."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "cuda.c").write_text(DRIVER)
    library = str(folder / "libcuda.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, str(folder / "cuda.c")], check=True)
    return folder


@pytest.fixture
def cards(driver, monkeypatch):
    """Four cards, and a DyNet that is said to be built for them."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(engine, "installed_version", lambda: f"{engine.NEEDED}.cu13")


@needs_proc
def test_cards_are_counted_by_another_process(cards, monkeypatch):
    assert engine.cuda_device_count() == 4
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert engine.cuda_device_count() == 2
    assert "libcuda.so" not in Path("/proc/self/maps").read_text()


STARTED = """
import sys
from rnng_dy import engine
engine.installed_version = lambda: f"{engine.NEEDED}.cu13"
# DyNet is loaded last: what the driver would see by then
engine.dy.__class__._load = lambda self: print(__import__("os").environ["CUDA_VISIBLE_DEVICES"])
import types
sys.modules["dynet_config"] = types.SimpleNamespace(set=lambda **settings: None)
before = dict(__import__("os").environ)
engine.start(sys.argv[1])
assert dict(__import__("os").environ) == before
"""


@pytest.mark.parametrize(
    ("device", "visible", "expected"),
    [
        ("cuda", None, "0"),
        ("cuda:2", None, "2"),
        ("cuda:0", "3,1", "3"),
        ("cuda:1", "3,1", "1"),
        ("cuda:1", "GPU-8f2a,GPU-77", "GPU-77"),
    ],
)
def test_a_number_counts_in_the_users_list(cards, device, visible, expected):
    environment = os.environ | ({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})
    assert run(None, STARTED, device, command=PYTHON, env=environment).stdout.strip() == expected


@pytest.mark.parametrize("visible", ["3,1", ""])
def test_a_card_outside_the_list_is_refused(cards, monkeypatch, visible):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(engine, "_started", None)
    with pytest.raises(RnngError, match=r"no GPU 2: the NVIDIA driver shows [02]"):
        engine.start("cuda:2")


def test_the_device_that_runs_is_taken(monkeypatch):
    monkeypatch.setattr(engine, "_started", "cuda:0")
    for device in (None, "cuda", "cuda:0"):
        engine.start(device)
    for device in ("cpu", "cuda:1"):
        with pytest.raises(RnngError, match=f"runs on cuda:0; it cannot change to {device}"):
            engine.start(device)
