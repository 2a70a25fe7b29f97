"""How long a reproduction will take, from a short measurement on the package's own trees."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import oracle
from oracle.files import make_oracle
from oracle.treebank import read_trees, words
from oracle.unknown import UnknownWords, known_words
from rnng_dy.reproduce.plan import Configuration, Stage

MEASURED = 32
"""Sentences."""
SIZES = {"hidden": "hidden", "lstm_input": "lstm-input"}
SAMPLING = 8.5
"""100 samples of a sentence take as long as so many updates with it in a minibatch (docs/performance.md)."""
SCORING = 8.5
"""The same for their joint likelihoods."""


def seconds_per_word(kind: str, preset: str, sizes: Mapping[str, int]) -> float:
    """Of training a model of the paper's dimensions but for those given, for one process."""
    from clusters.brown import brown_clusters
    from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
    from rnng_dy.discriminative import DiscriminativeParser, ParserSizes
    from rnng_dy.generative import GenerativeModel, GeneratorSizes
    from rnng_dy.training import PRESETS
    from rnng_dy.updates import Updater
    from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

    trees = list(read_trees(str(Path(oracle.__file__).parent / "data" / "tiny.trees")))
    unknown = UnknownWords("berkeley", known_words(words(t.tree) for t in trees))
    generative = kind != "discriminative"
    sentences = list(make_oracle(trees, unknown, generative))
    if generative:
        clusters = brown_clusters([s.unkified for s in sentences])
        vocabulary = GeneratorVocabulary.build(clusters, sentences)
        if kind == "generative":
            model = GenerativeModel(vocabulary, replace(GeneratorSizes(), **sizes))
        else:
            model = LstmLanguageModel(vocabulary, replace(LanguageModelSizes(), **sizes))
    else:
        vocabulary = ParserVocabulary.from_oracle(sentences, True)
        model = DiscriminativeParser(vocabulary, replace(ParserSizes(), **sizes))
    settings = replace(PRESETS[preset, kind], jobs=1)
    examples = [model.encode_training(s) for s in sentences[: 2 * MEASURED]]
    updater = Updater(model, examples, settings)
    size = settings.batch_size
    for start in range(0, len(examples), size):
        if start == MEASURED:
            begin = time.perf_counter()
        updater.update(range(start, min(start + size, len(examples))), start, 0.01)
    return (time.perf_counter() - begin) / sum(map(model.length, examples[MEASURED:]))


def estimate(
    stages: Sequence[Stage], c: Configuration, train_words: int, test_words: int
) -> dict[str, float]:
    """Seconds of each training, sampling and scoring stage, for one process; the others take minutes at most."""
    from rnng_dy.training import PRESETS

    kinds = ("discriminative", "generative", "lstm-lm")
    given = dict(zip(c.training[::2], c.training[1::2], strict=True))
    sizes = {name: int(given[f"--{flag}"]) for name, flag in SIZES.items() if f"--{flag}" in given}
    trained = {kind: seconds_per_word(kind, c.preset, sizes) for kind in kinds}
    batched = {kind: seconds_per_word(kind, "fast", sizes) for kind in kinds[:2]}
    found = {}
    for stage in stages:
        kind = stage.command[1]
        if stage.group == "train" or kind == "lstm-lm":
            epochs = int(given.get("--epochs", PRESETS[c.preset, kind].epochs))
            found[stage.name] = trained[kind] * train_words * epochs
        elif stage.command[0] == "sample":
            found[stage.name] = batched["discriminative"] * test_words * SAMPLING * c.samples / 100
        elif stage.command[0] == "score":
            found[stage.name] = batched["generative"] * test_words * SCORING * c.samples / 100
    return found
