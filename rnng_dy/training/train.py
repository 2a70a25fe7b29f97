"""Training, from top to bottom: read the data, open or make the model, and run the loop.

`data` reads sentences and encodes the examples of a minibatch, `initial_models` makes the model,
`loop` says what is evaluated and saved when, `updates` what an update does, `replicas` how several
processes share it, and `presets` which settings there are.
"""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nltk

from oracle.blocks import OracleSentence, counted, stored
from oracle.brackets import parse_line
from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed, replacing
from oracle.treebank import tags
from rnng_dy import engine, model_folder
from rnng_dy.checkpoint import writing
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.search.parsing import parse_all
from rnng_dy.search.scoring import batched_log_probs
from rnng_dy.text.sources import read_by
from rnng_dy.text.spelling import learnt_spelling
from rnng_dy.training import loop
from rnng_dy.training.data import Corpus, Examples, Trees, examples_of
from rnng_dy.training.initial_models import as_read_by, model_to_train, opened, train_own_tagger
from rnng_dy.training.plan import Plan, planned, settings_of
from rnng_dy.training.replicas import Processes
from rnng_dy.training.updates import Updater

_log = logging.getLogger(__name__)


def train(
    kind: str,
    trees: Trees | None = None,
    dev_trees: Trees | None = None,
    *,
    folder: str | os.PathLike[str],
    on_record: Callable[[loop.Record], None] = lambda record: None,
    stop: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Any:
    """Train a model, write its folder, and return the model that is best on the development data.

    `rnng-dy train KIND --help` explains the options; here they have _ instead of -.

    Args:
        kind: `discriminative`, `generative` or `lstm-lm`.
        trees: Training data: a file of bracketed trees, or a list of `nltk.Tree`.
        dev_trees: Development data, in the same forms.
        folder: The model folder to write; it must not exist unless `resume` is true.
        on_record: Function that is called with each record of the log.
        stop: Function that is called after each update; if it returns true, the training ends with
            its state saved.
        **options: Fields of `Settings`, dimensions, and what follows.

            - `preset`: Set of settings, which the others change; `paper` for a new model.
            - `hold_out`: Share of `trees` that is taken for development, and that the folder gets
              as dev.trees.
            - `train`, `dev`: Instead of `trees`, a training and a development oracle.
            - `unk`: Rules for classes of unknown words.
            - `resume`: Whether the training in the folder continues, if there is one.
            - `init`: Model whose parameters, dimensions and vocabulary the training begins with.
            - `extend`: Whether the model of `init` gets new labels, tags and repeated words.
            - `composition`, `transitions`, `state`, `word_input`: Parts of the network.
            - `pos`: Whether a parser reads POS tags.
            - `tagger`: Whether a new parser that reads tags gets its own tagger (it does).
            - `pretrained`: Word vectors.
            - `clusters`: Clusters of the training words.
            - `open`: Whether a new model gets a spelling model, and so an open vocabulary.
            - `device`: `cpu`, `cuda` or `cuda:N`.
            - `ranks`: The ranks of MPI that share the work; all but the first one return None.
            - `command`: The command line, for about.json.

    Raises:
        RnngError: Options exclude each other, a setting is unknown or out of range, or the data
            cannot be used.
    """
    options |= {"trees": trees, "dev_trees": dev_trees, "folder": Path(folder)}
    with ExitStack() as stack:
        stack.enter_context(options.get("ranks") or nullcontext())
        data, plan = planned(kind, options)
        engine.start(plan.device)
        if plan.is_first:
            stack.enter_context(writing(plan.folder))
            if plan.folder.exists() and not plan.resume:
                message = "exists: continue with `resume`, or name another `folder`"
                raise RnngError(f"{plan.folder} {message}")
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="rnng_dy.")))

        initial, state = opened(plan)
        transitions = plan.parts.get("transitions")
        corpus = data.read(scratch, initial, transitions, plan.kind.generates_words)
        settings, inputs = settings_of(plan, state, corpus), plan.inputs(corpus)
        inputs = loop.require_same(state, settings, inputs, plan.folder) if state else inputs

        model = model_to_train(plan, initial, state, corpus, settings)
        corpus = as_model_reads(model, plan, corpus, scratch)
        examples = examples_of(model, corpus.train, corpus.source, settings)
        updater = Updater(model, examples, settings)

        if plan.is_first:
            evaluate = evaluation_of(plan, model, corpus, is_new=not state, seed=settings.seed)
            sections = model_folder.about_model(model, corpus.train, plan.command)
            model.about = {**sections, "settings": asdict(settings), "data": inputs}
            training = loop.Training(updater, plan.folder, evaluate, inputs, on_record)
            training.resume(state) if state else training.begin()
            if data.hold_out is not None:
                with replacing(plan.folder / "dev.trees") as stream:
                    stream.writelines(f"{sentence.tree}\n" for sentence in corpus.dev)
        if plan.ranks is not None:
            # all but the first rank return when the training ends
            plan.ranks.join(updater)
        elif settings.jobs > 1:
            stack.enter_context(Processes(updater, plan.folder))
        if plan.is_first:
            training.run(stop)
    return plan.kind.load(plan.folder) if plan.is_first else None


def as_model_reads(model: Any, plan: Plan, corpus: Corpus, scratch: Path) -> Corpus:
    """Return the sentences with the words that the model reads.

    Those of `init` decide for both parts.
    """
    if plan.init:
        train = stored(as_read_by(model, corpus.train), scratch / "train.read")
        return corpus._replace(train=train, dev=[*as_read_by(model, corpus.dev)])
    return corpus._replace(dev=[read_by(model, sentence) for sentence in corpus.dev])


def evaluation_of(
    plan: Plan, model: Any, corpus: Corpus, is_new: bool, seed: int
) -> Callable[[], Mapping[str, Any]]:
    """Return the evaluation of the model, which first gets its tagger or spelling model."""
    if not plan.kind.generates_words:
        known = model.vocabulary.tags
        read = [tag for sentence in corpus.dev for tag in sentence.tags or ()] if known else []
        unseen = [tag for tag in read if tag not in known]
        if 2 * len(unseen) > len(read):
            message = f"most POS tags, such as {unseen[0]}, are none of the parser's"
            raise InputError(message, corpus.dev_source)
        if model.vocabulary.tags and plan.tagger and is_new and not model.tagger:
            train_own_tagger(model, corpus.train, corpus.dev, seed)
        golds = [parse_line(sentence.tree) for sentence in corpus.dev]
        return partial(parser_scores, model, corpus.dev, golds)
    examples = examples_of(model, corpus.dev, corpus.dev_source)
    if plan.open and model.spelling is None:
        with placed(corpus.source):
            model.spelling = learnt_spelling(model, counted(corpus.train).tokens)
    return partial(word_scores, model, examples)


def parser_scores(
    parser: Any, sentences: Sequence[OracleSentence], golds: Sequence[nltk.Tree]
) -> dict[str, float]:
    """Score greedy parses by labelled bracketing (EVALB's rules, COLLINS parameters).

    The scored trees have gold tags, whatever tags the parser read, since EVALB identifies
    punctuation by tags. Returns `f1`, `recall` and `precision` in percent, and F1 as `score`.
    """
    tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in sentences]
    results = parse_all(parser, tokens, [len(s.tokens) for s in sentences])
    systems = [
        nltk.Tree("", []) if result is None else parser.tree_of(result[0], s.tokens, tags(gold))
        for s, gold, result in zip(sentences, golds, results, strict=True)
    ]
    scores = evalb.score(golds, systems)
    figures = {name: getattr(scores, name) for name in ("f1", "recall", "precision")}
    if None in results:
        figures["dev_left_out"] = results.count(None)
    return {"score": scores.f1, **figures}


def word_scores(model: Any, examples: Examples) -> dict[str, float]:
    """Score development examples by their likelihood, with their gold trees if the model has trees.

    Returns the log likelihood in nats, also as `score`, the perplexity per word, and counts.
    Sentences that do not fit into memory, and those with p = 0, are left out.
    """
    if model.has_trees:
        log_probs = batched_log_probs(model, examples)
    else:
        # sentence ends have a probability, and are not counted as words
        log_probs = model.example_log_probs(examples).sum(axis=1).tolist()
    total = likelihood(log_probs, [len(example.words) for example in examples])
    return {
        "score": total.llh,
        "log_likelihood": total.llh,
        "perplexity": total.perplexity,
        "dev_words": total.words,
        "dev_sentences": total.sentences,
        "dev_left_out": len(examples.sentences) - total.sentences,
    }
