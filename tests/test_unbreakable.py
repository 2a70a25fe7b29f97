"""What tried to break it: streams, disks, requests too large, damaged states, names that lead nowhere."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time

import numpy as np
import pytest
from nltk import Tree

import rnng_dy
from oracle.common.errors import InputError, RnngError
from rnng_dy import DiscriminativeParser
from rnng_dy.cli import errors_reported

from .commands import COMMAND, IN_SHELL, SHELL, invoke, refused, run, started, until, workers_of
from .conftest import needs_proc, tiny_trees
from .rnng_dy.conftest import trees, write_untrained  # noqa: F401

TRAIN = "train discriminative --train some.oracle --dev some.oracle --dev-trees some.trees --model"


@pytest.fixture(scope="module")
def data(trees, tmp_path_factory):  # noqa: F811
    """A folder with untrained models, oracles, trees and names that lead nowhere."""
    folder = tmp_path_factory.mktemp("data")
    write_untrained(folder, trees)
    (folder / "loop").symlink_to("other")
    (folder / "other").symlink_to("loop")
    return folder


# outputs


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_what_standard_output_is_redirected_to_is_written_to_and_not_replaced(data, tmp_path, name):
    target = tmp_path / "redirected"
    for command in ("prepare --from trees some.trees", "parse --model parser some.oracle"):
        with target.open("w") as stream:
            stream.write("before\n")
            stream.flush()
            number = os.fstat(stream.fileno()).st_ino
            run(data, *command.split(), "-o", name, stdout=stream)
        assert target.stat().st_ino == number
        lines = target.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "before" and len(lines) == 13


@pytest.mark.parametrize(
    "command",
    [
        "prepare --from trees some.trees -o some.trees",
        "parse --model parser some.oracle -o ./some.oracle",
        "perplexity some.gen.oracle --scorer kneser-ney=some.gen.oracle -o some.gen.oracle",
        "perplexity some.trees --scorer kneser-ney=some.gen.oracle -o some.gen.oracle",
        "clusters some.gen.oracle -o some.gen.oracle",
        "score --model generator some.trees -o generator/parameters.npz",
    ],
)
def test_an_output_that_is_the_input_is_refused(data, command):
    output = data / command.split()[-1]
    before = output.read_bytes()
    assert "is the input as well" in refused(data, *command.split())
    assert output.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "parse --model parser some.oracle",
        "evalb some.trees some.trees",
        "prepare --from trees some.trees",
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


@pytest.mark.parametrize("ends", ["--jobs 2 >&-", "2>&- > said", "-o said >&- 2>&- <&-"])
def test_a_closed_stream_is_no_file(data, tmp_path, ends):
    """Messages go nowhere; a result that nobody gets is an error."""
    expected = invoke("parse", "--model", data / "parser", data / "some.oracle").stdout
    lost = ends == "--jobs 2 >&-"
    line = f"{IN_SHELL} parse --model parser some.oracle {ends.replace('said', str(tmp_path / 'said'))}"
    done = run(data, line, command=SHELL, code=2 if lost else 0)
    assert ("Error: standard output: Bad file descriptor" in done.stderr) is lost
    assert lost or (tmp_path / "said").read_text() == expected


def test_a_version_that_nobody_gets_is_an_error(data):
    done = run(data, f"{IN_SHELL} --version >&-", command=SHELL, code=2)
    assert done.stderr == "Error: standard output: Bad file descriptor\n"


@pytest.mark.parametrize(
    "command", ["evalb some.trees some.trees", "-q parse --model english some.trees", "--version"]
)
def test_a_result_that_nobody_reads_is_no_error(data, command):
    line = f"{IN_SHELL} {command} | true; exit ${{PIPESTATUS[0]}}"
    assert not run(data, line, command=SHELL).stderr


# requests


@needs_proc
def test_what_does_not_fit_into_memory_is_refused(data):
    given = ("--scorer", "kneser-ney:10000000=some.gen.oracle")
    said = refused(data, "perplexity", "some.gen.oracle", *given)
    assert "10000000 is not in the range 1<=x<=100" in said
    # the first matrix is small, the next larger than any memory
    given = "--train some.gen.oracle --dev some.gen.oracle --model x --hidden 1000000 --set lstm_input=1"
    said = refused(data, "train", "generative", *given.split())
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


def test_an_untrained_model_says_so(data, caplog, monkeypatch):
    monkeypatch.chdir(data)
    rnng_dy.load(data / "parser")
    assert "the model is not trained" in caplog.text
    done = run(data, "parse", "--model", "parser", "some.oracle", "-o", "x.trees")
    assert "parser: the model is not trained" in done.stderr
    invoke(*TRAIN.split(), "trained", "--hidden", 8, "--set", "lstm_input=8", "--epochs", 1)
    done = invoke("parse", "--model", "trained", "some.oracle", "-o", "x.trees")
    assert "not trained" not in done.stderr
    assert DiscriminativeParser.load(data / "trained").updates == 12


def test_arguments_that_cannot_be_are_refused(data):
    parser, generator = (rnng_dy.load(data / name) for name in ("parser", "generator"))
    tokens = [("it", "PRP")]
    for options in ({"alpha": -1}, {"alpha": np.nan}, {"n": 0}, {"seed": -1}):
        with pytest.raises(RnngError, match=r"^(alpha|n|seed): .* number"):
            parser.sample(tokens, **options)
    with pytest.raises(RnngError, match=r"^k: '3' is no whole number"):
        parser.nbest(tokens, "3")
    for tree in ("(S (NP it))", Tree("S", []), None):
        for model in (parser, generator):
            with pytest.raises(RnngError, match="no tree over words"):
                model.log_prob(tree)


# Ctrl-C


def test_ctrl_c_ends_jackknifing_processes_at_once(tmp_path):
    (tmp_path / "many.trees").write_text(tiny_trees() * 10, encoding="utf-8")
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


# names of files


READING = [
    "prepare --from ptb {}",
    "oracle --train {} some.trees",
    "clusters {}",
    "parse --model parser {}",
    "parse --model parser some.oracle --jobs {}",
    "train generative --trees {} --hold-out 0.5 --model new",
    "train generative --train some.gen.oracle --dev some.gen.oracle --init {} --model new",
    "import-clab discriminative {} --train-oracle some.oracle --model new",
    "generate --model {}",
]


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("name", ["loop", "/dev/fd/9999"])
def test_an_input_that_leads_nowhere_is_refused_by_name(data, command, name):
    said = refused(data, *(word.format(name) for word in command.split()))
    assert name in said
    assert not (data / "new").exists()


@pytest.mark.parametrize("name", ["/dev/fd/9999", "loop/out"])
def test_an_output_that_leads_nowhere_is_refused(data, name):
    refused(data, "prepare", "--from", "trees", "some.trees", "-o", name)
    refused(data, "score", "--model", "generator", "some.trees", "-o", name)


def test_a_pipe_is_read_as_the_file_would_be(data, monkeypatch):
    monkeypatch.chdir(data)
    (data / "some.props").write_text("0 ||| -1 ||| (S Go)\n" * 50)
    for file in ("some.trees", "some.props"):
        for command in ("score --model generator", "show"):
            straight = invoke(*command.split(), file).stdout
            piped = run(data, f"{IN_SHELL} {command} <(cat {file})", command=SHELL)
            assert straight and straight == piped.stdout


def test_no_command_takes_an_empty_name(data):
    assert "empty name" in refused(data, "parse", "--model", "parser", "")


NASTY = "\x1b[2J\x1b]0;title\x07\r\x85\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ("evalb", "some.trees", f"some.trees{NASTY}"),
        (f"evalb{NASTY}",),
        ("parse", "--model", NASTY, "some.oracle"),
        ("parse", "--model", "parser", "some.oracle", "--jobs", NASTY),
    ],
)
def test_control_characters_of_a_name_do_nothing_to_a_terminal(data, arguments):
    said = refused(data, *arguments)
    assert "Error: " in said and not set(NASTY) & set(said) - set("[2J]0;title")


@pytest.mark.parametrize(
    "error", [InputError("a", NASTY), OSError(2, "gone", NASTY), KeyboardInterrupt(NASTY)]
)
def test_whatever_ends_a_command_is_told_without_control_characters(error, capsys):
    with pytest.raises(SystemExit), errors_reported():
        raise error
    assert "\\x1b[2J" in (said := capsys.readouterr().err) and "\x1b" not in said


def test_a_library_that_cannot_be_loaded_is_told_in_a_sentence(capsys):
    with pytest.raises(SystemExit) as caught, errors_reported():
        raise ImportError("\n\nIMPORTANT: PLEASE READ THIS\n\nlibx.so: failed to map segment\n")
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("Error: libx.so: failed to map segment: ") and "ulimit -v" in said
