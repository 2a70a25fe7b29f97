"""`--precision bfloat16`: near float32, the same in all processes of a command, refused where it is not possible."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import oracle
from oracle.errors import RnngError
from rnng_dy import engine
from tests.commands import PYTHON, run

TINY = Path(oracle.__file__).parent / "data" / "tiny.trees"
DATA = "--train {0} --dev {0} --hidden 32 --lstm-input 32 --preset fast --epochs 2"
PARSER = f"train discriminative {DATA} --dev-trees trees --model parser".format("oracle")
GENERATOR = f"train generative {DATA} --model generator".format("gen.oracle")
possible = pytest.mark.skipif(
    not engine.dy.has_bfloat16(), reason="this processor has no AVX512_BF16"
)


@pytest.fixture
def data(tmp_path):
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)[:30]
    (tmp_path / "trees").write_text("".join(lines), encoding="utf-8")
    command(tmp_path, "oracle --train trees trees -o oracle")
    command(tmp_path, "oracle --train trees trees --generative -o gen.oracle")
    return tmp_path


def command(folder, line, precision=None, code=0, **environment):
    options = ["--precision", precision] if precision else []
    return run(folder, *line.split(), *options, code=code, env={**os.environ, **environment})


@possible
def test_surprisals_are_near_those_of_float32(data):
    command(data, GENERATOR)
    found = []
    for precision in engine.PRECISIONS:
        command(data, f"surprisal gen.oracle --model generator -o {precision}", precision)
        _, *rows = (data / precision).read_text().splitlines()
        found.append([float(row.split("\t")[5]) for row in rows])
    assert found[0] == pytest.approx(found[1], abs=0.05)
    assert found[0] != found[1]


@possible
def test_the_model_card_has_the_precision(data):
    for precision in engine.PRECISIONS:
        command(data, f"{PARSER}.{precision}", precision)
        card = json.loads((data / f"parser.{precision}" / "about.json").read_text())
        assert card["versions"]["precision"] == precision


@possible
def test_processes_have_the_precision_of_their_command(data):
    command(data, PARSER)
    for name, line, precision in (
        ("one", "--jobs 1", "bfloat16"),
        ("two", "--jobs 2", "bfloat16"),
        ("float32", "--jobs 2", None),
    ):
        command(data, f"sample oracle --samples 9 --model parser -o {name} {line}", precision)
    one, two, float32 = ((data / name).read_text() for name in ("one", "two", "float32"))
    assert one == two != float32


@possible
def test_a_training_is_resumed_with_its_precision(data):
    command(data, PARSER, "bfloat16")
    line = f"{PARSER} --resume"
    done = command(data, line, code=2)
    assert "precision" in done.stderr
    command(data, line, RNNG_DY_PRECISION="bfloat16")


def test_an_unknown_precision_is_refused(data):
    done = command(data, PARSER, code=2, RNNG_DY_PRECISION="float8")
    assert "RNNG_DY_PRECISION is 'float8': say float32 or bfloat16, or unset it" in done.stderr
    assert not (data / "parser").exists()


REFUSED = """
from oracle.errors import RnngError
from rnng_dy import engine

engine.gpu_number = lambda device: 0
try:
    engine.start("cuda")
except RnngError as error:
    print(error)
"""


def test_a_gpu_has_float32():
    environment = {**os.environ, engine.PRECISION: engine.BFLOAT16}
    done = run(None, REFUSED, command=PYTHON, env=environment)
    assert "--precision bfloat16 is for the CPU: leave it out" in done.stdout


def test_a_processor_without_such_products_refuses(monkeypatch):
    def fail(wanted):
        raise ValueError("this processor does not multiply bfloat16 numbers (AVX512_BF16)")

    monkeypatch.setitem(engine.dy.__dict__, "multiply_bfloat16", fail)
    with pytest.raises(RnngError, match=r"AVX512_BF16.: use --precision float32"):
        engine._multiply_bfloat16()
