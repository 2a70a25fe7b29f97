"""Options that several commands share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection
from dataclasses import Field, fields
from functools import partial

import click
from click.shell_completion import CompletionItem

from oracle.transitions import DEFAULT as DEFAULT_SYSTEM
from oracle.transitions import SYSTEMS
from oracle.unknown import RULES
from rnng_dy.cli.group import SectionOption
from rnng_dy.cli.option_groups import all_of
from rnng_dy.cli.paths import FILE, FOLDER, GENERATIVE, MODEL
from rnng_dy.engine import PRECISION, PRECISIONS
from rnng_dy.evaluation.tables import CSV, TSV
from rnng_dy.models.composition import COMPOSITIONS, DEFAULT
from rnng_dy.models.parser_state import DEFAULT as DEFAULT_STATE
from rnng_dy.settings import option_name
from rnng_dy.sizes import Sizes
from rnng_dy.training.presets import NAMES, Settings

AT_LEAST_1 = click.IntRange(min=1)
SAMPLES = click.IntRange(1, 10**9)


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN and infinities, which Python's `float` accepts."""

    name = "number"

    def convert(self, value, param, ctx) -> float:
        """See click."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


class LiveChoice(click.Choice):
    """A name in a registry, which is read only when the option is used."""

    def __init__(self, registry: Collection[str]):
        self._registry, self.case_sensitive = registry, True

    @property
    def choices(self) -> tuple[str, ...]:
        """See click."""
        return tuple(self._registry)


class Names(click.ParamType):
    """Names in a registry, separated by commas."""

    name = "names"

    def __init__(self, registry: Collection[str]):
        self._registry = registry

    def convert(self, value, param, ctx) -> tuple[str, ...]:
        """See click."""
        names = tuple(value.split(",")) if isinstance(value, str) else value
        if not set(names) <= set(self._registry) or len(set(names)) < len(names):
            self.fail(f"{value!r}: some of {', '.join(self._registry)}, each once.", param, ctx)
        return names

    def get_metavar(self, *_, **__) -> str:
        """See click."""
        return ",".join(self._registry)

    def shell_complete(self, ctx, param, incomplete: str) -> list[CompletionItem]:
        """See click. Completes the last of the names and keeps those before it."""
        before, comma, last = incomplete.rpartition(",")
        left = [name for name in self._registry if name not in before.split(",")]
        return [CompletionItem(before + comma + name) for name in left if name.startswith(last)]


COMPOSITION, TRANSITIONS = LiveChoice(COMPOSITIONS), LiveChoice(SYSTEMS)
ALPHA = FiniteRange(0, 100)


def setting_options(settings: type, section: str, but: Collection[str] = ()) -> Callable:
    """Return a decorator that adds an option per setting of a dataclass, without defaults, so that presets apply."""

    def option(of: Field) -> Callable:
        name = option_name(of)
        flag = "--" + name.replace("_", "-")
        if of.type == "bool":
            flag += flag.replace("--", "/--no-")
        return in_section(section)(
            flag, name, type=type_of(of), default=None, help=of.metadata["help"]
        )

    return all_of(*[option(of) for of in fields(settings) if of.name not in but])


def type_of(of: Field) -> click.ParamType:
    """Return the type of a setting's option."""
    numbers = of.metadata["range"]
    return {
        "bool": click.BOOL,
        "str": click.Choice(of.metadata["choices"]),
        "int": click.IntRange(*numbers),
        "float": FiniteRange(*numbers),
    }[of.type]


def in_section(title: str) -> Callable:
    """Return a function that makes options for a section in the help of a `Sectioned` command."""
    return partial(click.option, cls=SectionOption, section=title)


data_option, model_section_option, run_option = map(in_section, ("Data", "Model", "Run"))


def _devices(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [device for device in ("cpu", "cuda") if device.startswith(incomplete)]


def _set_precision(ctx: click.Context, param: click.Parameter, precision: str | None) -> None:
    if precision:
        os.environ[PRECISION] = precision


def _device_option(option: Callable) -> Callable:
    """Return the options --device, and --precision, which is set for this process and those that it starts."""
    device = option(
        "--device",
        default="cpu",
        show_default=True,
        metavar="cpu|cuda|cuda:N",
        shell_complete=_devices,
        help="The processor, the first GPU, or GPU N, counted from 0.",
    )
    precision = option(
        "--precision",
        type=click.Choice(PRECISIONS),
        expose_value=False,
        callback=_set_precision,
        help="Numbers that products multiply on the CPU. bfloat16 is faster on processors that have AVX512_BF16, and "
        "has three digits; sums have seven.  [default: float32]",
    )
    return all_of(device, precision)


def training_options(command: Callable) -> Callable:
    """Add the options that all `train` commands share."""
    options = [
        data_option(
            "--trees",
            type=FILE,
            help="Bracketed trees to train on. The command cleans them as `prepare` does, and keeps them in the model "
            "folder with their oracles.",
        ),
        data_option(
            "--dev-trees",
            type=FILE,
            help="Bracketed trees by which the best model is chosen. With --dev, a parser needs the trees of that "
            "oracle here.",
        ),
        data_option(
            "--hold-out",
            type=FiniteRange(0, 1, min_open=True, max_open=True),
            metavar="SHARE",
            help="Instead of --dev-trees: set a share of --trees aside, evenly spaced; 0.1 takes every tenth tree.",
        ),
        data_option(
            "--unk",
            type=click.Choice(RULES),
            help=f"With --trees: rules for classes of unknown words, as for `oracle`.  [default: {RULES[0]}]",
        ),
        data_option(
            "--skip-preterminals",
            is_flag=True,
            help="With --trees: leave out trees that are only a preterminal.",
        ),
        data_option("--train", type=FILE, help="Instead of --trees: training oracle."),
        data_option("--dev", type=FILE, help="With --train: development oracle."),
        model_section_option(
            "--model", "folder", required=True, type=FOLDER, help="Model folder to write."
        ),
        model_section_option(
            "--resume",
            is_flag=True,
            help="Continue from the training state in the model folder, if there is one.",
        ),
        model_section_option(
            "--init",
            type=MODEL,
            help="Begin with this model's parameters, dimensions and vocabulary. Words that it does not know are read "
            "as their classes of unknown words.",
        ),
        model_section_option(
            "--extend",
            is_flag=True,
            help="With --init: add new nonterminals and POS tags and, for a parser, new words that occur at least "
            "twice.",
        ),
        model_section_option(
            "--composition",
            type=COMPOSITION,
            help="That of the corrigendum (corrected), that of the paper's first version (buggy), or gated "
            f"attention over the children.  [default: {DEFAULT}]",
        ),
        model_section_option(
            "--transitions",
            type=TRANSITIONS,
            help=f"Transition system.  [default: that of the training oracle; with --trees {DEFAULT_SYSTEM}]",
        ),
        setting_options(Sizes, "Model"),
        in_section("Training")(
            "--preset",
            type=click.Choice(NAMES),
            default="paper",
            show_default=True,
            help="Set of settings, which the options below change. paper: the original's. fast: minibatches with "
            "Adam, fitted to the number of sentences. quick: as fast, for about two minutes on two cores. gpu: "
            "large minibatches.",
        ),
        setting_options(Settings, "Training"),
        run_option(
            "--mpi",
            is_flag=True,
            help="Divide each minibatch between processes that MPI started, on one or several machines: `mpirun -n 4 "
            "rnng-dy train ... --mpi`.",
        ),
        _device_option(run_option),
    ]
    return all_of(*options)(command)


def state_option(states: Collection[str]) -> Callable:
    """Return the option --state with the parser states of a kind of model."""
    return model_section_option(
        "--state",
        type=LiveChoice(states),
        help="Parser state: full, the stack alone, without one of its parts, or history, which is an LSTM over actions "
        "and words with neither stack nor composition.  "
        f"[default: {DEFAULT_STATE}]",
    )


device_option = _device_option(click.option)
resume_option = click.option(
    "--resume", is_flag=True, help="Continue from the results that a stopped run kept."
)
json_option = click.option(
    "--json", "numbers", type=FILE, help="Also write the printed numbers as JSON."
)
table_format_option = click.option(
    "--format",
    "style",
    type=click.Choice([TSV, CSV]),
    default=TSV,
    help="Columns separated by tabs, with no quoting, or CSV as in RFC 4180 for spreadsheets.",
)
model_option = click.option(
    "--model", "folder", type=MODEL, required=True, help="Model folder, archive or name."
)
generative_option = click.option(
    "--model", "folder", type=GENERATIVE, required=True, help="Model folder, archive or name."
)
output_option = click.option(
    "-o", "--output", type=FILE, default="-", help="File to write; - is standard output."
)
trees_output_option = click.option(
    "-o", "--output", type=FILE, default="-", metavar="OUT.trees", help="Trees to write."
)
unknown_option = click.option(
    "--unknown",
    type=click.Choice(["class", "error"]),
    default="class",
    help="A word that the model does not know: read it as its class of unknown words, or stop before the work with an "
    "error that names its place.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Random seed."
)


kneser_ney_option = click.option(
    "--kneser-ney",
    "train_path",
    type=FILE,
    metavar="TRAIN.oracle",
    help="Instead of --model: interpolated modified Kneser-Ney n-grams, made from this generative training oracle.",
)
open_option = click.option(
    "--open",
    "is_open",
    is_flag=True,
    help="Give every string a probability: that of its class of unknown words, times that of its spelling, by the "
    "spelling model that `train --open` made.",
)
order_option = click.option(
    "--order", type=AT_LEAST_1, default=5, help="Order of n-gram models: the n."
)
