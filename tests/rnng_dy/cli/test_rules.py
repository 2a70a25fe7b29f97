"""No option does nothing: each is refused without what it goes with, and beside itself."""

import re
from pathlib import Path

import click
import pytest

from rnng_dy.cli.rules import rule_of
from tests.commands import invoke

from .test_manners import LEAVES, command_of

OPTIONS = [
    pytest.param(names, option, id=f"{' '.join(names)} {option.opts[0]}")
    for names in LEAVES
    for option in command_of(names).params
    if isinstance(option, click.Option)
]
VALUES = {"scorers": "kneser-ney=x", "systems": "corrected", "limits": "words=1"}
# what takes away what is there by default
OTHERWISE = {"folders": ["--scorer", "surprisals=x"], "device": ["--device", "cuda"]}


def given(param, value=None):
    """A parameter on a command line, with any value if none is wanted."""
    choices = getattr(getattr(param.type, "item", param.type), "choices", ["2"])
    usual = "0.5" if isinstance(param.type, click.FloatRange) else next(iter(choices))
    if types := getattr(param.type, "types", None):
        usual = f"{next(iter(types))}=1"
    values = [value or VALUES.get(param.name, usual)] * abs(param.nargs)
    if isinstance(param, click.Option):
        return [param.opts[0], *([] if param.is_flag else values)]
    return values


def against(rule, params):
    """What a command line has against a rule: what it excludes, or a value that it lacks."""
    others = [(n, w) for n, w in re.findall(r"`(\w+)`(?: (?!or\b)(\S+))?", rule) if n in params]
    for name, wanted in others:
        if rule.startswith("without"):
            return given(params[name], wanted.split("/")[0])
        param = params["form" if name == "output" and "form" in params else name]
        left = {*getattr(param.type, "choices", ())} - set(re.findall(r"[\w-]+", wanted))
        if isinstance(param, click.Option) and left:
            return given(param, min(left)) if wanted else None
        if name in OTHERWISE:
            return OTHERWISE[name] if name == "device" or "scorers" in params else None
    return [] if others else None


def refused(names, *words):
    return " ".join(invoke(*names, *words, code=2).stderr.split())


@pytest.fixture(autouse=True)
def files(here):
    Path("x").write_text("it works .\n")


@pytest.mark.parametrize(("names", "option"), OPTIONS)
def test_an_option_goes_with_others_and_once(names, option):
    params = {param.name: param for param in command_of(names).params}
    needed = [w for p in params.values() if p.required and p != option for w in given(p)]
    if not option.multiple:
        flag = f"{option.opts[0]} is given twice"
        assert flag in refused(names, *needed, *given(option), *given(option))
    for rule in rule_of(option).split(", "):
        if (more := against(rule, params)) is not None:
            kind = {"discriminative": "generative"} if "`kind` d" in rule else {}
            base = [kind.get(word, word) for word in needed]
            said = refused(names, *base, *more, *given(option))
            assert f"Error: {option.opts[0]}" in said and " goes with" in said


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("prepare --from nltk --encoding utf-8", "--encoding does nothing with --from nltk"),
        ("prepare x --from icepahc --strip-ids", "--strip-ids does nothing with --from icepahc"),
        ("perplexity x --scorer kneser-ney=x --jobs 2", "--jobs is for generative models with"),
        ("surprisal x --scorer surprisals=s.tsv --next-word", "leave out --next-word"),
        ("reading-times x --times x --column time=a --column time=b", "time is given twice"),
        ("serve --model x --limit words=1 --limit words=2", "--limit words is given twice"),
        ("train lstm-lm --model m --set layers=1 --set layers=2", "--set layers is given twice"),
        ("train lstm-lm --trees t --hold-out 0.5 --model m --jobs 2", "give --batch-size 2"),
        ("suite agreement-pp --scorer surprisals=s.tsv --effects e.json", "file in .tsv or .csv"),
        ("suite agreement-pp --scorer surprisals=s.tsv --item x", "no columns, items or marks"),
        (
            "train generative --trees t --hold-out 0.5 --model m --set unknown_probability=0.1",
            "--set unknown_probability goes with `kind` discriminative",
        ),
        ("parse t --tagged", "t: --tagged and --untagged are for tokenised text"),
    ],
)
def test_what_would_do_nothing_is_refused(command, says):
    Path("s.tsv").write_text("sentence_id\ttoken\tsurprisal\n1\tit\t1\n1\tworks\t1\n1\t.\t1\n")
    Path("t").write_text("(S (NN it) (VB works) (. .))\n" * 4)
    assert says in refused(command.split())


def test_completion_goes_on_after_an_option_that_is_given_twice():
    twice = ["--item", "a", "--item", "b"]
    command_of(("surprisal",)).make_context("surprisal", twice, resilient_parsing=True)
