"""Nothing imports in a circle, and the examples of docs/extending.md work."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import nltk
import pytest

from oracle.transitions import TOP_DOWN
from rnng_dy import DiscriminativeParser
from rnng_dy.search.parsing import parse_batch
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from ..pages import CHECKOUT, blocks
from ..plugin_state import no_plugins
from .conftest import PARSER_SIZES, ParserVocabulary, make_parser
from .tiny_models import WORDS, all_trees, exact_log_q, make_tiny_parser, tokens_of

PACKAGES = ("oracle", "clusters", "rnng_dy")
PAGE = CHECKOUT / "docs" / "extending.md"


def modules(*packages: str) -> dict[str, Path]:
    found = {}
    for package in packages or PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            parts = path.relative_to(CHECKOUT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports anywhere, in functions and for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            source = node.module
            if node.level:
                place = path.parent.relative_to(CHECKOUT).parts
                assert place[0] == "scripts" and node.level == 1, f"{path}: a relative import"
                source = ".".join([*place, *filter(None, [node.module])])
            for alias in node.names:
                name = f"{source}.{alias.name}"
                if name in known:
                    yield name
                elif source in known:
                    yield source


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """A way through the graph that ends where it began."""
    done: set[str] = set()

    def visit(node: str, way: list[str]) -> list[str] | None:
        if node in way:
            return [*way[way.index(node) :], node]
        if node not in done:
            for target in sorted(graph[node]):
                if found := visit(target, [*way, node]):
                    return found
            done.add(node)
        return None

    return next((found for node in sorted(graph) if (found := visit(node, []))), None)


@pytest.fixture(scope="module")
def drawing():
    known = modules()
    return {name: set(imported(path, known)) - {name} for name, path in known.items()}


def test_no_module_imports_in_a_circle(drawing):
    assert len(drawing) > 80
    assert circle(drawing) is None


def test_no_room_imports_in_a_circle(drawing):
    """Rooms: packages and, where they are alone, modules; `rnng_dy` itself only hands on its classes."""

    def room(name: str) -> str:
        parts = name.split(".")
        return parts[0] if parts[0] != "rnng_dy" else ".".join(parts[:2])

    rooms: dict[str, set[str]] = {}
    for name, targets in drawing.items():
        if name != "rnng_dy":
            found = {room(target) for target in targets} - {room(name), "rnng_dy"}
            rooms.setdefault(room(name), set()).update(found)
    assert circle(rooms) is None
    assert rooms["oracle"] == set()
    assert rooms["clusters"] == {"oracle"}
    assert rooms["rnng_dy.evaluation"] <= {"oracle", "rnng_dy.text"}
    assert rooms["rnng_dy.text"] == {"oracle"}
    assert "rnng_dy.checkpoint" not in rooms["rnng_dy.search"]
    names = ("engine", "parameters", "settings", "vocabulary")
    assert rooms["rnng_dy.models"] <= {"oracle", *(f"rnng_dy.{name}" for name in names)}


def test_no_import_hides_in_a_string():
    """But the entrance, commands, libraries that load late, and the version, which the entrance has."""
    late = {n for n, p in modules().items() if "import_module(" in p.read_text(encoding="utf-8")}
    doors = {"rnng_dy", "rnng_dy.cli", "rnng_dy.engine", "oracle.common.lazy"}
    assert late == {*doors, "rnng_dy.model_folder"}


def test_scripts_import_the_packages_and_not_the_other_way():
    known = modules(*PACKAGES, "scripts")
    drawing = {name: set(imported(path, known)) - {name} for name, path in known.items()}
    assert circle(drawing) is None
    for name, targets in drawing.items():
        if not name.startswith("scripts."):
            assert not any(target.startswith("scripts.") for target in targets), name


def test_dynet_is_imported_by_the_engine_alone():
    for name, path in modules().items():
        if re.search(r"^\s*(import|from) _?dynet", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert name == "rnng_dy.engine"


def test_every_file_can_be_read_in_one_sitting():
    """At most 300 lines."""
    known = modules(*PACKAGES, "scripts")
    found = {n: p.read_text(encoding="utf-8").count("\n") for n, p in known.items()}
    assert {n: lines for n, lines in found.items() if lines > 300} == {}


@pytest.fixture
def examples():
    """The names that the examples of the page define."""
    with no_plugins():
        names: dict[str, object] = {}
        for block in blocks(PAGE, "python"):
            exec(block, names)
        yield names


def test_a_composition_that_is_added_trains_and_is_saved(examples, sentences, tmp_path):
    model = make_parser(sentences, "gated-sum")
    data = [model.encode_training(s) for s in sentences[:4]]
    updater = Updater(model, data, PRESETS["paper", "discriminative"])
    losses = [updater.update(range(4), i, 0.1) for i in range(12)]
    assert losses[-1] < 0.8 * losses[0]
    model.save(tmp_path / "m")
    again = DiscriminativeParser.load(tmp_path / "m")
    tokens = list(zip(sentences[0].tokens, sentences[0].tags, strict=True))
    assert again.parse_one(tokens) == model.parse_one(tokens)
    assert isinstance(again.network.composition, examples["GatedSum"])


def test_a_transition_system_that_is_added_parses_and_is_saved(examples, sentences, tmp_path):
    vocabulary = ParserVocabulary.from_oracle(sentences, use_tags=False)
    model = DiscriminativeParser(vocabulary, PARSER_SIZES, transitions="short-runs")
    # without the limit it would open all that can be open
    model.store.dense["action_bias"].set_value([0.0, 0.0] + [4.0] * (len(model.transitions) - 2))
    model.save(tmp_path / "m")
    tree = DiscriminativeParser.load(tmp_path / "m").parse_one(["it", "works"])
    assert TOP_DOWN.actions_of(tree)[:5] == [*[TOP_DOWN.actions_of(tree)[0]] * 4, "SHIFT"]
    deep = nltk.Tree.fromstring("(S (S (S (S (S (XX a) (XX b))))))")
    assert model.log_prob(deep) == -float("inf") < model.log_prob(deep[0])


def test_a_search_that_is_added_finds_the_best_of_all_trees(examples):
    beam_search, better = examples["beam_search"], 0
    parser = make_tiny_parser("corrected", max_open=1)
    for words in product(WORDS, repeat=3):
        trees = all_trees(parser.transitions, 3)
        best = max(zip(exact_log_q(parser, words, trees, 1.0), trees, strict=True))
        ids = tokens_of(parser, words)
        actions, log_q = beam_search(parser, ids, len(trees))
        assert (log_q, actions) == (pytest.approx(best[0], rel=1e-5), best[1])
        [(greedy, greedy_log_q)] = parse_batch(parser, [ids])
        assert beam_search(parser, ids, 1) == (tuple(greedy), pytest.approx(greedy_log_q))
        better += log_q > greedy_log_q + 1e-3
    assert better
