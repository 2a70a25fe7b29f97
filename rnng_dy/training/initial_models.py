"""The model that a training begins with: the folder's, that of --init, or a new one.

A parser that reads POS tags gets a tagger of its own.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from clusters import brown
from clusters.files import ClusteredWord, read_clusters
from oracle import tagging
from oracle.blocks import OracleCounts, OracleSentence, counted
from oracle.common.errors import InputError, RnngError
from oracle.common.files import locked, placed
from oracle.training_data import evenly_spaced
from oracle.unknown import CLASSES, UnknownWords, infer_unknown_words
from rnng_dy import checkpoint, model_folder
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.models.word_input import WordTable
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.training.data import Corpus, require_transitions
from rnng_dy.training.loop import saved_state
from rnng_dy.training.plan import Plan
from rnng_dy.training.presets import Settings, sizes_for
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary, Vocabulary

LEARNT_FROM = 100_000
"""Most training sentences from which the segmenter learns how the treebank writes text."""

_log = logging.getLogger(__name__)


def opened(plan: Plan) -> tuple[Any, Mapping[str, Any] | None]:
    """Return the folder's model and the state that continues, or the model of --init.

    A new model is None here, and so is the state of a training that begins. Raises RnngError for a
    model that does not fit the plan.
    """
    resumes = plan.resumes if plan.ranks is None else plan.ranks.from_first(plan.resumes)
    if not resumes:
        if not plan.init:
            return None, None
        model = plan.kind.load(plan.init)
        require_like(model, plan, plan.init)
        checkpoint.warn_of_model(model, plan.init)
        return model, None
    # its parameters are those of the training state
    model = checkpoint.build(plan.kind, plan.folder)
    require_like(model, plan, plan.folder)
    if changed := model_folder.changed_plugins(model):
        raise RnngError(f"{plan.folder} was trained with another {changed[0]}: resume with it")
    if plan.open and model.spelling is None:
        raise RnngError(f"{plan.folder} was trained without `open`: resume without it")
    return model, saved_state(plan.folder)


def model_to_train(
    plan: Plan, initial: Any, state: Mapping[str, Any] | None, corpus: Corpus, settings: Settings
) -> Any:
    """Return the model that the training begins with, from what `opened` returned."""
    if state:
        return initial
    if plan.init:
        model = fine_tuned(initial, corpus, plan.init, plan.extend, settings.seed)
        model.about = model_folder.about_continued(initial, plan.init)
        return model
    usual = sizes_for(settings.preset, plan.kind.kind, plan.sentences_per_epoch(corpus))
    sizes = {**usual, **plan.sizes}
    config = dict(plan.parts)
    if plan.kind.has_trees:
        config.setdefault("transitions", corpus.train[0].transitions)
    with placed(corpus.source):
        if plan.kind.generates_words:
            clusters = read_clusters(plan.clusters) if plan.clusters else None
            vocabulary = vocabulary_of_words(corpus.train, clusters, corpus.rules)
        else:
            words = None
            if plan.pretrained:
                words, config["vectors"] = read_vectors(plan.pretrained)
            vocabulary = parser_vocabulary(corpus.train, plan.pos, words, corpus.rules)
            if words:
                rows = vocabulary.pretrained_rows(counted(corpus.train).tokens)
                share = 1 - rows.count(None) / len(rows)
                _log.info(f"{plan.pretrained}: {share:.1%} of the training words have a vector")
                if not share:
                    raise InputError("no vector of a lower-cased training word", plan.pretrained)
        model = plan.kind(vocabulary, plan.kind.sizes_type(**sizes), seed=settings.seed, **config)
    shown = evenly_spaced(corpus.train, LEARNT_FROM)
    model.segmenter = Segmenter.of_training(sentence.tokens for sentence in shown)
    return model


def parser_vocabulary(
    sentences: Sequence[OracleSentence], pos: bool, pretrained: list[str] | None, rules: str | None
) -> ParserVocabulary:
    """Return the vocabulary of a new parser, as `ParserVocabulary.from_oracle` makes it.

    Raises RnngError if the parser would learn no class of unknown words, since every word is known,
    though some are rare.
    """
    vocabulary = ParserVocabulary.from_oracle(sentences, pos, pretrained, rules=rules)
    rare = {vocabulary.words.symbols[i] for i in vocabulary.singletons}
    if rare and rare <= vocabulary.unknown.known:
        raise RnngError(
            "the oracle knows every word, also those that occur once, so a parser would "
            "learn no class of unknown words: make it by `rnng-dy oracle --train` with these "
            "trees, without --min-count 1"
        )
    return vocabulary


def vocabulary_of_words(
    sentences: Sequence[OracleSentence], clusters: Sequence[ClusteredWord] | None, rules: str | None
) -> GeneratorVocabulary:
    """Return the vocabulary of a new model that generates words, with its classes of words.

    They are the training words among `clusters`, by default Brown clusters of the sentences.
    `rules` are those of unknown words if the oracle leaves a choice.
    """
    if not clusters:
        rules = infer_unknown_words(((s.tokens, s.unkified) for s in sentences), rules).rules
        # all classes of its rules for unknown words are in one cluster
        clusters = brown.brown_clusters((s.unkified for s in sentences), rules=rules)
        classes = len({entry.path for entry in clusters})
        _log.info(f"{classes} Brown clusters of {len(clusters)} words")
    # no training would give words of larger clusters a meaning
    trained = counted(sentences).unkified.keys() | CLASSES
    clusters = [entry for entry in clusters if entry.word in trained]
    return GeneratorVocabulary.build(clusters, sentences, rules)


def require_like(model: Any, plan: Plan, folder: object) -> None:
    """Raise RnngError if the user's options differ from those of the model of a folder."""
    for name, value in plan.parts.items():
        if value != model.config()[name]:
            raise RnngError(f"{folder} has another {name}: leave `{name}` out")
    if replace(model.sizes, **plan.sizes) != model.sizes:
        dimensions = ", ".join(f"{name} {value}" for name, value in asdict(model.sizes).items())
        raise RnngError(f"{folder} has other dimensions, {dimensions}: leave them out")
    if plan.pos and model.vocabulary.tags is None:
        raise RnngError(f"{folder} was trained without `pos`")


def fine_tuned(model: Any, corpus: Corpus, init: object, extend: bool, seed: int) -> Any:
    """Return the model of --init, with the symbols that --extend adds.

    Raises RnngError if it lacks any without. The words that it has and that the new data knows join
    its known words.
    """
    with placed(corpus.source):
        counts = counted(corpus.train)
        new = unseen(model, counts)
        listed = " and ".join(f"{what} {', '.join(symbols)}" for what, symbols in new.items())
        if listed and not extend:
            raise RnngError(f"{listed} are not in {init}: add them with `extend`, or take them out")
        if listed:
            _log.info(f"{init}: adding {listed}")
        model = extended(model, counts, seed) if extend else model
        model.vocabulary = model.vocabulary.trained_on(corpus.train)
        return model


def unseen(model: Any, counts: OracleCounts) -> dict[str, list[str]]:
    """Return the "nonterminals" and "POS tags" that the model lacks, by first appearance.

    Words do not count, since they have classes. Raises RnngError for another transition system than
    the model's.
    """
    if not model.has_trees:
        return {}
    require_transitions(model, counts.systems)
    v = model.vocabulary
    new = {"nonterminals": [x for x in counts.nonterminals() if x not in v.nonterminals]}
    if not model.generates_words and v.tags is not None:
        new["POS tags"] = [tag for tag in counts.tags if tag not in v.tags]
    return {what: symbols for what, symbols in new.items() if symbols}


def extended(model: Any, counts: OracleCounts, seed: int) -> Any:
    """Return a larger model with an oracle's nonterminals, POS tags and a parser's words.

    The model's own symbols keep their ids and parameters; the seed determines the new rows. But a
    new word begins with the parameters of its class of unknown words, which stood for it so far.
    The model keeps its tagger unless there are new tags.
    Models that generate words get no new words, since those have no cluster.

    Raises RnngError for another transition system than the model's.
    """
    v, new = model.vocabulary, unseen(model, counts)
    tags, words = new.get("POS tags", []), []
    more = {"nonterminals": (*v.nonterminals, *new.get("nonterminals", ()))}
    config = model.config()
    network = {name: config[name] for name in model.config_defaults if name in config}
    if not model.generates_words:
        network["vectors"] = model.vectors
        known = v.unknown.known
        words = [word for word, n in counts.tokens.items() if n >= 2 and word not in known]
        more["words"] = Vocabulary([*v.words.symbols, *words])
        more["unknown"] = UnknownWords(v.unknown.rules, known.union(words))
        more["singletons"] = v.singletons.difference(map(v.words.get, words))
    if tags:
        more["tags"] = Vocabulary([*v.tags.symbols, *tags])
        more["tag_counts"] = (*v.tag_counts, *(counts.tags[tag] for tag in tags))
    vocabulary = replace(v, **more)
    larger = type(model)(vocabulary, model.sizes, seed=seed, **network)
    # only first dimensions of arrays grow
    arrays = larger.store.arrays()
    for name, values in model.store.arrays().items():
        arrays[name][: len(values)] = values
    if words and isinstance(model.network.word_input, WordTable):
        classes = v.word_ids(v.unknown.unkify(words))
        arrays["word"][vocabulary.word_ids(words)] = arrays["word"][classes]
    larger.store.load(arrays)
    larger.updates = model.updates
    larger.segmenter, larger.spelling = model.segmenter, model.spelling
    larger.tagger = None if tags else model.tagger
    return larger


def as_read_by(model: Any, sentences: Iterable[OracleSentence]) -> Iterator[OracleSentence]:
    """Yield the sentences with the model's classes of unknown words instead of the oracle's."""
    return (replace(s, unkified=tuple(model.unknown.unkify(s.tokens))) for s in sentences)


def train_own_tagger(
    parser: Any, sentences: Sequence[OracleSentence], dev: Sequence[OracleSentence], seed: int
) -> None:
    """Train a parser's tagger on its training tags, and report its accuracy on `dev`."""

    def pairs(sentence: OracleSentence) -> tagging.TaggedSentence:
        return list(zip(sentence.tokens, sentence.tags, strict=True))

    _log.info("training a POS tagger")
    parser.tagger = tagging.tagger_of_training([*map(pairs, sentences)], seed)
    same = tagging.same_tags(map(pairs, dev), (parser.tags_for(s.tokens) for s in dev))
    _log.info(f"POS tagger: dev accuracy {same}")


def train_into(folder: str, trees: str, seed: int) -> tagging.Tagger:
    """Train a tagger on a file of trees, and write it into the folder of a parser.

    Raises RnngError if the parser has a tagger, reads no tags, or lacks most of the tagger's tags.
    """
    path = model_folder.located(folder)
    if not isinstance(path, Path) or path.is_file():
        raise RnngError(f"{folder} is no model folder: archives are only read")
    parser = checkpoint.build(DiscriminativeParser, folder)
    if parser.vocabulary.tags is None:
        raise RnngError(f"{folder} was trained without --pos: a tagger is of no use")
    if parser.tagger is not None:
        raise RnngError(f"{folder} has a tagger: remove {path / model_folder.TAGGER} first")
    tagger = tagging.tagger_of_training(tagging.training_pairs(trees), seed)
    unknown = sorted(tag for tag in tagger.classes if tag not in parser.vocabulary.tags)
    if 2 * len(unknown) > len(tagger.classes):
        shown = ", ".join(unknown[:5])
        count = f"{len(unknown)} of the tagger's {len(tagger.classes)} POS tags"
        how = "train it on trees with the tags of the parser's training oracle"
        raise RnngError(f"{count} are none of the parser's, such as {shown}: {how}")
    if unknown:
        shown = f"taken for an average tag: {', '.join(unknown)}"
        _log.warning(f"POS tags of the tagger that the parser lacks, {shown}")
    with locked(path), checkpoint.new_folder(path / model_folder.TAGGER) as new:
        tagging.save_tagger(tagger, new)
    return tagger
