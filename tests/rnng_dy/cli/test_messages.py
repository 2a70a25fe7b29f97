"""Messages and progress: `--quiet`, a bar on a terminal, lines elsewhere."""

import json
import os
import pty
import re
import termios
from pathlib import Path

import pytest

from rnng_dy.cli.messages import progress, show_messages
from tests.commands import PYTHON, invoke, run, started
from tests.conftest import DATA, tiny_trees

MODELS = DATA / "models-0.1.0"
TRAIN = (
    "train generative --train gen.oracle --dev gen.oracle --model {} --hidden 6 --set lstm_input=6"
    " --epochs 1 --set report_every=5 --set first_evaluation=10"
)
COMMANDS = f"""
prepare --from trees some.trees
oracle --train some.trees some.trees
clusters gen.oracle --unk none
parse --model {MODELS}/parser in.txt --tagged
suite garden-path-npz --model {MODELS}/lm
"""


@pytest.fixture
def data(here):
    """A folder of trees, an oracle and sentences, the current one."""
    Path("some.trees").write_text(tiny_trees(0, 20), encoding="utf-8")
    Path("in.txt").write_text("the_DT dog_NN ran_VBD ._.\n")
    invoke("oracle", "--train", "some.trees", "some.trees", "--generative", "-o", "gen.oracle")


@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_quiet_leaves_the_result(data, command):
    loud, quiet = invoke(*command.split()), invoke("--quiet", *command.split())
    assert loud.stderr and not quiet.stderr
    without_time = re.compile(r"^seconds=.*\n", re.MULTILINE)
    assert without_time.sub("", quiet.stdout) == without_time.sub("", loud.stdout)
    assert invoke(*command.split()).stderr


def test_training_prints_its_result_and_keeps_its_log(data):
    loud, quiet = invoke(*TRAIN.format("a").split()), invoke("-q", *TRAIN.format("b").split())
    assert "Brown clusters of" in loud.stderr
    assert "nats/word" in loud.stderr
    assert "a: epoch 1.00, 20 sentences: dev perplexity of words and trees " in loud.stderr
    # the result is no line of the log
    assert loud.stdout.startswith("a: best: epoch ") and loud.stdout not in loud.stderr
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout.replace("a: ", "b: ", 1)
    events = [json.loads(line)["event"] for line in Path("b/log.jsonl").read_text().splitlines()]
    assert {"progress", "evaluation"} <= set(events)


def test_warnings_stay(data):
    Path("in.txt").write_text("the_DT dog_NN ran_VBD ._ODD\n")
    quiet = invoke("-q", "parse", "--model", MODELS / "parser", "in.txt", "--tagged")
    assert quiet.stderr == "POS tags unseen in training, taken for an average tag: ODD (1)\n"


PROGRAM = """
from rnng_dy.cli import messages
messages.LOGGED = messages.REDRAWN = 0
messages.show_messages()
with messages.progress("parse", total=3) as shown:
    for _ in range(3):
        shown.update()
"""


def test_a_bar_is_redrawn_on_a_terminal():
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with started(*PYTHON, PROGRAM, stderr=slave) as process:
        os.close(slave)
        shown = b""
        # Linux ends a terminal that nobody writes to any more with an error
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:
            pass
        process.wait()
    os.close(master)
    assert process.returncode == 0
    assert shown.decode().count("\r") >= 3
    assert "parse: 100%" in shown.decode()


def test_plain_lines_where_there_is_no_terminal():
    *_, last = run(None, PROGRAM, command=PYTHON).stderr.splitlines()
    assert re.match(r"parse: 100% 3/3 \[.* sentences/s\]$", last)


def test_what_an_earlier_run_has_done_is_not_in_the_rate(capsys):
    show_messages()
    with progress("parse", done=1000) as shown:
        shown.update()
    assert "parse: 1001 sentences [" in capsys.readouterr().err
