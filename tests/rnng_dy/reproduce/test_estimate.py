"""How long a reproduction will take: what systems cost beside each other."""

from __future__ import annotations

import pytest

from rnng_dy.reproduce import estimate
from rnng_dy.reproduce.plan import Experiment, stages
from rnng_dy.reproduce.systems import System, parse
from rnng_dy.training.presets import NAMES
from tests.commands import invoke

from ..conftest import TINY


def test_costs_of_a_composition_and_a_state_multiply():
    assert (
        estimate.cost(None)
        == estimate.cost(System("corrected"))
        == estimate.cost(System("buggy"))
        == (1, 1)
    )
    gated, stack = estimate.cost(parse("gated-attention")), estimate.cost(parse("corrected/stack"))
    assert gated.training > 2 > 1 > stack.training
    both = estimate.cost(parse("gated-attention/stack"))
    assert both == pytest.approx([a * b for a, b in zip(gated, stack, strict=True)])


def test_seconds_are_those_of_the_system(monkeypatch):
    """A word takes a second in any model of the paper's: 10 epochs of 100 words; inference of 10 words."""
    monkeypatch.setattr(estimate, "seconds_per_word", lambda kind, settings, sizes: 1.0)
    names = ("corrected", "corrected/stack", "gated-attention")
    e = Experiment("nltk", systems=[*map(parse, names)], training={"epochs": 10})
    train, test = estimate.PartSize(20, 100), estimate.PartSize(2, 10)
    found = estimate.estimate(stages(e), e, train, test)
    for name in names:
        system = parse(name)
        training, inference = estimate.cost(system)
        assert found[f"train generator-{system.slug}-1"] == pytest.approx(1000 * training)
        assert found[f"score {system.slug}-1"] == pytest.approx(85 * inference)
        if system == system.proposal:
            assert found[f"train parser-{system.slug}-1"] == pytest.approx(1000 * training)
            assert found[f"sample {system.slug}-1"] == pytest.approx(85 * inference)
        assert found[f"perplexity {system.slug}-1 beam"] == pytest.approx(450 * inference)
    assert found["train lstm-1"] == 1000


@pytest.mark.parametrize("preset", NAMES)
def test_every_preset_is_one_of_reproductions_with_its_dimensions(tmp_path, monkeypatch, preset):
    measured = {}

    def seconds_per_word(kind, settings, sizes):
        measured[kind] = sizes
        return 1.0

    sizes = {"train": estimate.PartSize(2000, 20000), "test": estimate.PartSize(20, 200)}
    monkeypatch.setattr(estimate, "seconds_per_word", seconds_per_word)
    monkeypatch.setattr(estimate, "part_sizes", lambda *_: sizes)
    command = ["reproduce", "trees", "--preset", preset, "--hidden", "7", "--dry-run"]
    for part in ("train", "dev", "test"):
        command += [f"--{part}", str(TINY)]
    result = invoke(*command, "-o", tmp_path / "out")
    assert result.stdout.count(f" --preset {preset} ") == 5
    of_preset = {"lstm_input": 128} if preset == "quick" else {}
    assert measured == {
        "discriminative": {"hidden": 7},
        "generative": {"hidden": 7} | of_preset,
        "lstm-lm": {"hidden": 7},
    }
