"""`rnng-dy train`: train the discriminative parser, the generative model or the LSTM language model."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from oracle.files import finite, one_line
from rnng_dy.cli import errors_reported
from rnng_dy.cli.group import TYPED, Group, Sectioned, typed_command
from rnng_dy.cli.options import (
    data_option,
    model_section_option,
    setting_options,
    state_option,
    training_options,
)
from rnng_dy.cli.paths import FILE, require_read_once
from rnng_dy.cli.progress import ByteProgress, Progress, clock
from rnng_dy.cli.quiet import say, warn
from rnng_dy.engine import CPU
from rnng_dy.interrupts import Stopped, ending_at_once, tidy
from rnng_dy.memory import limit_memory
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.parallel import keep_from_collection
from rnng_dy.sizes import ParserSizes, Sizes


class RankedGroup(Group):
    """A group whose commands take --mpi; the `obj` of their contexts is then the `World` of ranks."""

    def invoke(self, ctx: click.Context) -> object:
        """See click. Splits ranks before options are parsed, so that only the first rank reports errors in them."""
        if "--mpi" not in ctx.meta[TYPED]:
            return super().invoke(ctx)
        from rnng_dy.training.mpi import World

        world = World(ctx.meta[TYPED])
        if world.rank:
            return world.help()
        ctx.obj = world
        with world.leading(), errors_reported():
            return super().invoke(ctx)


@click.group(cls=RankedGroup)
def train() -> None:
    """Train a model. Ctrl-C stops the training, and --resume continues it."""


@train.command("discriminative", cls=Sectioned)
@training_options
@state_option(PARSER_STATES)
@setting_options(ParserSizes, "Model", but=Sizes.__dataclass_fields__)
@model_section_option("--pos", is_flag=True, help="Read the POS tags of the data.")
@model_section_option(
    "--no-tagger",
    is_flag=True,
    help="With --pos: train no POS tagger for the model folder. If the training tags are jackknifed, `rnng-dy tag "
    "--train GOLD.trees --into MODEL` makes a better tagger afterwards.",
)
@data_option(
    "--pretrained",
    type=FILE,
    help="Word vectors in word2vec's text format, which training does not change.",
)
def discriminative(no_tagger, **options) -> None:
    """Train a parser q(y | x), and keep the model with the best F1 on the development data.

    F1 is scored with the gold tags of punctuation (`evalb --tags gold`).

    Example: rnng-dy train discriminative --trees train.trees --dev-trees dev.trees --pos --model parser
    """
    run_training("discriminative", **options, tagger=not no_tagger)


clusters_option = data_option(
    "--clusters",
    type=FILE,
    help="Clusters of the training words.  [default: the command makes Brown clusters]",
)


open_option = model_section_option(
    "--open",
    is_flag=True,
    help="Also train a spelling model of unknown words, so that every string has a probability. With --init, keep the "
    "initial model's, if it has one.",
)


@train.command("generative", cls=Sectioned)
@training_options
@state_option(GENERATOR_STATES)
@clusters_option
@open_option
def generative(**options) -> None:
    """Train a generative model p(x, y), and keep the model with the best joint likelihood on the development data.

    Example: rnng-dy train generative --trees train.trees --dev-trees dev.trees --model generator
    """
    run_training("generative", **options)


@train.command("lstm-lm", cls=Sectioned)
@training_options
@clusters_option
@open_option
def lstm_lm(action_size, **options) -> None:
    """Train an LSTM language model, a baseline without trees, on the words of trees or generative oracles.

    Example: rnng-dy train lstm-lm --trees train.trees --dev-trees dev.trees --model lm
    """
    if action_size is not None:
        raise click.UsageError("--action-size is for RNNGs: a sequential model has no actions")
    run_training("lstm-lm", **options)


def run_training(kind: str, mpi: bool, **options) -> None:
    """Train a model according to the options, with messages; a signal stops training after the state is saved."""
    with ending_at_once():
        from rnng_dy.training.options import ContradictionError
        from rnng_dy.training.run import Training

    keep_from_collection()
    if options["device"] == CPU:
        limit_memory(options["jobs"] or 1)
    require_read_once(options["trees"], options["dev_trees"])
    folder = options["folder"]
    world = click.get_current_context().obj if mpi else None
    try:
        with tidy():
            listener = _Console(folder)
            more = {"world": world, "command": typed_command(), "listener": listener}
            training = listener.training = Training(kind, **options, **more)
            for _ in training:
                pass
    except ContradictionError as error:
        raise click.UsageError(str(error)) from None
    except Stopped as stop:
        warn(f"stopped; the same command with --resume continues in {folder}")
        sys.exit(128 + stop.number)
    except KeyboardInterrupt as stop:
        if options["trees"] is None or Path(folder).exists():
            raise
        message = f"stopped before there was {folder}: the same command starts again"
        raise type(stop)(message) from None
    click.echo(f"{folder}: {one_line(training.best)}")


class _Console:
    """Prints the messages of a training; see `training.listener`."""

    say, warn, progress = staticmethod(say), staticmethod(warn), Progress

    def __init__(self, folder: str):
        self._name = Path(folder).name
        self.training = None

    def reading(self, path: str):
        """See `Listener`."""
        return ByteProgress(f"reading {path}", path).advance

    def record(self, record: dict) -> None:
        """See `Listener`."""
        from rnng_dy.training.log import LEFT_OUT, LOG

        line = f"{self._name}: {self._line(record)}"
        self.warn(line) if record["event"] == LEFT_OUT else say(line)
        if record != finite(record):
            names = ", ".join(name for name, x in record.items() if x != finite(x))
            self.warn(f"{self._name}: {names}: too large for a number, or none (null in {LOG})")

    def _line(self, record: dict) -> str:
        """Format a record of the log as one readable line."""
        from rnng_dy.training.log import ENDED_EARLY, EVALUATION, LEFT_OUT

        place = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences"
        if record["event"] == EVALUATION:
            return (
                f"{place}: {self.training.describe(record)}{' (best)' if record['is_best'] else ''}"
            )
        if record["event"] == ENDED_EARLY:
            return f"{place}: no new best in {record['patience']} evaluations: training ends here (--patience)"
        if record["event"] == LEFT_OUT:
            return (
                f"{self.training.place_of(record)}: the sentence ({record['words']} words) does not fit into memory "
                f"and is left out; {record['left_out']} left out so far"
            )
        return (
            f"{place}: {record['loss_per_word']:.4f} nats/word, {record['sentences_per_second']:.1f} sentences/s, "
            f"learning rate {record['learning_rate']:.4f}, {record['clipped']:.0%} of updates clipped, "
            f"{clock(record['seconds_left'])} left"
        )
