"""`rnng-dy train`: train a parser, a generative model or an LSTM language model."""

import logging
import math
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from oracle.common.errors import Terminated
from oracle.transitions import SYSTEMS
from oracle.unknown import RULES
from rnng_dy.cli import options as shared
from rnng_dy.cli.messages import command_line, say
from rnng_dy.cli.rules import flag, option, with_flags
from rnng_dy.engine import CPU
from rnng_dy.engine.memory import keep_from_collection, limit_memory
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.models.word_input import WORD_INPUTS
from rnng_dy.parallel import ending, tidy
from rnng_dy.settings import FiniteRange, LanguageModelSizes, ParserSizes, Sizes, option_name
from rnng_dy.training.presets import GOES, Settings

OPTIONS = ("preset", "hidden", "epochs", "dropout", "learning_rate", "batch_size", "seed", "jobs")
"""The settings that have options; --set sets the others."""


def with_rules(command: Callable) -> Callable:
    """Let the options of a command go with what the arguments of their names go with."""
    for param in command.__click_params__:
        param.goes = GOES.get(param.name, "")
    return command


def settings_options(sizes: type) -> Callable:
    """Return a decorator that adds settings and dimensions, without defaults: presets have them."""
    options, types = [], {}
    for field in (*fields(sizes), *fields(Settings)):
        if field.name in OPTIONS:
            options.append(click.option(f"--{field.name.replace('_', '-')}", **field.metadata))
        else:
            types[option_name(field.name)] = field.metadata["type"]
    text, kind = f"Other setting, such as layers=1: {', '.join(types)}.", shared.Assignment(types)
    others = option("--set", text, kind, "others", multiple=True, metavar="NAME=VALUE")
    return shared.all_of(*options, others)


def training_options(sizes: type, *more: Callable) -> Callable:
    """Return a decorator that adds the options of all `train` commands and `more`."""
    return shared.all_of(
        with_rules,
        option("--trees", "Trees to train on, cleaned as by `prepare`.", shared.FILE),
        option(
            "--dev-trees", "Trees that choose the best model; with --dev, its trees.", shared.FILE
        ),
        option(
            "--hold-out",
            "Instead of --dev-trees: keep a share of --trees for them; 0.1 is every tenth.",
            FiniteRange(0, 1, min_open=True, max_open=True),
            metavar="SHARE",
        ),
        option("--unk", f"As `oracle --unk`.  [default: {RULES[0]}]", click.Choice(RULES)),
        option("--train", "Instead of --trees: training oracle.", shared.FILE),
        option("--dev", "With --train: development oracle.", shared.FILE),
        option("--model", "Folder to write.", shared.FOLDER, "folder", required=True),
        flag("--resume", "Continue the training in the folder, if any."),
        option("--init", "Begin with this model; words that it lacks are classes.", shared.MODEL),
        *more,
        settings_options(sizes),
        flag("--mpi", "Divide minibatches between the processes of `mpirun -n 4`."),
        shared.device_option,
    )


def grammar_options(states: Collection[str]) -> Callable:
    """Return a decorator that adds the options of models with trees and these parser states."""
    return shared.all_of(
        flag("--extend", "With --init: add new labels, and words to a parser."),
        option(
            "--composition",
            "That of the corrigendum (corrected), of the paper's first version (buggy), or "
            f"gated attention over the children.  [default: {COMPOSITIONS.default}]",
            shared.LiveChoice(COMPOSITIONS),
        ),
        option(
            "--transitions",
            f"Transition system.  [default: the oracle's; with --trees {SYSTEMS.default}]",
            shared.LiveChoice(SYSTEMS),
        ),
        option(
            "--state",
            "Parser state: full, the stack alone, without one of its parts, or history, an "
            "LSTM over actions and words, without a composition.  "
            f"[default: {PARSER_STATES.default}]",
            shared.LiveChoice(states),
        ),
        option(
            "--word-input",
            f"Vectors of words: table, or a plugin's.  [default: {WORD_INPUTS.default}]",
            shared.LiveChoice(WORD_INPUTS),
        ),
    )


words_options = shared.all_of(
    option("--clusters", "Clusters of the words.  [default: new Brown clusters]", shared.FILE),
    flag(
        "--open",
        "Also train a spelling model of unknown words, so that every string has a "
        "probability. With --init, keep the initial model's, if it has one.",
    ),
)


@click.group()
def train() -> None:
    """Train a model. Ctrl-C stops the training, and --resume continues it."""


@train.command("discriminative", cls=shared.Command)
@training_options(ParserSizes, grammar_options(PARSER_STATES))
@flag("--pos", "Read the POS tags of the data.")
@flag(
    "--no-tagger",
    "With --pos: train no POS tagger. If the training tags are jackknifed, `rnng-dy tag "
    "--train GOLD.trees --into MODEL` makes a better tagger afterwards.",
)
@option("--pretrained", "Word vectors in word2vec's text format; training keeps them.", shared.FILE)
def discriminative(no_tagger, **options) -> None:
    """Train a parser q(y | x), and keep the model with the best F1 on the development data.

    F1 is scored with the gold tags of punctuation (`evalb --gold-tags`).

    Example: rnng-dy train discriminative --trees train.trees --dev-trees dev.trees --model parser
    """
    run_training("discriminative", **options, tagger=not no_tagger)


@train.command("generative", cls=shared.Command)
@training_options(Sizes, grammar_options(GENERATOR_STATES), words_options)
def generative(**options) -> None:
    """Train a generative model p(x, y), and keep the one with the best development likelihood.

    Example: rnng-dy train generative --trees train.trees --dev-trees dev.trees --model generator
    """
    run_training("generative", **options)


@train.command("lstm-lm", cls=shared.Command)
@training_options(LanguageModelSizes, words_options)
def lstm_lm(**options) -> None:
    """Train an LSTM language model, a baseline without trees, on the words of trees or oracles.

    Example: rnng-dy train lstm-lm --trees train.trees --dev-trees dev.trees --model lm
    """
    run_training("lstm-lm", **options)


def run_training(kind: str, mpi: bool, others: Sequence[tuple[str, Any]], **options: Any) -> None:
    """Train a model with messages; a signal stops it after an update, with the state saved."""
    from rnng_dy.training.loop import EVALUATION, described, saved_state
    from rnng_dy.training.replicas import Ranks
    from rnng_dy.training.train import train as run

    keep_from_collection()
    if options["device"] == CPU:
        limit_memory(options["jobs"] or 1)
    folder, stopped = options["folder"], None
    ranks = Ranks() if mpi else None
    if ranks is not None:
        ranks.shown = partial(with_flags, params=click.get_current_context().command.params)
    is_first = ranks is None or ranks.rank == 0
    if not is_first:
        logging.getLogger("rnng_dy").setLevel(logging.ERROR)
        # each rank names the sentences that do not fit into its memory
        logging.getLogger("rnng_dy.training.updates").setLevel(logging.WARNING)
        # mpirun sends them to all ranks; the first one ends the others
        for number in (signal.SIGINT, *ending()):
            signal.signal(number, signal.SIG_IGN)
    resumed = f"stopped; the same command with --resume continues in {folder}"
    with tidy() if is_first else nullcontext(), ExitStack() as stack:

        def stop() -> bool:
            nonlocal stopped
            # signals before the first update end the command at once
            stopped = stack.enter_context(stopping()) if stopped is None else stopped
            return bool(stopped)

        try:
            model = run(
                kind, **options, **dict(others), ranks=ranks, command=command_line(), stop=stop
            )
        except KeyboardInterrupt as signalled:
            again = f"stopped before there was {folder}: the same command starts again"
            raise type(signalled)(resumed if Path(folder).exists() else again) from None
    if stopped:
        raise (KeyboardInterrupt if stopped[0] == signal.SIGINT else Terminated)(resumed)
    if is_first:
        best = f"best after {saved_state(Path(folder))['progress'].best_sentences} sentences"
        # about.json may have been removed
        if scores := (model.about or {}).get("scores"):
            # JSON has no infinite perplexity
            scores = {name: math.inf if value is None else value for name, value in scores.items()}
            scores = {**scores, "event": EVALUATION, "is_best": False}
            best = f"best: {described(scores, model.has_trees)}"
        click.echo(f"{folder}: {best}")


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Yield a list that collects signals (Ctrl-C, SIGTERM, SIGHUP), so that a step can finish.

    The first signal is announced; a second one has its usual effect.
    """
    stopped: list[int] = []

    def stop(number: int, frame: object) -> None:
        stopped.append(number)
        signal.signal(number, before[number])
        # the signal may come while another message is written: RuntimeError
        with suppress(OSError, RuntimeError):
            say("stopping after this step; the same again ends at once")

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, *ending())}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
