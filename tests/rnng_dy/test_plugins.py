"""Plugins: files whose classes join the registries, which models name and workers are sent."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import nltk
import pytest

import rnng_dy
from oracle.common import plugins
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.parallel import Workers

from ..commands import COMMAND, invoke
from ..conftest import tiny_trees
from ..pages import CHECKOUT
from ..plugin_state import no_plugins
from .conftest import make_parser

PAGE = (CHECKOUT / "docs" / "extending.md").read_text(encoding="utf-8")
CODE = {
    re.match(r"# (\w+\.py)\n", block)[1]: block
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
}
SUM = """
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS, Composition, by_children
from rnng_dy.models.vectors import join, value_of


@COMPOSITIONS.register
class Sum(Composition):
    name = "sum"

    def __call__(self, constituents, dropout=0.0):
        child = value_of([child for c in constituents for child in c.children])
        return join([dy.sum_dim(m, [1]) for _, m in by_children(child, constituents)])
"""


@pytest.fixture(autouse=True)
def alone(here):
    """No plugin is loaded before and after each test, which works in a folder of its own."""
    with no_plugins():
        yield


def write(text, name="mine.py"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def trees():
    Path("t.trees").write_text(tiny_trees(0, 4), encoding="utf-8")
    return "t.trees"


# loading


def test_a_file_is_loaded_once_until_it_changes():
    """As in a notebook, where a mistake is corrected."""
    write(SUM + "\n1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        rnng_dy.load_plugin("mine.py")
    rnng_dy.load_plugin(write(SUM))
    found = COMPOSITIONS["sum"]
    rnng_dy.load_plugin("mine.py")
    assert COMPOSITIONS["sum"] is found
    rnng_dy.load_plugin(write(SUM + "# a comment\n"))
    assert COMPOSITIONS["sum"] is not found


def test_another_file_of_the_same_name_is_refused():
    rnng_dy.load_plugin(write(SUM))
    Path("other").mkdir()
    with pytest.raises(rnng_dy.InputError, match=r"mine\.py is loaded and has the same name"):
        rnng_dy.load_plugin(write(SUM + "# other\n", "other/mine.py"))
    rnng_dy.load_plugin("./mine.py")


def test_the_option_names_plugins():
    write(SUM)
    reader = write(CODE["tagged_lines.py"], "reader.py")
    Path("tagged.txt").write_text("it_PRP works_VBZ\n", encoding="utf-8")
    line = ("--plugin", reader, "-q", "prepare", "tagged.txt", "--from", "tagged-lines")
    assert invoke(*line).stdout == "(S (PRP it) (VBZ works))\n"
    shown = invoke("--plugin", "mine.py", "train", "generative", "--help").stdout
    assert "|gated-attention|sum]" in re.sub(r"\s", "", shown)


@pytest.fixture
def parser(sentences):
    """The folder of a parser with the composition of `mine.py`."""
    with no_plugins():
        rnng_dy.load_plugin(write(SUM))
        make_parser(sentences, "sum", tags=False).save("parser")
    Path("words.txt").write_text("the cat saw a dog .\nshe slept .\n", encoding="utf-8")
    return "parser"


def test_a_mistake_is_shown_with_its_traceback(parser):
    before, last = SUM.rsplit("        return", 1)
    write(f"{before}        child = None[0]\n        return{last}")
    command = ("-q", "--plugin", "mine.py", "parse", "--model", parser, "words.txt")
    said = subprocess.run([*COMMAND, *command], capture_output=True, text=True)
    assert said.returncode == 1
    assert 'mine.py", line 13, in __call__' in said.stderr and said.stdout == ""
    assert said.stderr.endswith("TypeError: 'NoneType' object is not subscriptable\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SUM.replace('"sum"', '"buggy"'), "the name 'buggy' is taken: give the composition"),
        (SUM.replace('"sum"', '"my sum"'), "<class 'rnng_dy_plugin_mine.Sum'> is no composition"),
        (SUM.replace('"sum"', "5"), "<class 'rnng_dy_plugin_mine.Sum'> is no composition"),
        ("from oracle.transitions import SYSTEMS\nSYSTEMS.register(int)\n", "<class 'int'> is no "),
    ],
)
def test_a_class_that_cannot_be_registered_is_refused(text, message):
    write(text)
    said = invoke("--plugin", "mine.py", "prepare", trees(), "--from", "trees", code=2).stderr
    assert said.startswith(f"Error: {message}")


@pytest.mark.parametrize("wrong", ["dy.concatenate([child, child])", "None"])
def test_vectors_of_another_shape_are_refused(parser, wrong):
    before, last = SUM.rsplit("        return", 1)
    rnng_dy.load_plugin(write(f"{before}        return {wrong}\n        return{last}"))
    model = rnng_dy.load(parser)
    with pytest.raises(ValueError, match=r"^Sum gives .*shape \(10,\) in a batch of 1 is needed"):
        model(["she", "slept"])


def test_weights_need_not_come_with_the_state(parser):
    equal = """
    has_weights = True

    def weights(self, constituents):
        assert value_of(constituents).dim() == ((10,), len(constituents))
        return [[1 / len(c.children)] for c in constituents]
"""
    rnng_dy.load_plugin(write(SUM + equal))
    found = rnng_dy.load(parser).attention(nltk.Tree.fromstring("(S (NP (X a) (X b)) (VP (X c)))"))
    assert [(label, weights[0]) for label, weights in found] == [("NP", 0.5), ("VP", 1), ("S", 0.5)]


# models


def test_a_model_names_what_it_needs_and_no_other_plugin(parser, sentences):
    for name in ("mine.py", "shared_state.py", "unigrams.py"):
        rnng_dy.load_plugin(name if name == "mine.py" else write(CODE[name], name))
    make_parser(sentences, "sum", state="shared").save("both")
    make_parser(sentences).save("neither")
    needs = {"parser": ["mine.py"], "both": ["mine.py", "shared_state.py"], "neither": None}
    for name, needed in needs.items():
        assert json.loads(Path(name, "config.json").read_text("utf-8")).get("plugins") == needed


def test_a_model_without_its_plugin_is_refused_though_its_folder_has_the_file(parser):
    """Folders of 0.3 have hashes by the files' names."""
    shutil.copy("mine.py", Path(parser, "mine.py"))
    path = Path(parser, "config.json")
    config = json.loads(path.read_text("utf-8"))
    for needed in (["mine.py"], {"mine.py": "0" * 64}):
        path.write_text(json.dumps(config | {"plugins": needed}), encoding="utf-8")
        said = invoke("parse", "--model", parser, "words.txt", code=2).stderr
        assert "parser/config.json: this model needs the plugin mine.py: give it with" in said
        with no_plugins():
            shown = invoke("--plugin", "mine.py", "parse", "--model", parser, "words.txt").stdout
        assert len(shown.splitlines()) == 2


def test_a_plugin_that_changed_after_the_training_is_told_and_not_resumed():
    train = ("train", "generative", "--trees", trees(), "--hold-out", "0.5", "--model", "m")
    train += ("--composition", "sum", "--epochs", "1", "--hidden", "8", "--set", "lstm_input=8")
    with no_plugins():
        invoke("--plugin", write(SUM), *train)
    with no_plugins():
        assert "mine.py" not in invoke("--plugin", "mine.py", "models", "show", "m").stderr
    write(SUM.replace("[1])", "[1]) * 2"))
    with no_plugins():
        said = invoke("--plugin", "mine.py", "models", "show", "m").stderr
        assert "m: mine.py has changed since this model was trained with it" in said
        said = invoke("--plugin", "mine.py", *train, "--resume", code=2).stderr
        assert "m was trained with another mine.py: resume with it" in said


# other processes


def names_there(_):
    return [*COMPOSITIONS], dict(plugins.loaded)


def test_workers_are_sent_the_text():
    """The file is gone when they begin."""
    rnng_dy.load_plugin(write(SUM))
    os.unlink("mine.py")
    with Workers(jobs=2) as workers:
        found = [there for _, there in workers.map(names_there, [1, 2])]
    assert found == [([*COMPOSITIONS], {os.path.abspath("mine.py"): SUM})] * 2
