"""`rnng-dy show`."""

import os
import pty
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.commands import invoke, run

GOLD = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
WORSE = "(S (NP (DT The) (NN cat)) (VBD sat) (. .))"
SAMPLE = "(S (NP The UNK) (VP sat) .)"


def show(*arguments, code=0, text=None):
    return invoke("show", *arguments, code=code, input=text)


@pytest.fixture(autouse=True)
def files(here):

    def write(**contents):
        for name, lines in contents.items():
            Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    write(gold=[GOLD, GOLD, GOLD], system=[GOLD, WORSE, ""])
    return write


def test_trees_are_drawn_under_their_numbers_and_empty_lines_counted():
    drawn = show("system").stdout
    assert drawn.startswith("1\n         S\n     ┌")
    assert drawn.count("The     cat sat  .") == 2
    assert drawn.endswith("3: no tree\n\n")


def test_gold_stands_above_the_system_with_errors_marked_in_both():
    first, second = show("system", "--gold", "gold").stdout.split("2: ")
    assert first.startswith("1: F1 100.00\n") and "gold" not in first
    second, third = second.split("3: ")
    assert second.startswith("F1 80.00, 0 wrong, 1 missed\ngold\n")
    gold, system = second.split("system\n")
    assert "*VP*" in gold and "*" not in system
    assert third.startswith("no tree\ngold\n")


def test_only_sentences_with_errors():
    shown = show("system", "--gold", "gold", "--only-errors").stdout
    assert "1: F1" not in shown and "2: F1" in shown and "3: no tree" in shown


def test_gold_tags_decide_what_counts_in_both_trees(files):
    """The system took the full stop for a noun, which EVALB then keeps."""
    files(gold=[GOLD, GOLD], system=[GOLD, WORSE.replace("(. .)", "(NN .)")])
    assert "2: F1 80.00, " in show("system", "--gold", "gold").stdout


def test_equal_samples_are_drawn_once_and_counted(files):
    files(props=[f"0 ||| -0.5 ||| {SAMPLE}"] * 2 + ["0 ||| -2.25 ||| (S (NP The UNK) sat .)"])
    alone = show("props").stdout
    assert "2 of 3, log probability -0.50" in alone and "1 of 3, log probability -2.25" in alone


@pytest.mark.parametrize("style", ["svg", "html"])
def test_drawings_go_to_a_file(style):
    assert show("system", "--gold", "gold", "-o", f"out.{style}").stdout == ""
    text = Path(f"out.{style}").read_text(encoding="utf-8")
    assert text == show("system", "--gold", "gold", "--format", style).stdout
    if style == "svg":
        ET.fromstring(text)
    else:
        assert "<p>3 sentences</p>" in text


@pytest.mark.parametrize("style", ["txt", "svg", "html"])
def test_deep_and_wide_trees_are_drawn(files, style):
    deep = "(A (T t) " * 5000 + "(B b)" + ")" * 5000
    files(gold=[deep], system=[deep.replace("(B b)", "(C (B b))")])
    assert show("system", "--gold", "gold", "-o", f"out.{style}").stdout == ""
    files(wide=["(S" + " (N a)" * 3000 + ")"])
    show("wide", "-o", f"out.{style}")


def bad(*arguments, text=None):
    return " ".join(show(*arguments, code=2, text=text).stderr.split())


def test_other_words_than_gold_name_both_places(files):
    files(system=[GOLD, GOLD.replace("cat", "dog"), GOLD])
    assert "system:2: other words than the gold tree at gold:2" in bad("system", "--gold", "gold")
    files(system=[GOLD, "(S (NP (DT The)))", GOLD])
    assert "system:2: other words than the gold tree at gold:2" in bad("system", "--gold", "gold")


def test_bad_input_has_one_message(files):
    files(short=[GOLD], broken=[GOLD, "(S (NP"], bare=["(S a b)"] * 3, empty=[])
    files(late=[f"7 ||| -1 ||| {SAMPLE}"], gaps=["", GOLD, GOLD], noise=["1 ||| x ||| (S a)"])
    assert "broken:2: unbalanced brackets" in bad("broken")
    says = "short: 1 sentences, but gold has 3: give one tree for each"
    assert says in bad("short", "--gold", "gold")
    assert "late:1: a tree that is compared needs a tag" in bad("late", "--gold", "gold")
    assert "bare:1: a tree that is compared needs a tag" in bad("system", "--gold", "bare")
    assert "system:1: a tree of sentence 1, but gaps has none" in bad("system", "--gold", "gaps")
    files(two=[f"0 ||| -1 ||| {tree}" for tree in (GOLD, WORSE)])
    assert "two: several trees of a sentence: give one" in bad("two", "--gold", "short")
    assert "empty: no tree in this file" in bad("empty")
    assert "noise:1: log q is 'x', not a number" in bad("noise")
    assert "absent" in bad("absent")
    assert "only one of the files" in bad("-", "--gold", "-")
    assert "--only-errors goes with --gold" in bad("system", "--only-errors")
    assert "name another file for the output" in bad("system", "-o", "system")
    assert "is not one of 'txt', 'html', 'svg'" in bad("system", "--format", "pretty")


def test_a_drawing_is_as_wide_as_the_terminal():
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": "12"}
    try:
        run(None, "show", "system", stdout=its, env=environment, timeout=60)
        assert "(S\r\n  (NP" in os.read(ours, 100_000).decode()
    finally:
        os.close(its)
        os.close(ours)
