"""What the recorded commands compute is what commit 13503d9 computed: the bits on its machine, elsewhere nearly.

Shares of particles, but for `surprisal`, are those of a later commit, which counts the particles that are kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this checkout computes."""
    folder = tmp_path_factory.mktemp("golden") / "made"
    subprocess.run(
        [sys.executable, "-m", "tests.golden.record", folder], check=True, cwd=HERE.parents[1]
    )
    return folder


@pytest.fixture(scope="module")
def same_machine(made: Path) -> bool:
    """Whether processor and build of DyNet are those of the record."""
    ours, record = (
        json.loads((folder / "numbers" / "machine.json").read_bytes()) for folder in (made, HERE)
    )
    return ours == record


def names(folder: str) -> list[str]:
    return sorted(path.name for path in (HERE / folder).iterdir() if path.name != "machine.json")


@pytest.mark.parametrize("name", names("numbers"))
def test_numbers(made: Path, same_machine: bool, name: str) -> None:
    ours, record = (
        (folder / "numbers" / name).read_text(encoding="utf8") for folder in (made, HERE)
    )
    if name.startswith("parameters."):
        assert_parameters(json.loads(ours), json.loads(record), same_machine)
    elif name.startswith("surprisal."):
        assert_columns(json.loads(ours), json.loads(record), same_machine)
    elif same_machine:
        assert ours == record
    else:
        assert_nearly(ours, record)


def assert_parameters(ours: dict[str, list], record: dict[str, list], same_machine: bool) -> None:
    assert ours.keys() == record.keys()
    for name, (shape, bits, *values) in record.items():
        assert ours[name][0] == shape, name
        if same_machine:
            assert ours[name][1] == bits, name
        assert ours[name][2:] == pytest.approx(values, rel=1e-4, abs=1e-4), name


def assert_columns(
    ours: dict[str, list[str]], record: dict[str, list[str]], same_machine: bool
) -> None:
    for name, values in record.items():
        if same_machine:
            assert ours[name] == values, name
        else:
            assert_nearly("\n".join(ours[name]), "\n".join(values))


def assert_nearly(ours: str, record: str) -> None:
    """The same text but for the last digits of numbers."""
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", record)
    found, wanted = ([float(value) for value in NUMBER.findall(text)] for text in (ours, record))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("name", names("texts"))
def test_texts(made: Path, name: str) -> None:
    ours, record = ((folder / "texts" / name).read_text(encoding="utf8") for folder in (made, HERE))
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", record)
