"""Dropping all of a sentence's state but the stack, in training alone."""

from dataclasses import replace

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy.engine import dy
from rnng_dy.training.data import examples_of
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from ..conftest import make_generator, make_parser


def trained(make, sentences, state, composition="corrected", **settings):
    """The parameters after two updates."""
    model = make(sentences, composition=composition, state=state)
    plain = {"dropout": 0.0, "unknown_probability": 0.0}
    settings = replace(PRESETS["paper", model.kind], **plain, **settings)
    updater = Updater(model, examples_of(model, sentences[:8], "some"), settings)
    for number in range(2):
        updater.update(range(8), number, 0.1)
    return model.store.arrays()


@pytest.mark.parametrize("composition", ["corrected", "gated-attention"])
@pytest.mark.parametrize("generative", [False, True])
def test_always_dropped_it_trains_the_stack_alone(
    generative, composition, sentences, generative_sentences
):
    make, of_kind = (make_parser, sentences), (make_generator, generative_sentences)
    arguments = of_kind if generative else make
    stack = trained(*arguments, "stack", composition)
    dropped = trained(*arguments, "full", composition, state_dropout=1.0)
    assert all((stack[name] == values).all() for name, values in dropped.items())


def test_sentences_are_dropped_one_by_one_and_only_in_training(generative_sentences):
    model = make_generator(generative_sentences)
    stack = make_generator(generative_sentences, state="stack")
    examples = [model.encode_training(s) for s in generative_sentences[:6]]

    def loss(model, examples):
        dy.renew_cg()
        return model.training_loss(examples, 0.0).value()

    either = [[loss(m, [example]) for example in examples] for m in (model, stack)]
    sums = {round(sum(pick), 2) for pick in choices(*either)}
    model.network.state_dropout = 0.5
    totals = [loss(model, examples) for _ in range(20)]
    assert len(set(totals)) > 5
    assert all(min(abs(total - s) for s in sums) < 0.05 for total in totals)


def choices(first, second):
    """Every sequence with an element of either sequence at each index."""
    return np.array(np.meshgrid(*zip(first, second, strict=True))).reshape(len(first), -1).T


@pytest.mark.parametrize("state", ["stack", "no-stack", "history"])
def test_without_a_stack_and_more_there_is_nothing_to_drop(generative_sentences, state):
    with pytest.raises(RnngError, match=f"`state_dropout` needs .* not the state {state}"):
        trained(make_generator, generative_sentences, state, state_dropout=0.5)
