"""The command: its server, its token, and its errors; the extra that it needs."""

from __future__ import annotations

import base64
import builtins
import importlib
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

import rnng_dy.serve
from oracle.errors import RnngError
from rnng_dy.cli import main
from rnng_dy.serve.metrics import Metrics

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


def test_a_server_answers_behind_a_proxy_with_a_token_until_ctrl_c():
    httpx = importlib.import_module(CLIENT)
    with serving("--model", "english", "--token", "s3cret", "--root-path", "/parser") as (url, _):
        assert url.endswith("/parser/")
        origin = url.removesuffix("/parser/")
        # the proxy removes the path
        assert httpx.get(f"{origin}/health").json() == {"status": "ok"}
        refused = httpx.get(f"{origin}/parse")
        assert (refused.status_code, refused.headers["www-authenticate"][:5]) == (401, "Basic")
        wrong = {"authorization": "Bearer s3cre"}
        assert httpx.get(f"{origin}/api/models", headers=wrong).status_code == 401
        bearer = {"authorization": "Bearer s3cret"}
        found = httpx.get(f"{origin}/api/models", headers=bearer).json()["models"]
        assert [model["name"] for model in found] == ["english", "english-generative"]
        password = base64.b64encode(b"anyone:s3cret").decode()
        page = httpx.get(f"{origin}/parse", headers={"authorization": f"Basic {password}"})
        assert page.status_code == 200
        assert "server" not in page.headers


@pytest.mark.parametrize(
    "header", ["Basic !!!", "Basic", "Bearer", "", "Bearer s\xe4cret", "Basic YQ=="]
)
def test_a_malformed_token_is_refused(header, models):
    from starlette.testclient import TestClient

    found = rnng_dy.serve.app({"english": models["english"]}, token="s3cret")
    with TestClient(found) as client:
        headers = [(b"authorization", header.encode("latin-1"))]
        assert client.get("/api/models", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--model'"),
        (["--model", "nothing"], "nothing"),
        (["--model", "english", "--port", "70000"], "70000"),
        (["--model", "english", "--max-words", "0"], "x>=1"),
        (["--model", "english", "--workers", "2", "--device", "cuda"], "one process keeps a GPU"),
    ],
)
def test_a_mistake_is_a_message_and_exit_code_2(arguments, message):
    ended = CliRunner().invoke(main, ["serve", *arguments])
    assert (ended.exit_code, message in ended.output) == (2, True), ended.output


def test_a_taken_port_is_a_message():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "rnng_dy", "serve", "--model", "english", "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_device_that_nobody_has_is_a_message():
    command = [sys.executable, "-m", "rnng_dy", "serve", "--model", "english", "--port", "0"]
    ended = subprocess.run([*command, "--device", "tpu"], capture_output=True, text=True)
    assert (ended.returncode, "no device 'tpu'" in ended.stderr) == (2, True), ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "uvicorn":
            raise ImportError("No module named 'uvicorn'")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RnngError, match=r"uvicorn.*pip install 'rnng_dy\[serve\]'"):
        rnng_dy.serve.app({"english": "english"})


def test_metrics_are_in_the_format_of_prometheus():
    metrics = Metrics()
    metrics.response("parse", 200, 0.02)
    metrics.response("parse", 200, 20.0)
    metrics.batch(3, 0.01)
    lines = metrics.text().splitlines()
    assert 'rnng_dy_responses_total{route="parse",status="200"} 2' in lines
    assert 'rnng_dy_response_seconds_bucket{route="parse",le="0.025"} 1' in lines
    assert 'rnng_dy_response_seconds_bucket{route="parse",le="+Inf"} 2' in lines
    assert 'rnng_dy_response_seconds_count{route="parse"} 2' in lines
    assert "rnng_dy_computed_requests_total 3" in lines
    assert all(re.fullmatch(r"# TYPE \S+ \w+|\w+(\{[^}]*\})? [\d.]+", line) for line in lines)
