"""The whole report, with every stage, of every kind of system: compositions, parser states, transition systems."""

from __future__ import annotations

import json

import pytest

from oracle.transitions import SYSTEMS
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import PARSER_STATES
from rnng_dy.reproduce.alone import SEARCHES, process_seconds
from rnng_dy.reproduce.plan import Experiment, stages
from rnng_dy.reproduce.systems import every, parse
from rnng_dy.reproduce.tables import WAYS
from tests.commands import invoke

from ..conftest import TINY

# the first three have one parser, and so have the last two
pytestmark = pytest.mark.slow

NAMES = (
    "corrected",
    "corrected/stack",
    "corrected/history",
    "buggy/no-buffer",
    "gated-attention/no-stack/in-order",
    "gated-attention/no-history/in-order",
)
TINY_MODELS = "--preset paper --epochs 3 --hidden 6 --lstm-input 6 --samples 3 --beam 5 --particles 4 --jobs 2"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of a finished reproduction."""
    folder = tmp_path_factory.mktemp("systems")
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = {"train": lines[:30], "dev": lines[30:34], "test": lines[34:40]}
    command = ["reproduce", "trees", *TINY_MODELS.split(), "--tags", "gold", "--compare", "pairs"]
    for part, of_part in parts.items():
        path = folder / f"{part}.trees"
        path.write_text("".join(of_part), encoding="utf-8")
        command += [f"--{part}", str(path)]
    invoke(*command, "--systems", ",".join(NAMES), "-o", folder / "out")
    return folder / "out"


def test_these_are_all_compositions_states_and_transition_systems():
    systems = [parse(name) for name in NAMES]
    for found, every_one in zip(
        zip(*systems, strict=True), (COMPOSITIONS, PARSER_STATES, SYSTEMS), strict=True
    ):
        assert set(found) == set(every_one)


def test_a_report_has_every_number_of_every_system(out):
    found = json.loads((out / "report.json").read_text(encoding="utf-8"))
    page, text = ((out / f"report.{x}").read_text(encoding="utf-8") for x in ("html", "md"))
    table = text.split("## Perplexity several ways")[1].split("##")[0]
    for name in NAMES:
        for kind in ("discriminative", "generative", "alone"):
            assert f"{kind} {name}" in found["f1"]
        assert name in found["perplexity"]
        assert f"RNNG, {name}" in found["generated"]
        for way in WAYS.values():
            [row] = [row for row in table.splitlines() if row.startswith(f"| {way}, {name} |")]
            # seconds of its stages
            assert int(row.split("|")[-2].strip()) >= 0
        assert name in page
    assert len(found["comparisons"]) == len(NAMES) * (len(NAMES) - 1) // 2


@pytest.mark.parametrize("system", every(), ids=lambda system: system.slug)
def test_the_report_asks_only_for_stages_that_there_are(system):
    e = Experiment("trees", systems=[system], seeds=(3,))
    planned = [
        {"name": stage.name, "seconds": 2.0, "processes": 1 + (stage.verb == "sample")}
        for stage in stages(e)
    ]
    found = process_seconds(f"{system.slug}-3", f"{system.proposal.slug}-3", planned)
    assert found == {"samples": 6.0} | dict.fromkeys(SEARCHES, 2.0)
