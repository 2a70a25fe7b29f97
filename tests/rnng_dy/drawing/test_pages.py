"""Pages: any text on any page is text; without Jinja2 a command that needs it says so at once."""

import math
import re
import shutil
import sys
from html.parser import HTMLParser

import pytest
from jinja2 import UndefinedError

from oracle.brackets import parse_line
from oracle.transitions import TOP_DOWN
from rnng_dy.cli.options import write_output
from rnng_dy.drawing import pages
from rnng_dy.drawing.sections import DrawnTree, section
from rnng_dy.evaluation.records import WordRecord
from tests.commands import PYTHON, invoke, run
from tests.conftest import DATA

from ..conftest import write_untrained

ATTACKS = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)//",
    '" onload="alert(4)" x=\'',
    "{{ 7 * 7 }}{% raw %}",
    "a\x00b\x1b[31m",
    "\u202etxt.exe",
    "\ufffe\ud800",
)
VOID = ("meta", "input")


class Parsed(HTMLParser):
    """The elements of a page, each of which ends, and the content of scripts and of all else."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        else:
            self.texts.append(data)


def surprisals(text):
    records = [WordRecord(text, f"UNK{text}", 2.0), WordRecord("b", None, math.nan)]
    shown = pages.values([records], TOP_DOWN)
    return pages.parts("surprisal.html", title=text, description=text, **shown)


def drawn_trees(text):
    brackets = f"(S (X{text.translate(str.maketrans('() ', '[]_'))} a))"
    tree = DrawnTree(parse_line(brackets.replace("\n", ""), any_bytes=True))
    found = [section(1, [tree]), section(2, [])]
    return pages.parts("trees.html", sections=found, title=text, description=text)


@pytest.mark.parametrize("text", ATTACKS)
@pytest.mark.parametrize("page", [surprisals, drawn_trees])
def test_any_text_is_text(page, text):
    """Nothing of it is an element, attribute or script; the page is UTF-8 that HTML can hold."""
    made, plain = ("".join(page(x)) for x in (text, "plain"))
    made.encode("utf-8")
    found, expected = Parsed(made), Parsed(plain)
    assert [name for name, _ in found.attributes] == [name for name, _ in expected.attributes]
    assert found.scripts == expected.scripts
    shown = "\n".join([*found.texts, *(value or "" for _, value in found.attributes)])
    assert not re.search("[\0-\x08\x0b-\x1f\u202e\ufffe]", shown)
    if text.isprintable() and page is not drawn_trees:
        assert text in shown


def test_what_a_template_is_not_given_is_an_error_that_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(UndefinedError, match="title"):
        write_output(str(path), pages.parts("trees.html", sections=[], description=""))
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.fixture(scope="module")
def data(trees, tmp_path_factory):
    """A folder with untrained models, oracles and trees."""
    folder = tmp_path_factory.mktemp("data")
    write_untrained(folder, trees)
    shutil.copytree(DATA / "models-0.1.0" / "parser", folder / "trained")
    return folder


COMMANDS = [
    "surprisal --model generator some.gen.oracle -o out -o page.html",
    "suite agreement-pp --model generator -o out -o page.html",
    "show some.trees -o page.html",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_jinja2_the_command_says_before_its_work_what_to_install(
    data, command, monkeypatch
):
    monkeypatch.chdir(data)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    before = sorted(data.iterdir())
    refused = invoke(*command.split(), code=2)
    assert refused.stderr.startswith("Error: a page needs Jinja2 (")
    assert refused.stderr.endswith("): pip install 'rnng_dy[pages]'\n")
    assert refused.stdout == "" and sorted(data.iterdir()) == before


def test_nothing_but_pages_needs_jinja2(data):
    """All commands load, and those that write no page run."""
    program = """
import sys
sys.modules["jinja2"] = sys.modules["markupsafe"] = None
from rnng_dy.cli import COMMANDS, main
for name in COMMANDS:
    main.get_command(None, name)
main("show some.trees -o out.svg".split(), standalone_mode=False)
"""
    run(data, program, command=PYTHON)
    assert (data / "out.svg").exists()
