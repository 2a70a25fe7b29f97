"""The parts of a training that differ between the kinds of models: new models, evaluations and companion files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from clusters import brown, files
from oracle.archives import read_regular
from oracle.blocks import OracleSentence
from oracle.encoded import EncodedOracle
from oracle.encoding import encoded
from oracle.errors import InputError, RnngError, placed
from oracle.files import replacing
from oracle.unknown import infer_unknown_words
from rnng_dy.interop.vectors import covered_share, read_vectors
from rnng_dy.model_paths import located
from rnng_dy.registry import Kind
from rnng_dy.results import content_hash
from rnng_dy.spelling import learnt_spelling
from rnng_dy.training.data import Counted, TrainingData
from rnng_dy.training.development import (
    GeneratorEvaluation,
    LanguageModelEvaluation,
    ParserEvaluation,
    WordsEvaluation,
)
from rnng_dy.training.examples import require_transitions
from rnng_dy.training.listener import Listener
from rnng_dy.training.log import append_record
from rnng_dy.training.options import TrainingOptions
from rnng_dy.training.tagger import train_own_tagger
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

CLUSTERS = "clusters.paths"
Add = Callable[[Path], None]
"""A function that writes into a model folder before the folder is complete."""


class ParserTraining:
    """The parser's part of a training: pretrained vectors, POS tags, its own tagger, F1."""

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
        """Return a new model with the dimensions and according to the options."""
        pos, sentences = self._options.pos, self._data.train
        return self.new_model(self._kind, sentences, sizes, pos, self._vectors, **more)

    def judge(self, model, data: TrainingData, seed: int) -> tuple[ParserEvaluation, Sequence[Add]]:
        """Return the model's evaluation and the functions that write into its folder; train a new parser's tagger."""
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
        """Raise RnngError if --pos contradicts the model; with --init, --pos may be left out."""
        options, has_tags = self._options, model.vocabulary.tags is not None
        if options.pos == has_tags or (options.init and not options.pos):
            return
        folder = options.folder if options.resumes else options.init
        raise RnngError(
            f"{folder} was trained {'with' if has_tags else 'without'} --pos: resume with the same"
        )


class WordsTraining:
    """The part of a training for models that generate words; their vocabulary is that of word clusters."""

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
            clusters = _brown_clusters(encoded(sentences))
        if kind.has_trees:
            more = {"transitions": sentences[0].transitions} | more
        vocabulary = GeneratorVocabulary.build(clusters, sentences)
        return kind.model_class(vocabulary, sizes, **more)

    def model(self, sizes: object, **more):
        """Return a new model according to the options; makes clusters if the user gives none."""
        self._clusters = self._clusters or self._made_clusters()
        return self.new_model(self._kind, self._data.train, sizes, self._clusters, **more)

    def judge(self, model, data: TrainingData, seed: int) -> tuple[WordsEvaluation, Sequence[Add]]:
        """Return the model's evaluation and the functions that write into its folder."""
        of_kind = GeneratorEvaluation if self._kind.has_trees else LanguageModelEvaluation
        evaluation = of_kind(model, data.dev)
        with placed(data.dev_source):
            require_transitions(model, sorted({sentence.transitions for sentence in data.dev}))
        for line, reason in evaluation.impossible.items():
            self._listener.warn(f"{data.dev_path}:{line}: left out: {reason}")
        if not evaluation.examples:
            raise InputError(
                "every sentence has p = 0: training could not be judged by it", data.dev_source
            )
        if self._options.open and model.spelling is None:
            self._learn_spelling(model, data)
        return evaluation, [self._keep_clusters]

    def _learn_spelling(self, model, data: TrainingData) -> None:
        """Give a new model a spelling model of the training words. Raises RnngError for the folder of an old one."""
        if self._options.resumes:
            raise RnngError(f"{self._options.folder} was trained without --open: resume without it")
        oracle = encoded(data.train)
        counts = zip(oracle.symbols.words, oracle.counts("tokens").tolist(), strict=True)
        with placed(data.source):
            words = {word: count for word, count in counts if count}
            model.spelling = learnt_spelling(model, words)

    def _made_clusters(self) -> list[files.ClusteredWord]:
        """Make Brown clusters of the training oracle, as `rnng-dy clusters` does."""
        listener, oracle = self._listener, encoded(self._data.train)
        listener.say(f"no --clusters: making Brown clusters of {self._data.source}")
        progress = Counted(lambda begun: listener.progress("clusters", begun.total, "steps"))
        entries = _brown_clusters(oracle, on_step=progress.advance)
        progress.finish()
        classes = len({entry.path for entry in entries})
        listener.say(f"{classes} clusters of {len(entries)} words, kept in the model folder")
        return entries

    def _keep_clusters(self, folder: Path) -> None:
        """Write the model's clusters into its folder, or copy them from the folder of --init."""
        if self._options.init is None:
            with replacing(folder / CLUSTERS) as stream:
                files.write_clusters(self._clusters, stream)
        elif (kept := located(self._options.init) / CLUSTERS).is_file():
            (folder / CLUSTERS).write_bytes(read_regular(kept))


def _brown_clusters(oracle: EncodedOracle, **more) -> list[files.ClusteredWord]:
    """Return the Brown clusters of an oracle's words; all classes of its rules for unknown words are in one."""
    rules = infer_unknown_words([oracle.unkified_pairs()]).rules
    return brown.brown_clusters(oracle.word_sequences("unkified"), rules=rules, **more)
