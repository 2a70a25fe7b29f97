"""Plugins: loaded once, recorded by models, carried to other processes, and blamed for their own mistakes."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
import warnings
from pathlib import Path

import pytest

import rnng_dy
from oracle.errors import InputError, PluginError, RnngError
from oracle.registries import Origin
from rnng_dy import plugins
from rnng_dy.execution.local import Command, RunningProcess
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.parallel import Workers

from ..commands import COMMAND, invoke, run
from ..pages import CHECKOUT
from ..plugin_state import no_plugins
from .conftest import TINY, make_generator, make_parser

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
SEARCH = """
from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.surprisal import SEARCHES


@SEARCHES.register
class Own(BeamSearch):
    name = "own"

    def read(self, reading, word):
"""


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No plugin is loaded before and after each test, which works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with no_plugins():
        yield


def write(text, name="mine.py"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def trees():
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)[:4]
    Path("t.trees").write_text("".join(lines), encoding="utf-8")
    return "t.trees"


# loading


def test_a_content_is_loaded_once_whatever_its_file_is_called(tmp_path):
    rnng_dy.load_plugin(write(SUM))
    found = COMPOSITIONS["sum"]
    rnng_dy.load_plugin(tmp_path / "mine.py")
    rnng_dy.load_plugin(write(SUM, "other.py"))
    assert COMPOSITIONS["sum"] is found
    assert COMPOSITIONS.origins == {"sum": Origin("mine.py", sha256("mine.py"))}
    assert [plugin.path for plugin in plugins.loaded()] == ["mine.py"]


def test_another_content_under_a_name_that_is_loaded_is_an_error():
    rnng_dy.load_plugin(write(SUM))
    write(SUM.replace('"sum"', '"other"'))
    with pytest.raises(PluginError, match=r"^mine.py: another content of mine.py is loaded"):
        rnng_dy.load_plugin("mine.py")
    assert "other" not in COMPOSITIONS


def test_the_variable_and_the_option_name_plugins_anywhere(monkeypatch):
    write(SUM)
    reader = write(CODE["tagged_lines.py"], "reader.py")
    Path("tagged.txt").write_text("it_PRP works_VBZ\n", encoding="utf-8")
    monkeypatch.setenv("RNNG_DY_PLUGINS", f"mine.py{os.pathsep}")
    command = ["prepare", "tagged.txt", "--from", "tagged-lines", "-q"]
    for line in (["--plugin", reader, *command], [*command, "--plugin", reader]):
        assert invoke(*line).stdout == "(S (PRP it) (VBZ works))\n"
    shown = invoke("train", "generative", "--help").stdout
    assert "|gated-attention|sum]" in re.sub(r"\s", "", shown)


def test_names_of_plugins_are_completed():
    write(SUM)
    line = "rnng-dy --plugin mine.py train generative --composition s"
    asked = {"COMP_WORDS": line, "COMP_CWORD": "6", "_RNNG_DY_COMPLETE": "bash_complete"}
    program = "import sys\nfrom rnng_dy.__main__ import main\nsys.argv = ['rnng-dy']\nmain()"
    command = (COMMAND[0], "-c", program)
    assert run(None, command=command, env=os.environ | asked).stdout == "plain,sum\n"
    write("(")
    assert run(None, command=command, env=os.environ | asked).stdout.strip() == ""


def install(folder, text):
    """An installed package with an entry point."""
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "__init__.py").touch()
    (folder / "mine" / "parts.py").write_text(text, encoding="utf-8")
    info = folder / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: mine\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[rnng_dy.plugins]\nparts = mine.parts\n", encoding="utf-8"
    )


def test_plugins_of_installed_packages_are_loaded_and_blamed(tmp_path):
    site = tmp_path / "site"
    install(site, SUM)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", str(CHECKOUT))])
    options = {"env": os.environ | {"PYTHONPATH": path}}
    shown = run(None, "doctor", **options).stdout
    parts = site / "mine" / "parts.py"
    assert f"plugin     mine.parts (sha256 {sha256(parts)}) of {parts}\n" in shown
    program = (
        "import mine.parts\nfrom rnng_dy import plugins\nfrom rnng_dy.models.composition import COMPOSITIONS\n"
        "plugins.load_named()\nprint(COMPOSITIONS.origins['sum'].name)"
    )
    assert run(None, command=(COMMAND[0], "-c", program), **options).stdout == "mine.parts\n"
    parts.write_text("\n1 / 0\n", encoding="utf-8")
    said = run(None, "doctor", code=2, **options).stderr
    assert said == f"Error: {parts}:2: ZeroDivisionError: division by zero\n"


# mistakes while it is loaded

MISTAKES = {
    "syntax": ("\n\n\ndef f()\n", "mine.py:4: SyntaxError: expected ':'"),
    "import": (
        "\nimport no_such_module\n",
        "mine.py:2: ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "exception": ("\n\n[][1]\n", "mine.py:3: IndexError: list index out of range"),
    "exit": ("import sys\nsys.exit(3)\n", "mine.py:2: SystemExit: 3"),
    "taken": (
        SUM.replace('"sum"', '"buggy"').strip() + "\n",
        "mine.py:6: the name 'buggy' is taken: give the composition another one",
    ),
    "nothing": (
        "x = 1\n",
        "mine.py: it registers nothing: say for example `@COMPOSITIONS.register` before a class",
    ),
    "sort": (
        "from oracle.transitions import SYSTEMS\nSYSTEMS.register(int)\n",
        "mine.py:2: <class 'int'> is no transition system: derive a class from "
        "<class 'oracle.transitions.base.TransitionSystem'>",
    ),
    "name": (
        SUM.replace('"sum"', '"my sum"').strip() + "\n",
        "mine.py:6: the composition Sum needs a `name` of letters, digits and . + - _, not 'my sum'",
    ),
    "zeros": ("x = '\0'\n", "mine.py: SyntaxError: source code string cannot contain null bytes"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_while_it_is_loaded_ends_the_command_and_names_the_line(mistake):
    text, message = MISTAKES[mistake]
    write(text)
    before = dict(COMPOSITIONS)
    result = invoke("--plugin", "mine.py", "prepare", trees(), "--from", "trees", code=2)
    assert result.stderr.replace("ValueError", "SyntaxError") == f"Error: {message}\n"
    assert result.stdout == "" and before == COMPOSITIONS


@pytest.mark.parametrize("mistake", ["syntax", "taken", "nothing"])
def test_the_page_shows_such_messages(mistake):
    assert f"    Error: {MISTAKES[mistake][1]}\n" in PAGE


def test_what_failed_can_be_loaded_when_it_is_right():
    write(SUM + "\n1 / 0\n")
    with pytest.raises(PluginError, match=r"^mine.py:\d+: ZeroDivisionError"):
        rnng_dy.load_plugin("mine.py")
    assert "sum" not in COMPOSITIONS and COMPOSITIONS.origins == {}
    rnng_dy.load_plugin(write(SUM))
    assert "sum" in COMPOSITIONS


def test_a_plugin_that_loads_another_has_its_own_classes_alone():
    write(SUM, "inner.py")
    write("import rnng_dy\nrnng_dy.load_plugin('inner.py')\n" + SUM.replace('"sum"', '"outer"'))
    rnng_dy.load_plugin("mine.py")
    assert {name: origin.name for name, origin in COMPOSITIONS.origins.items()} == {
        "sum": "inner.py",
        "outer": "mine.py",
    }


def test_a_file_that_is_not_there_is_named():
    said = invoke("--plugin", "none.py", "prepare", trees(), "--from", "trees", code=2).stderr
    assert said == "Error: none.py: No such file or directory\n"


# mistakes while it works


@pytest.fixture
def parser(sentences):
    """The folder of a parser with the composition of `mine.py`."""
    with no_plugins():
        rnng_dy.load_plugin(write(SUM))
        make_parser(sentences, "sum", tags=False).save("parser")
    Path("words.txt").write_text("the cat saw a dog .\nshe slept .\n", encoding="utf-8")
    return "parser"


WRONG = {
    "exception": (
        "child = None[0]",
        "mine.py:13: TypeError: 'NoneType' object is not subscriptable",
    ),
    "value": ("raise ValueError('no')", "mine.py:13: ValueError: no"),
    "file": ("open('no such file')", "mine.py:13: FileNotFoundError: [Errno 2] No such file"),
    "dimensions": (
        "return child * child",
        "mine.py:13: ValueError: Mismatched input dimensions in MatrixMultiply",
    ),
    "unpicklable": (
        "raise type('Own', (Exception,), {'__init__': lambda self, a, b: None})(1, 2)",
        "mine.py:13: Own",
    ),
    "shape": (
        "return dy.concatenate([child, child])",
        "mine.py:11: `Sum.__call__` gives shape (20,) in a batch of ",
    ),
    "nothing": ("return None", "mine.py:11: `Sum.__call__` gives None, and shape (10,) in a batch"),
}


@pytest.mark.parametrize(
    ("mistake", "jobs"), [*((name, 1) for name in WRONG), ("unpicklable", 2), ("shape", 2)]
)
def test_a_mistake_in_a_composition_ends_the_command_and_names_the_line(parser, mistake, jobs):
    """Not as want of memory, and no sentence is left out."""
    line, message = WRONG[mistake]
    before, last = SUM.rsplit("        return", 1)
    write(f"{before}        {line}\n        return{last}")
    command = ("parse", "--model", parser, "words.txt", "--jobs", jobs, "--plugin", "mine.py", "-q")
    result = invoke(*command, code=2)
    error = result.stderr.splitlines()[-1]
    assert error.startswith(f"Error: {message}")
    assert (result.stdout, "memory" in result.stderr) == ("", False)


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_a_composition_is_an_error_in_python_too(parser, mistake):
    before, last = SUM.rsplit("        return", 1)
    rnng_dy.load_plugin(write(f"{before}        {WRONG[mistake][0]}\n        return{last}"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plugins.PluginWarning)
        model = rnng_dy.load(parser)
    with pytest.raises(Exception) as caught, plugins.blamed():
        model(["she", "slept"])
    assert type(caught.value) is PluginError


def test_a_composition_that_cannot_be_made_is_blamed_and_not_the_folder(parser):
    write(
        SUM.replace('name = "sum"', 'name = "sum"\n\n    def __init__(self, store):\n        pass')
    )
    said = invoke("parse", "--model", parser, "words.txt", "--plugin", "mine.py", code=2).stderr
    error = (
        "mine.py:11: `Sum.__init__` cannot be called: Sum.__init__() takes 2 positional arguments"
    )
    assert f"Error: {error}" in said
    write(SUM.replace('name = "sum"', 'name = "sum"\n\n    def __init__(self, *a):\n        a.x'))
    with no_plugins():
        said = invoke("parse", "--model", parser, "words.txt", "--plugin", "mine.py", code=2).stderr
    assert said.endswith("Error: mine.py:12: AttributeError: 'tuple' object has no attribute 'x'\n")


SEARCHED = {
    "exception": (
        "yield from ()\n        1 / 0",
        "mine.py:12: ZeroDivisionError: division by zero",
    ),
    "no generator": ("return reading", "mine.py:10: `Own.read` is no generator"),
    "request": ("yield 7", "mine.py:11: TypeError: yields 7, and no ExpansionRequest"),
    "state": (
        "yield from super().read(reading, word)",
        "mine.py:10: `Own.read` gives None, and no SearchState",
    ),
    "shape": (
        "from dataclasses import replace\n"
        "        return replace((yield from super().read(reading, word)), shares=[])",
        "mine.py:10: `Own.read` gives log_mass and shares of shapes ((1,), (0,))",
    ),
}


@pytest.mark.parametrize("mistake", SEARCHED)
def test_a_mistake_in_a_search_ends_the_command_and_names_the_line(mistake, generative_sentences):
    code, message = SEARCHED[mistake]
    make_generator(generative_sentences).save("generator")
    Path("words.txt").write_text("she slept .\n", encoding="utf-8")
    write(f"{SEARCH}        {code}\n")
    command = ("surprisal", "--model", "generator", "words.txt", "--search", "own")
    result = invoke(*command, "--plugin", "mine.py", "-q", code=2)
    assert result.stderr.splitlines()[-1].startswith(f"Error: {message}")
    assert "memory" not in result.stderr


def test_a_scorer_and_a_reader_of_other_things_are_blamed():
    scorer = CODE["unigrams.py"].replace(
        "for word in [*words, None]] for", "for word in words] for"
    )
    write(scorer, "unigrams.py")
    Path("words.txt").write_text("the cat\n", encoding="utf-8")
    line = ("surprisal", "--scorer", "unigrams=words.txt", "words.txt", "--plugin", "unigrams.py")
    said = invoke(*line, "-q", code=2).stderr
    assert said.startswith(
        "Error: unigrams.py:21: `Unigrams.surprisals_of` gives no WordRecord for"
    )
    reader = CODE["tagged_lines.py"].replace('LocatedTree(Tree("S", leaves), path, number)', "line")
    write(reader, "reader.py")
    line = ("prepare", "words.txt", "--from", "tagged-lines", "--plugin", "reader.py")
    said = invoke(*line, code=2).stderr
    assert said == "Error: words.txt:1: a token without a tag\n"
    Path("words.txt").write_text("the_DT\n", encoding="utf-8")
    said = invoke(*line, code=2).stderr
    assert "reader.py:15: `TaggedLines.read` gives 'the_DT\\n', and no LocatedTree" in said


# models


def test_a_model_records_what_it_needs_and_no_other_plugin(parser, sentences):
    rnng_dy.load_plugin("mine.py")
    rnng_dy.load_plugin(write(CODE["shared_state.py"], "shared_state.py"))
    rnng_dy.load_plugin(write(CODE["unigrams.py"], "unigrams.py"))
    make_parser(sentences, "sum", state="shared").save("both")
    make_parser(sentences).save("neither")
    configs = {
        name: json.loads(Path(name, "config.json").read_text("utf-8"))
        for name in ("parser", "both", "neither")
    }
    needed = {name: sha256(name) for name in ("mine.py", "shared_state.py")}
    assert configs["both"]["plugins"] == needed
    assert configs["parser"]["plugins"] == {"mine.py": needed["mine.py"]}
    assert "plugins" not in configs["neither"]


def test_a_model_without_its_plugin_is_refused_though_its_folder_has_the_file(parser):
    shutil.copy("mine.py", Path(parser, "mine.py"))
    needed = f"this model needs the plugin mine.py (sha256 {sha256('mine.py')}): "
    needed += "give it with --plugin FILE.py or RNNG_DY_PLUGINS"
    with pytest.raises(InputError) as caught:
        rnng_dy.load(parser)
    assert str(caught.value).startswith(f"parser/config.json: {needed}")
    assert "sum" not in COMPOSITIONS
    assert needed in invoke("parse", "--model", parser, "words.txt", code=2).stderr


def test_a_model_says_which_plugin_it_needs_only_as_names_and_hashes(parser):
    path = Path(parser, "config.json")
    config = json.loads(path.read_text("utf-8"))
    for wrong in (["mine.py"], {"mine.py": 1}, "mine.py"):
        path.write_text(json.dumps(config | {"plugins": wrong}), encoding="utf-8")
        with pytest.raises(InputError, match="damaged: `plugins` has no hashes by names"):
            rnng_dy.load(parser)


def test_python_finds_the_plugins_that_the_variable_names(parser, monkeypatch):
    monkeypatch.setenv("RNNG_DY_PLUGINS", "mine.py")
    assert rnng_dy.load(parser).compose.name == "sum"


def test_another_content_is_warned_of_once_and_a_renamed_file_is_not(parser):
    shutil.move("mine.py", "renamed.py")
    shown = run(None, "parse", "--model", parser, "words.txt", "--plugin", "renamed.py", "-q")
    assert len(shown.stdout.splitlines()) == 2 and "Warning" not in shown.stderr
    write(SUM + "# a comment\n")
    command = ("parse", "--model", parser, "words.txt", "--plugin", "mine.py", "-q", "--jobs", 2)
    again = run(None, *command)
    assert again.stdout == shown.stdout
    assert again.stderr.startswith(
        "Warning: parser/config.json: the model was made with another content of the plugin mine.py"
    )
    assert again.stderr.count("Warning") == 1


def test_a_changed_plugin_does_not_go_on_with_the_output_of_another(parser):
    rnng_dy.load_plugin("mine.py")
    before = rnng_dy.load(parser) and plugins.hashes()
    with no_plugins():
        rnng_dy.load_plugin(write(SUM + "# a comment\n"))
        assert plugins.hashes() != before


# other processes


def names_there(_):
    return [*COMPOSITIONS], [plugin.sha256 for plugin in plugins.loaded()]


def test_workers_are_sent_the_content():
    """The file is gone when they begin."""
    rnng_dy.load_plugin(write(SUM))
    known = sha256("mine.py")
    os.unlink("mine.py")
    with Workers(jobs=2) as workers:
        found = [there for _, there in workers.map(names_there, [1, 2])]
    assert found == [([*COMPOSITIONS], [known])] * 2


def test_a_command_of_its_own_is_sent_the_content(monkeypatch):
    rnng_dy.load_plugin(write(CODE["short_runs.py"]))
    os.unlink("mine.py")
    # of another run, in the environment
    monkeypatch.setenv("RNNG_DY_PLUGINS", "gone.py")
    arguments = ("oracle", "--train", trees(), "t.trees", "--transitions", "short-runs")
    folder = Path.cwd()
    sent = tuple(plugins._loaded.values())
    command = Command(arguments, folder, folder / "log", folder / "out.oracle", sent)
    assert RunningProcess(command).wait() == 0, Path("log").read_text("utf-8")
    assert Path("out.oracle").read_text("utf-8").count("NT(S)") >= 4
    wrong = [plugin._replace(sha256="0" * 64) for plugin in sent]
    assert RunningProcess(Command(arguments, folder, folder / "log", None, wrong)).wait() == 2
    assert "Error: mine.py: it was changed on its way to this process" in Path("log").read_text()


@pytest.mark.slow
def test_ranks_of_mpi_are_sent_the_content(tmp_path):
    """The second rank's folder has no such file."""
    mpirun = Path(COMMAND[0]).with_name("mpirun")
    if not mpirun.exists():
        pytest.skip("no mpirun")
    other = tmp_path / "other"
    other.mkdir()
    write(SUM)
    training = ["--trees", trees(), "--dev-trees", "t.trees", "--model", "m", "--preset", "quick"]
    training += ["--composition", "sum", "--mpi", "--epochs", "1", "--hidden", "8", "-q"]
    rank = [*COMMAND, "--plugin", "mine.py", "train", "discriminative", *training]
    line = [mpirun, "-n", 1, "-wdir", tmp_path, *rank, ":", "-n", 1, "-wdir", other, *rank]
    run(tmp_path, *line[1:], command=(mpirun,))
    config = json.loads(Path("m", "config.json").read_text("utf-8"))
    assert config["plugins"] == {"mine.py": sha256("mine.py")}
    assert not list(other.iterdir())


def test_a_training_process_names_the_line_of_a_plugin():
    condition = (
        "        import multiprocessing\n        assert multiprocessing.parent_process() is None"
    )
    before, last = SUM.rsplit("        return", 1)
    write(f"{before}{condition}\n        return{last}")
    training = ("--trees", trees(), "--dev-trees", "t.trees", "--model", "m", "--preset", "quick")
    command = ("train", "discriminative", *training, "--composition", "sum", "--epochs", 1)
    said = run(None, *command, "--jobs", 2, "--plugin", "mine.py", "-q", code=2).stderr
    error = "Error: training process 1: mine.py:14: AssertionError; continue with --resume"
    assert said.splitlines()[-1] == error


def test_a_model_is_pickled_with_the_plugins_of_the_process(parser):
    rnng_dy.load_plugin("mine.py")
    content = pickle.dumps(rnng_dy.load(parser))
    assert pickle.loads(content).compose.name == "sum"
    with no_plugins(), pytest.raises(RnngError, match=r"needs the plugin mine\.py"):
        pickle.loads(content)
