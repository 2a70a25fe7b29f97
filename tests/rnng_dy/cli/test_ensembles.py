"""`--model` given several times: an ensemble."""

from __future__ import annotations

import math

import pytest

import rnng_dy
from oracle.blocks import write_oracle
from oracle.brackets import parse_line
from oracle.files import replacing
from rnng_dy import parallel
from rnng_dy.cli.job import ModelFolder
from tests.commands import invoke, refused

from ..conftest import make_generator, make_parser, sentences_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory, trees):
    """Two parsers and two generative models, and four sentences."""
    folder = tmp_path_factory.mktemp("ensembles")
    for name, make, generative in (("p", make_parser, False), ("g", make_generator, True)):
        for seed in (1, 2):
            model = make(sentences_of(trees, generative), seed=seed)
            # REDUCE before SHIFT before all else: what random parameters derive must end
            rest = len(model.transitions) - 2
            model.store.dense["action_bias"].set_value([2.0, 2.0] + [0.0] * rest)
            model.save(folder / f"{name}{seed}")
    some = sorted(trees, key=lambda tree: len(tree.text))[:4]
    with replacing(folder / "s.oracle") as stream:
        write_oracle(sentences_of(some, False), stream)
    (folder / "s.trees").write_text("".join(tree.text + "\n" for tree in some), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def output(command):
    return invoke(*command.split()).stdout


PARSES = {
    "greedy": "parse s.oracle",
    "nbest": "parse s.oracle --nbest 3 --beam 4",
    "samples": "parse s.oracle --samples 3",
    "mbr": "parse s.oracle --decode mbr --samples 5",
    "sample": "sample s.oracle --samples 5 --alpha 1",
}
GENERATIVE = {
    "score": "score s.trees",
    "surprisal": "surprisal s.oracle --beam 10 --word-beam 3",
    "search": "parse s.oracle --nbest 2 --beam 10 --word-beam 3",
}


@pytest.mark.parametrize("command", PARSES.values(), ids=PARSES)
def test_a_parser_twice_writes_what_it_writes_alone(command):
    assert output(f"{command} --model p1 --model p1") == output(f"{command} --model p1")


@pytest.mark.parametrize(
    "command",
    [f"{command} --model p1 --model p2" for command in PARSES.values()]
    + [f"{command} --model g1 --model g2" for command in GENERATIVE.values()],
)
def test_processes_change_nothing_and_both_models_count(command):
    found = output(command)
    assert found == output(f"{command} --jobs 2")
    first, second = command.split()[-3], command.split()[-1]
    alone = [
        output(command.replace(f"--model {first} --model {second}", f"--model {name}"))
        for name in (first, second)
    ]
    assert found not in alone


def test_scores_are_means_of_probabilities():
    found = [
        [float(line.split("\t")[1]) for line in output(f"score s.trees {models}").splitlines()]
        for models in ("--model g1 --model g2", "--model g1", "--model g2")
    ]
    for both, first, second in zip(*found, strict=True):
        expected = -math.log((math.exp(-first) + math.exp(-second)) / 2)
        assert both == pytest.approx(expected, rel=1e-5)


def test_samples_have_the_log_prob_of_the_ensemble():
    both = rnng_dy.ensemble(rnng_dy.load("p1"), rnng_dy.load("p2"))
    lines = output("parse s.trees --samples 3 --model p1 --model p2").splitlines()
    assert len(lines) == 12
    for line in lines:
        _, log_q, tree = line.split(" ||| ")
        assert both.log_prob(parse_line(tree)) == pytest.approx(float(log_q), rel=1e-4)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("parse --model p1 --model g1 s.oracle", "g1: a generative model; a discriminative one is"),
        ("score --model g1 --model p1 s.trees", "p1: a discriminative model; a generative one is"),
        ("surprisal --model g1 --model no s.trees", "there is no folder no"),
        ("surprisal --model p1 --model g1 s.trees", "p1 is a parser"),
        ("surprisal --model g1 --kneser-ney s.oracle s.trees", "either --model or --kneser-ney"),
    ],
)
def test_models_that_do_not_fit_are_refused(folder, command, message):
    assert message in refused(folder, *command.split())


def test_models_of_other_systems_are_refused(folder, trees):
    make_parser(sentences_of(trees, False, "in-order")).save(folder / "in-order")
    said = refused(folder, "parse", "--model", "p1", "--model", "in-order", "s.oracle")
    assert "models 1 and 2 of an ensemble differ in their transition systems" in said


def test_a_part_of_other_models_is_not_resumed():
    keys = [
        ModelFolder("discriminative", "p1", "cpu", others).content()
        for others in ((), ("p1",), ("p2",))
    ]
    assert len({str(key) for key in keys}) == 3


def test_an_ensemble_can_be_sent():
    place = ModelFolder("generative", "g1", "cpu", ("g2",))
    [moved] = parallel._open_sent((), [place], [parallel._contents(place)], 1)
    for one, other in zip(moved.models, place.open().models, strict=True):
        for name, values in one.store.arrays().items():
            assert (values == other.store.arrays()[name]).all()
