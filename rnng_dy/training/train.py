"""Training, from top to bottom: arguments, data, settings, model, examples, evaluation, folder, and then the loop."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clusters.files import read_clusters
from oracle.blocks import counted, stored
from oracle.common.errors import RnngError
from oracle.common.files import placed, replacing
from oracle.training_data import evenly_spaced
from rnng_dy import checkpoint, engine, model_folder
from rnng_dy.checkpoint import writing
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.settings import require
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import read_by
from rnng_dy.text.spelling import learnt_spelling
from rnng_dy.training import about, loop
from rnng_dy.training.data import Data, Material, Trees, examples_of
from rnng_dy.training.evaluation import parser_scores, word_scores
from rnng_dy.training.initial_models import as_seen_by, fine_tuned, new_model, train_own_tagger
from rnng_dy.training.plan import Plan, Start, opened, preset_of, settings_of
from rnng_dy.training.presets import GOES, Settings, settings_and_sizes, sizes_for
from rnng_dy.training.replicas import Processes, Ranks
from rnng_dy.training.updates import Updater

LEARNT_FROM = 100_000
"""Maximum of training sentences, evenly spaced, from which the segmenter learns how the treebank writes text."""
PARTS = ("composition", "transitions", "state", "word_input")
"""The parts of a network that can be chosen."""

_log = logging.getLogger(__name__)


def train(
    kind: str,
    trees: Trees | None = None,
    dev_trees: Trees | None = None,
    *,
    folder: str | os.PathLike[str],
    train: str | None = None,
    dev: str | None = None,
    hold_out: float | None = None,
    unk: str | None = None,
    resume: bool = False,
    init: str | os.PathLike[str] | None = None,
    extend: bool = False,
    composition: str | None = None,
    transitions: str | None = None,
    state: str | None = None,
    word_input: str | None = None,
    preset: str | None = None,
    pos: bool = False,
    tagger: bool = True,
    pretrained: str | None = None,
    clusters: str | None = None,
    open: bool = False,
    device: str | None = None,
    ranks: Ranks | None = None,
    command: str | None = None,
    on_record: Callable[[loop.Record], None] = lambda record: None,
    stop: Callable[[], bool] = lambda: False,
    **settings: Any,
) -> Any:
    """Train a model, write its folder, and return the model that is best on the development data.

    `rnng-dy train KIND --help` explains the options; here they have _ instead of -.

    Args:
        kind: `discriminative`, `generative` or `lstm-lm`.
        trees: Training data: a file of bracketed trees, or a list of `nltk.Tree`.
        dev_trees: Development data, in the same forms.
        folder: The model folder to write; it must not exist unless `resume` is true.
        train: Instead of `trees`, a training oracle.
        dev: Development oracle.
        hold_out: Share of `trees` that is taken for development, and that the folder gets as
            dev.trees.
        unk: Rules for classes of unknown words.
        resume: Whether the training in the folder continues, if there is one.
        init: Model whose parameters, dimensions and vocabulary the training begins with.
        extend: Whether the model of `init` gets new labels, tags and repeated words.
        composition: Composition of constituents.
        transitions: Transition system.
        state: Parser state.
        word_input: Vectors of words that the network reads.
        preset: Set of settings, which `settings` change; `paper` for a new model.
        pos: Whether a parser reads POS tags.
        tagger: Whether a new parser that reads tags gets its own tagger.
        pretrained: Word vectors.
        clusters: Clusters of the training words.
        open: Whether a new model gets a spelling model, and so an open vocabulary.
        device: `cpu`, `cuda` or `cuda:N`.
        ranks: The ranks of MPI that share the work; all but the first one return None.
        command: The command line, for about.json.
        on_record: Function that is called with each record of the log.
        stop: Function that is called after each update; if it returns true, the training ends with
            its state saved.
        **settings: Fields of `Settings`, and dimensions.

    Raises:
        RnngError: Options exclude each other, a setting is unknown or out of range, or the data
            cannot be used.
    """
    asked = {**locals(), **settings}
    with ranks or nullcontext():
        of_kind = model_folder.kind(kind)
        chosen, sizes = settings_and_sizes(of_kind, settings)
        if ranks is not None:
            chosen["jobs"] = ranks.count
        asked |= {"kind": of_kind, "folder": Path(folder), "settings": chosen, "sizes": sizes}
        asked |= {"device": device or engine.device()}
        asked["parts"] = {name: asked[name] for name in PARTS if asked[name] is not None}
        material, plan = (
            made(**{of.name: asked[of.name] for of in fields(made)}) for made in (Material, Plan)
        )
        require_fit({**asked, "kind": kind}, material, plan)
        return run(material, plan, ranks, command, on_record, stop)


def require_fit(asked: Mapping[str, Any], material: Material, plan: Plan) -> None:
    """Raise RnngError for arguments that do not go together, or leave something out."""
    if plan.resumes and material.trees is material.train is None:
        by = (model_folder.read_about(plan.folder) or {}).get("made", {}).get("command")
        made_by = f"; {plan.folder} was made by: {by}" if by else ""
        raise RnngError(f"`resume` needs the same data again{made_by}")
    # the tagger is left out on request
    given = [x for x in GOES if (asked.get(x) not in (None, False)) != (x == "tagger")]
    require({name: GOES[name] for name in given}, {"gold": None, "gold_weight": None, **asked})
    material.require_whole(not plan.kind.generates_words)


def run(
    material: Material,
    plan: Plan,
    ranks: Ranks | None = None,
    command: str | None = None,
    on_record: Callable[[loop.Record], None] = lambda record: None,
    stop: Callable[[], bool] = lambda: False,
) -> Any:
    """Train as planned, and return the best model; see `train`."""
    engine.start(plan.device)
    # with MPI, the first rank alone writes
    is_first = ranks is None or ranks.rank == 0
    resumes = plan.resumes if ranks is None else ranks.of_first(plan.resumes)
    with ExitStack() as stack:
        if is_first:
            stack.enter_context(writing(plan.folder))
            if plan.folder.exists() and not plan.resume:
                message = "exists: continue with `resume`, or name another `folder`"
                raise RnngError(f"{plan.folder} {message}")
        start = opened(plan, resumes)
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="rnng_dy.")))
        system, generative = plan.parts.get("transitions"), plan.kind.generates_words
        data = material.read(start.model, start.origin, system, generative, scratch)
        settings, inputs = settings_of(plan, start, data)
        model = model_of(plan, start, data, settings)
        data = read_as(model, data, plan, scratch)
        examples = examples_of(model, data.train, data.source)
        examples = examples.repeated(settings.gold, settings.gold_weight)
        updater = Updater(model, examples, settings)
        if is_first:
            evaluate = evaluation_of(plan, start, model, data, settings.seed)
            sections = about.about_model(model, data.train, command)
            described = {"settings": {"preset": start.preset, **asdict(settings)}, "data": inputs}
            model.about = {**sections, **described}
            progress = written(plan, start, updater, inputs)
            if material.hold_out is not None:
                with replacing(plan.folder / "dev.trees") as stream:
                    stream.writelines(f"{sentence.tree}\n" for sentence in data.dev)
        if ranks is not None:
            # all but the first rank return when the training ends
            ranks.join(updater)
        elif settings.jobs > 1:
            stack.enter_context(Processes(updater, plan.folder))
        if not is_first:
            return None
        report = partial(reported, plan.folder, model, on_record)
        loop.Training(updater, progress, evaluate, plan.folder, inputs, report).run(stop)
    return plan.kind.load(plan.folder)


def model_of(plan: Plan, start: Start, data: Data, settings: Settings) -> Any:
    """Return the model that the training continues, that of `init` for these data, or a new one."""
    if start.saved:
        return start.model
    if plan.init:
        section = about.about_continued(start.model, plan.init)
        model = fine_tuned(start.model, data, plan.init, plan.extend, settings.seed)
        model.about = section
        return model
    sizes = {**sizes_for(*preset_of(plan, start, data)), **plan.sizes}
    with placed(data.source):
        model = new_model(
            plan.kind,
            data.train,
            plan.kind.sizes_type(**sizes),
            pos=plan.pos,
            vectors=read_vectors(plan.pretrained) if plan.pretrained else (None, None),
            clusters=read_clusters(plan.clusters) if plan.clusters else None,
            rules=data.rules,
            seed=settings.seed,
            **plan.parts,
        )
    shown = evenly_spaced(data.train, LEARNT_FROM)
    model.segmenter = Segmenter.of_training(sentence.tokens for sentence in shown)
    return model


def read_as(model: Any, data: Data, plan: Plan, scratch: Path) -> Data:
    """Return the data with the words that the model reads; those of `init` decide for both parts."""
    if plan.init:
        seen = stored(as_seen_by(model, data.train), scratch / "train.seen")
        return replace(data, train=seen, dev=[*as_seen_by(model, data.dev)])
    return replace(data, dev=[read_by(model, sentence) for sentence in data.dev])


def evaluation_of(
    plan: Plan, start: Start, model: Any, data: Data, seed: int
) -> Callable[[], Mapping[str, Any]]:
    """Return the function that evaluates the model, which first gets its tagger or its spelling model."""
    if not plan.kind.generates_words:
        if model.vocabulary.tags and plan.tagger and not (model.tagger or start.saved):
            train_own_tagger(model, data.train, data.dev, seed)
        return partial(parser_scores, model, data.dev, data.golds)
    dev_examples = examples_of(model, data.dev, data.dev_source)
    if plan.open and model.spelling is None:
        with placed(data.source):
            model.spelling = learnt_spelling(model, counted(data.train).tokens)
    return partial(word_scores, model, dev_examples)


def written(plan: Plan, start: Start, updater: Updater, inputs: Mapping[str, Any]) -> loop.Progress:
    """Write a new folder, or restore the state of one that has begun; return the progress."""
    if start.saved:
        progress = loop.restored(updater, plan.folder, start.saved)
        _log.info(f"resuming after {progress.sentences} sentences")
        return progress
    progress = loop.Progress()
    state = loop.state_of(updater, progress, inputs)
    checkpoint.save(updater.model, plan.folder, state, updater.optimizer)
    return progress


def reported(
    folder: Path, model: Any, on_record: Callable[[loop.Record], None], record: loop.Record
) -> None:
    """Report a record of the log; the best evaluation so far describes the model."""
    _log.info(f"{folder.name}: {loop.described(record, model.has_trees)}")
    if record["event"] == loop.EVALUATION and record["is_best"]:
        model.about = about.evaluated(model, record)
        model_folder.write_about(folder, model.about)
    on_record(record)
