"""Designs of studies with fixed surprisals: each is one or two commands with the right numbers."""

from __future__ import annotations

import pytest

from .commands import invoke, table

INTERACTION = "(3;%trans_none%) - (3;%trans_comma%) > (3;%intrans_none%) - (3;%intrans_comma%)"


@pytest.fixture
def study(shared):
    return shared / "study"


@pytest.fixture
def right(study):
    """What is right, by design and description."""
    rows = [line.split("\t") for line in (study / "right.tsv").read_text().splitlines()]
    return {(design, what): [*map(float, numbers.split())] for design, what, numbers in rows}


def of_interaction(right):
    [found] = [v for (d, what), v in right.items() if d == "interaction" and INTERACTION in what]
    return found


def test_the_interaction_with_its_interval_and_the_means_of_conditions(study, right, here):
    design = study / "interaction"
    scores = f"surprisals={design / 'surprisals.tsv'}"
    arguments = ["--scorer", scores, "--text", "--prediction", INTERACTION, "--effects", "e.tsv"]
    printed = invoke("suite", design / "items.csv", *arguments).stdout.splitlines()[1].split()
    share = right["interaction", "items on which it holds: share, Wilson interval"]
    percents = [float(printed[i]) for i in (4, 6, 8)]
    assert percents == pytest.approx([100 * x for x in share], abs=0.06)
    first, *others = table((here / "e.tsv").read_text("utf-8"))
    assert first["effect"] == INTERACTION and first["items"] == "8"
    figures = ("mean", "low", "high")
    expected = of_interaction(right)
    assert [float(first[name]) for name in figures] == pytest.approx(expected, abs=1e-4)
    for row in others:
        what = "interaction", f"mean of region 3, {row['effect']}, 95 % interval"
        if row["region"] == "3" and what in right:
            assert [float(row[n]) for n in figures] == pytest.approx(right.pop(what), abs=1e-4)
    assert not any("mean of region" in what for _, what in right)


def test_pairs_by_phenomenon(study, right):
    design = study / "pairs"
    scores = f"surprisals={design / 'surprisals.tsv'}"
    printed = invoke("suite", design / "pairs.csv", "--scorer", scores, "--by", "phenomenon").stdout
    rows = [line.replace("good is more probable", "").split() for line in printed.splitlines()[1:]]
    by_group = {row[1]: [float(row[i]) for i in (4, 6, 8)] for row in rows}
    expected = {
        what.split(", ")[1].split(":")[0]: [100 * x for x in numbers]
        for (design, what), numbers in right.items()
        if design == "pairs"
    }
    assert [*by_group] == [*expected]
    for group, percents in by_group.items():
        assert percents == pytest.approx(expected[group], abs=0.06)
    arguments = ("--scorer", scores, "--by", "phenomenon", "--format", "tsv")
    found = table(invoke("suite", design / "pairs.csv", *arguments).stdout)
    assert [row["item"] for row in found[::2]] == [str(100 + k) for k in range(40)]
    assert (found[0]["group"], found[-1]["group"]) == ("agreement", "island")


def test_effects_in_ms_that_the_fillers_predict(study, right, here):
    """Built with 12 ms a bit: those are in the interval of the coefficient."""
    design = study / "times"
    scores = f"surprisals={design / 'items.surprisals.tsv'}"
    invoke("surprisal", "--stimuli", design / "items.csv", "--scorer", scores, "-o", "items.tsv")
    invoke(
        *("reading-times", design / "fillers.surprisals.tsv", "--times", design / "times.csv"),
        *("--column", "subject=subject", "--column", "condition=condition"),
        *("--where", "condition=filler", "--predict", "items.tsv", "--prediction", INTERACTION),
        *("--effects", "ms.tsv", "-o", "coefficients.csv", "-o", "slopes.tsv"),
    )
    slopes = table((here / "slopes.tsv").read_text(encoding="utf-8"))
    by_name = {row["predictor"]: row for row in slopes}
    for name, ms in (("surprisal", 12), ("length", 20)):
        assert float(by_name[name]["low"]) < ms < float(by_name[name]["high"])
    first, *_ = table((here / "ms.tsv").read_text("utf-8"))
    [[expected]] = [numbers for (d, _), numbers in right.items() if d == "times"]
    assert first["effect"] == INTERACTION and first["items"] == "8"
    assert float(first["mean"]) == pytest.approx(expected, rel=0.05)
    assert float(first["low"]) < expected < float(first["high"])
    # the interval is that of the items
    bits = of_interaction(right)
    widths = [float(first["high"]) - float(first["low"]), bits[2] - bits[1]]
    assert widths[0] / widths[1] == pytest.approx(
        float(by_name["surprisal"]["coefficient"]), rel=0.05
    )
