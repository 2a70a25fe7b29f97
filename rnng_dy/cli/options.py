"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import Field, fields
from functools import partial

import click
from click.shell_completion import CompletionItem

from oracle.transitions import DEFAULT as DEFAULT_SYSTEM
from oracle.transitions import SYSTEMS
from oracle.unknown import RULES
from rnng_dy.cli.group import SectionOption
from rnng_dy.cli.paths import FILE, FOLDER
from rnng_dy.evaluation.tables import CSV, TSV
from rnng_dy.models.composition import COMPOSITIONS, DEFAULT
from rnng_dy.models.parser_state import DEFAULT as DEFAULT_STATE
from rnng_dy.settings import option_name
from rnng_dy.sizes import Sizes
from rnng_dy.training.presets import NAMES, Settings

AT_LEAST_1 = click.IntRange(min=1)


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN and infinities, which Python's `float` accepts."""

    name = "number"

    def convert(self, value, param, ctx) -> float:
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


class Registered(LiveChoice):
    """The name of a part of a model in a registry."""

    def convert(self, value, param, ctx) -> str:
        if value not in self._registry:
            self.fail(f"{value!r} is none of {', '.join(self._registry)}.", param, ctx)
        return value


class Names(click.ParamType):
    """Names in a registry, separated by commas."""

    name = "names"

    def __init__(self, registry: Collection[str]):
        self._registry = registry

    def convert(self, value, param, ctx) -> tuple[str, ...]:
        names = tuple(value.split(",")) if isinstance(value, str) else value
        if not set(names) <= set(self._registry) or len(set(names)) < len(names):
            self.fail(f"{value!r}: some of {', '.join(self._registry)}, each once.", param, ctx)
        return names

    def get_metavar(self, *_, **__) -> str:
        return ",".join(self._registry)

    def shell_complete(self, ctx, param, incomplete: str) -> list[CompletionItem]:
        """See click. Completes the last of the names and keeps those before it."""
        before, comma, last = incomplete.rpartition(",")
        left = [name for name in self._registry if name not in before.split(",")]
        return [CompletionItem(before + comma + name) for name in left if name.startswith(last)]


COMPOSITION, TRANSITIONS = Registered(COMPOSITIONS), Registered(SYSTEMS)
ALPHA = FiniteRange(0, 100)


def setting_options(settings: type, section: str, but: Collection[str] = ()) -> Callable:
    """Return a decorator that adds an option per setting of a dataclass, without defaults, so that presets apply."""

    def decorate(command: Callable) -> Callable:
        for of in reversed([of for of in fields(settings) if of.name not in but]):
            name = option_name(of)
            flag = "--" + name.replace("_", "-")
            if of.type == "bool":
                flag += flag.replace("--", "/--no-")
            option = in_section(section)(
                flag, name, type=type_of(of), default=None, help=of.metadata["help"]
            )
            command = option(command)
        return command

    return decorate


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


def _device_option(option: Callable) -> Callable:
    return option(
        "--device",
        default="cpu",
        show_default=True,
        metavar="cpu|cuda|cuda:N",
        shell_complete=_devices,
        help="The processor, the first GPU, or GPU N, counted from 0.",
    )


def training_options(command: Callable) -> Callable:
    """Add the options that all `train` commands share."""
    options = [
        data_option(
            "--trees",
            type=FILE,
            help="Bracketed trees to train on. Cleaned as `prepare` does, they stay in the model folder with their "
            "oracles.",
        ),
        data_option(
            "--dev-trees",
            type=FILE,
            help="Bracketed trees to judge the model by; for a parser those of the --dev oracle, too.",
        ),
        data_option(
            "--hold-out",
            type=FiniteRange(0, 1, min_open=True, max_open=True),
            metavar="SHARE",
            help="Instead of --dev-trees: hold out a share of --trees, evenly spaced: 0.1 is every tenth.",
        ),
        data_option(
            "--unk",
            type=click.Choice(RULES),
            help=f"With --trees: classes of unknown words, as `oracle` has them.  [default: {RULES[0]}]",
        ),
        data_option(
            "--skip-preterminals",
            is_flag=True,
            help="With --trees: leave out trees that are only a preterminal.",
        ),
        data_option("--train", type=FILE, help="Instead: training oracle."),
        data_option("--dev", type=FILE, help="Development oracle."),
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
            type=FOLDER,
            help="Begin with this model's parameters, dimensions and vocabulary; words that it has not got are their "
            "UNK classes.",
        ),
        model_section_option(
            "--extend",
            is_flag=True,
            help="With --init: add the nonterminals, POS tags and, for a parser, unknown words that come twice.",
        ),
        model_section_option(
            "--composition",
            type=COMPOSITION,
            help="The corrigendum's composition, that of the paper's first version, or gated attention over the "
            f"children.  [default: {DEFAULT}]",
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
            help="Settings that the options below change: the original's; minibatches with Adam, fitted to the number "
            "of sentences; what two cores do in some two minutes; or large minibatches for a GPU.",
        ),
        setting_options(Settings, "Training"),
        run_option(
            "--mpi",
            is_flag=True,
            help="Share each minibatch's gradient, as --jobs does, between the processes that "
            "`mpirun -n 4 rnng-dy train ... --mpi` starts, also on other machines.",
        ),
        _device_option(run_option),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def state_option(states: Collection[str]) -> Callable:
    """Return the option --state with the parser states of a kind of model."""
    return model_section_option(
        "--state",
        type=Registered(states),
        help="What the parser state is made of: leave a part out, or keep the stack alone.  "
        f"[default: {DEFAULT_STATE}]",
    )


device_option = _device_option(click.option)
resume_option = click.option(
    "--resume", is_flag=True, help="Continue the part that a stopped run left."
)
json_option = click.option(
    "--json", "numbers", type=FILE, help="Write the numbers that are printed as JSON, too."
)
table_format_option = click.option(
    "--format",
    "style",
    type=click.Choice([TSV, CSV]),
    default=TSV,
    help="Tables with tabs and without quoting, or CSV as in RFC 4180, for spreadsheets.",
)
model_option = click.option("--model", "folder", type=FOLDER, required=True, help="Model folder.")
output_option = click.option(
    "-o", "--output", type=FILE, default="-", help="File to write; - is standard output."
)
trees_output_option = click.option(
    "-o", "--output", type=FILE, default="-", metavar="OUT.trees", help="Trees to write."
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Random seed."
)


kneser_ney_option = click.option(
    "--kneser-ney",
    "train_path",
    type=FILE,
    metavar="TRAIN.oracle",
    help="Instead: interpolated modified Kneser-Ney n-grams of this generative training oracle.",
)
order_option = click.option("--order", type=AT_LEAST_1, default=5, help="The n of n-grams.")
