"""What tried to break it: streams, disks, numbers that are none, requests too large, damaged states, threads."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from nltk import Tree

from oracle.errors import RnngError
from rnng_dy import DiscriminativeParser

from .commands import COMMAND, IN_SHELL, SHELL, refused, run, started, until, workers_of
from .rnng_dy.conftest import TINY, trees, write_untrained  # noqa: F401

TRAIN = "train discriminative --train some.oracle --dev some.oracle --dev-trees some.trees --model"


@pytest.fixture(scope="module")
def data(trees, tmp_path_factory):  # noqa: F811
    """A folder with untrained models, an oracle and trees."""
    folder = tmp_path_factory.mktemp("data")
    write_untrained(folder, trees)
    run(folder, "sample", "--model", "parser", "--samples", "2", "some.oracle", "-o", "some.props")
    return folder


# outputs


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_what_standard_output_is_redirected_to_is_written_to_and_not_replaced(data, tmp_path, name):
    target = tmp_path / "redirected"
    for command in (
        ("prepare", "--from", "trees", "some.trees"),
        ("parse", "--model", "parser", "some.oracle"),
    ):
        with target.open("w") as stream:
            stream.write("before\n")
            stream.flush()
            number = os.fstat(stream.fileno()).st_ino
            run(data, *command, "-o", name, stdout=stream)
        assert target.stat().st_ino == number
        lines = target.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "before" and len(lines) == 13


@pytest.mark.parametrize(
    "command",
    [
        "prepare --from trees some.trees -o some.trees",
        "parse --model parser some.oracle -o ./some.oracle",
        "perplexity some.gen.oracle --scorer kneser-ney=some.gen.oracle -o some.gen.oracle",
        "clusters some.gen.oracle -o some.gen.oracle",
    ],
)
def test_an_output_that_is_the_input_is_refused(data, command):
    name = Path(command.split()[-1]).name
    before = (data / name).read_bytes()
    assert "is the input as well" in refused(data, *command.split())
    assert (data / name).read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "parse --model parser some.oracle",
        "evalb some.trees some.trees",
        "prepare --from trees some.trees",
        "perplexity some.gen.oracle --scorer kneser-ney=some.gen.oracle",
        "--help",
    ],
)
def test_a_full_disk_behind_standard_output_ends_with_two(data, command):
    with open("/dev/full", "w") as full:
        done = run(data, *command.split(), code=2, stdout=full)
    assert "Exception ignored" not in done.stderr
    assert "No space left" in done.stderr


def small_disk():
    """Files of this process may not grow beyond a hundred bytes, as on a disk that is nearly full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("parse --model parser some.oracle -o full.trees", "full.trees"),
        ("oracle --train some.trees some.trees -o full.oracle", "full.oracle"),
        (
            "train generative --train some.gen.oracle --dev some.gen.oracle --set lstm_input=8 --model full.m",
            "full.m",
        ),
    ],
)
def test_a_full_disk_leaves_nothing_under_the_final_name(data, command, output):
    done = run(data, *command.split(), code=2, preexec_fn=small_disk)
    # training fails in the system's folder for temporary files
    assert "File too large" in done.stderr and ("full." in done.stderr or output == "full.m")
    assert not (data / output).exists()


@pytest.mark.parametrize("command", ["evalb some.trees some.trees", "--version"])
def test_a_printed_result_that_nobody_reads_is_no_error(data, command):
    line = f"{IN_SHELL} {command} | true; exit ${{PIPESTATUS[0]}}"
    assert not run(data, line, command=SHELL).stderr


# numbers


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e308"])
def test_an_alpha_that_is_none_is_refused(data, value):
    said = refused(data, "sample", "--model", "parser", "some.oracle", "--alpha", value)
    assert "--alpha" in said


@pytest.mark.parametrize(
    "setting", ["--set unknown_probability=nan", "--learning-rate nan", "--dropout nan"]
)
def test_training_options_that_are_no_numbers_are_refused_by_name(data, setting):
    said = refused(data, *TRAIN.split(), "x", *setting.split())
    name = setting.removeprefix("--set ").partition("=")[0].removesuffix(" nan")
    assert name in said and "no finite number" in said


# requests


def test_what_does_not_fit_into_memory_is_refused(data):
    given = ("--scorer", "kneser-ney:10000000=some.gen.oracle")
    said = refused(data, "perplexity", "some.gen.oracle", *given)
    assert "10000000 is not in the range 1<=x<=100" in said
    files = ["--train", "some.gen.oracle", "--dev", "some.gen.oracle", "--model", "x"]
    said = refused(data, "train", "generative", *files, "--hidden", "1000000")
    assert "out of memory" in said
    assert not (data / "x").exists()


# damaged states


def test_an_oracle_whose_tag_is_a_bracket_is_refused_with_its_line(data):
    text = (data / "some.oracle").read_text(encoding="utf-8").splitlines()
    text[1] = ")" + text[1][text[1].index(" ") :]
    (data / "bracket.oracle").write_text("\n".join(text) + "\n", encoding="utf-8")
    said = refused(data, "parse", "--model", "parser", "bracket.oracle", "-o", "bracket.trees")
    assert "bracket.oracle:2: the tag ')' has a bracket" in said
    assert not list(data.glob("bracket.trees*"))


def test_a_tree_five_thousand_deep_is_tagged(data):
    deep = "(S " * 5000 + "(NN word)" + ")" * 5000
    (data / "deep.trees").write_text(f"{deep}\n{deep}\n")
    run(data, "tag", "deep.trees", "--train", "some.trees", "-o", "deep.tagged")
    assert (data / "deep.tagged").read_text().count("(S ") == 10000


# models and Python


def test_an_untrained_model_says_so(data):
    done = run(data, "parse", "--model", "parser", "some.oracle", "-o", "x.trees")
    assert "parser: the model is not trained" in done.stderr
    small = ("--hidden", 8, "--set", "lstm_input=8", "--epochs", 1)
    run(data, *TRAIN.split(), "trained", *small)
    done = run(data, "parse", "--model", "trained", "some.oracle", "-o", "x.trees")
    assert "not trained" not in done.stderr
    assert DiscriminativeParser.load(data / "trained").updates == 12


def test_threads_take_turns(data):
    parser = DiscriminativeParser.load(data / "parser")
    parser.transitions.max_open = 2
    tokens = [("it", "PRP"), ("slept", "VBD"), (".", ".")]
    expected, found, errors = parser.parse_one(tokens), [], []

    def work():
        try:
            for _ in range(25):
                found.append(parser.parse_one(tokens))
                parser.sample(tokens, n=2)
                parser.log_prob(expected)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(found) == 100 and all(tree == expected for tree in found)


@pytest.mark.parametrize(
    "tokens", [[], "a sentence", [("The", "DT"), "company"], [("a",)], [("a", "b", "c")]]
)
def test_what_is_no_sentence_is_refused(data, tokens):
    parser = DiscriminativeParser.load(data / "parser")
    with pytest.raises(RnngError, match=r"list of tokens|all tokens are"):
        parser.parse(tokens)


def test_arguments_that_cannot_be_are_refused(data):
    parser = DiscriminativeParser.load(data / "parser")
    tokens = [("it", "PRP")]
    for options in ({"alpha": -1}, {"alpha": np.nan}, {"n": 0}):
        with pytest.raises(RnngError, match="samples at alpha"):
            parser.sample(tokens, **options)
    for tree in ("(S (NP it))", Tree("S", []), None):
        with pytest.raises(RnngError, match="no tree over words"):
            parser.log_prob(tree)


# Ctrl-C


def test_ctrl_c_ends_jackknifing_processes_at_once(tmp_path):
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "many.trees").write_text("".join(lines * 40), encoding="utf-8")
    command = [*COMMAND, "tag", "many.trees", "--jackknife", "10", "--jobs", "2", "-o", "out"]
    with started(*command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: len(workers_of(process)) >= 2)
        # they train by now, or are about to
        time.sleep(2)
        begin = time.monotonic()
        # as a terminal does: to all of them
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert time.monotonic() - begin < 30
    assert not (tmp_path / "out").exists()
