"""Training, from top to bottom: options, data, settings, model, examples, evaluation, folder, and then the loop."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clusters.files import read_clusters
from oracle.blocks import counted, stored
from oracle.errors import InputError, RnngError
from oracle.files import placed, replacing
from oracle.training_data import evenly_spaced
from oracle.transitions import DEFAULT
from oracle.unknown import RULES
from rnng_dy import checkpoint, engine, model_folder
from rnng_dy.checkpoint import writing
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.parallel import check_jobs
from rnng_dy.settings import require
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import read_by
from rnng_dy.text.spelling import learnt_spelling
from rnng_dy.training import about, loop
from rnng_dy.training.data import Trees, data_of_oracles, data_of_trees, examples_of
from rnng_dy.training.evaluation import parser_scores, word_scores
from rnng_dy.training.initial_models import as_seen_by, fine_tuned, new_model, require_like
from rnng_dy.training.presets import GOES, NAMES, settings_and_sizes, settings_for, sizes_for
from rnng_dy.training.replicas import Processes, Ranks
from rnng_dy.training.tagger import train_own_tagger
from rnng_dy.training.updates import Updater

LEARNT_FROM = 100_000
"""Maximum of training sentences, evenly spaced, from which the segmenter learns how the treebank writes text."""

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
        hold_out: Share of `trees` that is taken for development, and that the folder gets as dev.trees.
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
        stop: Function that is called after each update; if it returns true, the training ends with its state saved.
        **settings: Fields of `Settings`, and dimensions.

    Raises:
        RnngError: Options exclude each other, a setting is unknown or out of range, or the data cannot be used.
    """
    device = device or engine.device()
    arguments = {"gold": None, "gold_weight": None, **locals(), **settings}
    with ExitStack() as stack:
        if ranks is not None:
            stack.enter_context(ranks)
        of_kind, place = model_folder.kind(kind), Path(folder)
        parses = not of_kind.generates_words
        chosen, sizes = settings_and_sizes(of_kind, settings)
        if resume and place.exists() and trees is train is None:
            by = (model_folder.read_about(place) or {}).get("made", {}).get("command")
            made_by = f"; {folder} was made by: {by}" if by else ""
            raise RnngError(f"`resume` needs the same data again{made_by}")
        # the tagger is left out on request
        given = [x for x in GOES if (arguments.get(x) not in (None, False)) != (x == "tagger")]
        require({name: GOES[name] for name in given}, arguments)
        is_dev_given = dev_trees is not None
        fits_trees = trees is not None and (is_dev_given or hold_out is not None)
        if not (fits_trees or (train is not None and is_dev_given == parses)):
            raise RnngError(
                "give `trees` with `dev_trees` or `hold_out`, or oracles as `train` and `dev`, and the `dev_trees` of "
                "a parser with them"
            )
        if hold_out is not None and not 0 < hold_out < 1:
            raise RnngError(f"`hold_out` is a share of the trees between 0 and 1, not {hold_out}")
        config = {"composition": composition, "transitions": transitions, "state": state}
        config["word_input"] = word_input
        config = {name: value for name, value in config.items() if value is not None}
        if preset not in (None, *NAMES):
            raise RnngError(f"no preset is called {preset!r}: {', '.join(NAMES)}")
        if ranks is not None:
            chosen["jobs"] = ranks.count
        check_jobs(chosen.get("jobs", 1), device)
        engine.start(device)

        # one training at a time writes the folder; with MPI, the first rank
        is_first, resumes = ranks is None or ranks.rank == 0, resume and place.exists()
        if ranks is not None:
            resumes = ranks.of_first(resumes)
        if is_first:
            stack.enter_context(writing(folder))
            if place.exists() and not resume:
                raise RnngError(
                    f"{folder} exists: continue with `resume`, or name another `folder`"
                )

        # the model of the folder, or of `init`; a new one needs the data
        model, origin = None, folder if resumes else init
        if origin is not None:
            # a resumed model gets its parameters from the training state
            model = (of_kind.build if resumes else of_kind.load)(origin)
            require_like(model, config, sizes, origin)
            if not resumes:
                checkpoint.warn_of_model(model, origin)
            elif changed := checkpoint.changed_plugins(model):
                raise RnngError(f"{folder} was trained with another {changed[0]}: resume with it")
            if pos and model.vocabulary.tags is None:
                raise RnngError(f"{origin} was trained without `pos`")
            if resumes and open and model.spelling is None:
                raise RnngError(f"{folder} was trained without `open`: resume without it")
        if resumes:
            # settings that are not given are the folder's
            saved = loop.saved_state(place)
            before = (model.about or {}).get("settings", {}).get("preset", preset)
            if preset not in (None, before):
                raise RnngError(f"{folder} was trained with `preset` {before}: leave it out")
            preset = before
        preset = preset or NAMES[0]

        # data
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="rnng_dy.")))
        if trees is None:
            data = data_of_oracles(train, dev, dev_trees, scratch)
        else:
            rules = RULES[0] if model is None else model.vocabulary.unknown.rules
            if model is not None and unk not in (None, rules):
                raise RnngError(f"{origin} has `unk` {rules}: leave it out")
            system = DEFAULT if model is None else model.config().get("transitions", DEFAULT)
            how = unk or rules, transitions or system, not parses
            data = data_of_trees(trees, dev_trees, hold_out, *how, scratch)
        inputs = {
            "train": data.train.hash,
            "dev": checkpoint.content_hash(data.dev),
            "init": bool(init),
        }
        for name, path in (("clusters", clusters), ("pretrained", pretrained)):
            if path:
                inputs[name] = checkpoint.content_hash(Path(path))

        # settings
        again = chosen.get("gold", 0) * (chosen.get("gold_weight", 1) - 1)
        preset_of = preset, kind, len(data.train) + again
        base = saved["settings"] if resumes else settings_for(*preset_of)
        if engine.device() != engine.CPU:
            # a preset, or a training started on the CPU, may have more
            chosen["jobs"] = 1
        settings = replace(base, **chosen)
        require({name: GOES[name] for name in {"decay"} & chosen.keys()}, asdict(settings))
        if settings.jobs > settings.batch_size:
            raise RnngError(
                f"{settings.jobs} processes share the sentences of an update, which are {settings.batch_size}: give "
                f"`batch_size` {settings.jobs} or more, or fewer processes (`jobs`)"
            )
        if resumes:
            inputs = {**saved["inputs"], **inputs}
            loop.require_same(saved, settings, inputs, folder)
        if settings.gold > len(data.train):
            message = f"{len(data.train)} sentences, fewer than gold={settings.gold}"
            raise InputError(message, data.source)

        # model
        if model is None:
            sizes = of_kind.sizes_type(**{**sizes_for(*preset_of), **sizes})
            vectors = read_vectors(pretrained) if pretrained else (None, None)
            parts = pos, vectors, read_clusters(clusters) if clusters else None, unk or RULES[0]
            with placed(data.source):
                model = new_model(of_kind, data.train, sizes, *parts, seed=settings.seed, **config)
            shown = evenly_spaced(data.train, LEARNT_FROM)
            model.segmenter = Segmenter.of_training(sentence.tokens for sentence in shown)
        elif not resumes:
            section = about.about_continued(model, init)
            model = fine_tuned(model, data, init, extend, settings.seed)
            model.about = section
        if init is not None:
            seen = stored(as_seen_by(model, data.train), scratch / "train.seen")
            data = replace(data, train=seen, dev=[*as_seen_by(model, data.dev)])
        else:
            data = replace(data, dev=[read_by(model, sentence) for sentence in data.dev])

        # examples
        examples = examples_of(model, data.train, data.source)
        examples = examples.repeated(settings.gold, settings.gold_weight)
        updater = Updater(model, examples, settings)
        if not is_first:
            ranks.join(updater)
            return None

        # evaluation, and the model's companions
        if parses:
            evaluate = partial(parser_scores, model, data.dev, data.golds)
            if model.vocabulary.tags and tagger and not (model.tagger or resumes):
                train_own_tagger(model, data.train, data.dev, settings.seed)
        else:
            dev_examples = examples_of(model, data.dev, data.dev_source)
            evaluate = partial(word_scores, model, dev_examples)
            if open and model.spelling is None:
                with placed(data.source):
                    model.spelling = learnt_spelling(model, counted(data.train).tokens)

        # the folder
        sections = about.about_model(model, data.train, command)
        settings_section = {"preset": preset, **asdict(settings)}
        model.about = {**sections, "settings": settings_section, "data": inputs}
        progress = loop.Progress()
        if resumes:
            progress = loop.restored(updater, place, saved)
            _log.info(f"resuming after {progress.sentences} sentences")
        else:
            state_of_training = loop.state_of(updater, progress, inputs)
            checkpoint.save(model, folder, state_of_training, updater.optimizer)
        if hold_out is not None:
            with replacing(place / "dev.trees") as stream:
                stream.writelines(f"{sentence.tree}\n" for sentence in data.dev)

        # updates
        def report(record: loop.Record) -> None:
            _log.info(f"{place.name}: {loop.described(record, of_kind.has_trees)}")
            if record["event"] == loop.EVALUATION and record["is_best"]:
                model.about = about.evaluated(model, record)
                model_folder.write_about(folder, model.about)
            on_record(record)

        if ranks is not None:
            ranks.join(updater)
        elif settings.jobs > 1:
            stack.enter_context(Processes(updater, place))
        loop.run(updater, progress, evaluate, place, inputs, report, stop)
    return of_kind.load(folder)
