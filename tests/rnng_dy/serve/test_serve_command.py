"""The command: its server and its errors; the extra that it needs."""

import builtins
import importlib
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import rnng_dy.serve
from oracle.common.errors import RnngError

from .conftest import CLIENT, needs_serve

pytestmark = needs_serve


@contextmanager
def serving(*options: str):
    """The address of a server in a process of its own, which ends by Ctrl-C."""
    command = [sys.executable, "-m", "rnng_dy", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        while "open http" not in line:
            assert line, "the server has ended"
            line = process.stderr.readline()
        yield re.search(r"http://\S+", line)[0], process
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        process.wait(60)
    assert "Traceback" not in rest
    assert process.returncode == 130


def test_a_server_answers_until_ctrl_c():
    httpx = importlib.import_module(CLIENT)
    with serving("--model", "english", "--limit", "words=7", "--allow-host", "a.b") as (url, _):
        found = httpx.get(f"{url}api/models").json()["models"]
        assert [model["name"] for model in found] == ["english", "english-generative"]
        page = httpx.get(f"{url}parse")
        assert (page.status_code, "10 words, more than 7" in page.text) == (422, True)
        assert "server" not in page.headers
        for host, status in (("A.b", 200), ("localhost", 200), ("evil.example", 421)):
            assert httpx.get(f"{url}api/models", headers={"host": host}).status_code == status


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "uvicorn":
            raise ImportError("No module named 'uvicorn'")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RnngError, match=r"uvicorn.*pip install 'rnng_dy\[serve\]'"):
        rnng_dy.serve.app({"english": "english"})
