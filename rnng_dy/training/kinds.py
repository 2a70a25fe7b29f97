"""The part of a training that differs between the kinds of models: new models, evaluations, and what goes with them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from clusters import brown, files
from oracle.encoding import encoded
from oracle.errors import InputError, RnngError
from oracle.files import OracleSentence, open_output
from rnng_dy.execution.outputs import content_hash
from rnng_dy.interop.vectors import covered_share, read_vectors
from rnng_dy.models.vocabulary import GeneratorVocabulary, ParserVocabulary
from rnng_dy.registry import Kind
from rnng_dy.training.data import Counted, TrainingData
from rnng_dy.training.development import (
    GeneratorEvaluation,
    LanguageModelEvaluation,
    ParserEvaluation,
    WordsEvaluation,
)
from rnng_dy.training.examples import require_transitions
from rnng_dy.training.listener import Listener
from rnng_dy.training.loop import append_record
from rnng_dy.training.options import TrainingOptions
from rnng_dy.training.tagger import train_own_tagger

CLUSTERS = "clusters.paths"
Add = Callable[[Path], None]
"""Writes something into a model folder before that is complete."""


class ParserTraining:
    """The part of a training that is a parser's: vectors, POS tags, a tagger of its own, F1."""

    def __init__(
        self, kind: Kind, options: TrainingOptions, data: TrainingData, listener: Listener
    ):
        self._kind, self._options, self._data, self._listener = kind, options, data, listener
        path = options.pretrained
        self._vectors = read_vectors(path) if path else (None, None)
        self.inputs = {"--pretrained": content_hash(*self._vectors) if path else None}

    @staticmethod
    def new_model(
        kind: Kind,
        sentences: Sequence[OracleSentence],
        sizes: object,
        pos: bool = True,
        vectors: tuple[list[str] | None, np.ndarray | None] = (None, None),
        **more,
    ):
        """Return a parser with random parameters for the sentences of a training oracle."""
        words, array = vectors
        vocabulary = ParserVocabulary.from_oracle(sentences, pos, words)
        more = {"transitions": sentences[0].transitions} | more
        return kind.model_class(vocabulary, sizes, vectors=array, **more)

    def model(self, sizes: object, **more):
        """Return a new model as the options say."""
        pos, sentences = self._options.pos, self._data.train
        return self.new_model(self._kind, sentences, sizes, pos, self._vectors, **more)

    def judge(self, model, data: TrainingData, seed: int) -> tuple[ParserEvaluation, Sequence[Add]]:
        """Return the evaluation of the model, and what writes into its folder; gives a new parser a tagger."""
        options, name = self._options, self._options.place.name
        if options.pretrained:
            share = covered_share(model.vocabulary, data.train)
            self._listener.say(
                f"{name}: {options.pretrained} has vectors for {100 * share:.1f} % of the training words"
            )
        self._require_tags_as_said(model)
        evaluation = ParserEvaluation(model, data.dev, data.golds)
        reads_tags = model.vocabulary.tags is not None
        if not reads_tags or model.tagger or not options.tagger or options.resumes:
            return evaluation, ()
        self._listener.say(f"{name}: training a POS tagger")
        record = train_own_tagger(model, data.train, data.dev, seed)
        figure = f"dev accuracy {record['accuracy']:.2f} % of {record['dev_words']} words"
        self._listener.say(f"{name}: POS tagger: {figure}")
        return evaluation, [partial(append_record, record=record)]

    def _require_tags_as_said(self, model) -> None:
        """Raise RnngError where --pos says other than the model; with --init nothing need be said."""
        options, has_tags = self._options, model.vocabulary.tags is not None
        if options.pos == has_tags or (options.init and not options.pos):
            return
        folder = options.folder if options.resumes else options.init
        raise RnngError(
            f"{folder} was trained {'with' if has_tags else 'without'} --pos: go on with the same"
        )


class WordsTraining:
    """The part of a training that is that of a model of words: its vocabulary is that of clusters."""

    evaluation: ClassVar[type[WordsEvaluation]]

    def __init__(
        self, kind: Kind, options: TrainingOptions, data: TrainingData, listener: Listener
    ):
        self._kind, self._options, self._data, self._listener = kind, options, data, listener
        self._clusters = files.read_clusters(options.clusters) if options.clusters else None
        self.inputs = {"--clusters": content_hash(self._clusters) if self._clusters else None}

    @staticmethod
    def new_model(
        kind: Kind,
        sentences: Sequence[OracleSentence],
        sizes: object,
        clusters: Sequence[files.ClusteredWord] | None = None,
        **more,
    ):
        """Return a model with random parameters for the sentences of a generative training oracle."""
        if clusters is None:
            clusters = brown.brown_clusters(encoded(sentences).word_sequences("unkified"))
        if kind.has_trees:
            more = {"transitions": sentences[0].transitions} | more
        vocabulary = GeneratorVocabulary.build(clusters, sentences)
        return kind.model_class(vocabulary, sizes, **more)

    def model(self, sizes: object, **more):
        """Return a new model as the options say; its clusters are made now where none are given."""
        self._clusters = self._clusters or self._made_clusters()
        return self.new_model(self._kind, self._data.train, sizes, self._clusters, **more)

    def judge(self, model, data: TrainingData, seed: int) -> tuple[WordsEvaluation, Sequence[Add]]:
        """Return the evaluation of the model, and what writes into its folder."""
        evaluation = self.evaluation(model, data.dev)
        try:
            require_transitions(model, sorted({sentence.transitions for sentence in data.dev}))
        except RnngError as error:
            raise InputError(str(error), data.dev_source) from None
        for line, reason in evaluation.impossible.items():
            self._listener.warn(f"{data.dev_path}:{line}: left out: {reason}")
        if not evaluation.examples:
            raise InputError(
                "every sentence has p = 0: training could not be judged by it", data.dev_source
            )
        return evaluation, [self._keep_clusters]

    def _made_clusters(self) -> list[files.ClusteredWord]:
        """Brown clusters of the training oracle, as `rnng-dy clusters` makes them."""
        listener, oracle = self._listener, self._data.train
        listener.say(f"no --clusters: making Brown clusters of {self._data.source}")
        steps: list[int] = []
        progress = Counted(lambda: listener.progress("clusters", steps[0], "steps"))

        def show(clustering) -> None:
            steps[:] = [clustering.total]
            progress.advance()

        entries = brown.brown_clusters(oracle.word_sequences("unkified"), on_step=show)
        progress.finish()
        classes = len({entry.path for entry in entries})
        listener.say(f"{classes} clusters of {len(entries)} words, kept in the model folder")
        return entries

    def _keep_clusters(self, folder: Path) -> None:
        """Write the clusters that the model was made with into its folder."""
        if self._options.init is None:
            with open_output(folder / CLUSTERS) as stream:
                files.write_clusters(self._clusters, stream)
        elif (kept := Path(self._options.init, CLUSTERS)).is_file():
            shutil.copyfile(kept, folder / CLUSTERS)


class GeneratorTraining(WordsTraining):
    """The part of a training that is a generative model's."""

    evaluation = GeneratorEvaluation


class LanguageModelTraining(WordsTraining):
    """The part of a training that is that of a sequential language model."""

    evaluation = LanguageModelEvaluation
