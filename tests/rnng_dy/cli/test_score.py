"""`rnng-dy score`: what does not fit."""

import math
from itertools import islice
from pathlib import Path

from rnng_dy.search import decoding, scoring
from tests.commands import invoke

from ..conftest import TINY, tiny_trees
from ..tiny_models import make_tiny_generator


def test_what_does_not_fit_into_memory_has_p_0_and_is_named(generator, tmp_path, monkeypatch):
    log_probs, lengths = scoring.tree_log_probs, []

    def full(model, words, actions):
        lengths.append(len(words))
        if lengths[0] == len(words):
            raise MemoryError
        return log_probs(model, words, actions)

    monkeypatch.setattr(scoring, "tree_log_probs", full)
    generator.save(tmp_path / "m")
    with TINY.open(encoding="utf-8") as stream:
        first, second = islice(stream, 2)
    unknown = second.replace("it)", "zorbed)")
    assert unknown != second
    (tmp_path / "t.trees").write_text(first.replace(".)", "zork)") + unknown)
    result = invoke("score", "--model", tmp_path / "m", tmp_path / "t.trees")
    assert "sentence 1: p = 0 of all trees: memory ran out\n" in result.stderr
    first, second = result.stdout.splitlines()
    assert first == f"{lengths[0]}\tinf" != second


def test_words_of_samples_that_only_the_parser_knows_are_their_classes(generator, tmp_path):
    generator.save(tmp_path / "m")
    class_, known = (word for word in ("UNK-LC", "the") if word in generator.vocabulary.ids)
    trees = [f"0 ||| -1 ||| (S {word} {known})" for word in ("zork", class_)]
    (tmp_path / "t.props").write_text("\n".join(trees) + "\n")
    result = invoke("score", "--model", tmp_path / "m", tmp_path / "t.props")
    first, second = result.stdout.splitlines()
    assert first == second != "2\tinf"


LACKS = "the generative model has no label "


def test_trees_with_a_label_that_the_model_lacks_are_refused(tmp_path):
    make_tiny_generator("corrected", 10).save(tmp_path / "m")
    (tmp_path / "t.props").write_text("0 ||| -1 ||| (S a)\n0 ||| -1 ||| (S (NP a))\n")
    result = invoke("score", "--model", tmp_path / "m", tmp_path / "t.props", code=2)
    assert f"t.props:2: {LACKS}NP: name one that has learned" in result.stderr


def test_the_trees_of_a_parser_are_judged_by_a_model_of_its_labels(
    parser, generator, here, monkeypatch
):
    monkeypatch.setenv("RNNG_DY_MODELS", str(here / "models"))
    parser.save("models/toy")
    make_tiny_generator("corrected", 10).save("models/toy-generative")
    Path("some.trees").write_text(tiny_trees(0, 2), encoding="utf-8")
    judged = "parse", "--model", "toy", "--generator", "toy", "--samples", 2, "some.trees"
    assert LACKS in invoke(*judged, code=2).stderr
    said = invoke("score", "--model", "toy", "some.trees", code=2).stderr
    assert f"some.trees:1: {LACKS}" in said
    generator.save("models/toy-judge")
    assert invoke(*judged).stdout.count("\n") == 2
    assert "inf" not in invoke("score", "--model", "toy", "some.trees").stdout
    monkeypatch.setattr(decoding, "tree_log_probs", lambda *of: [-math.inf] * len(of[-1]))
    assert "some.trees:2: p = 0 for all samples by the generative" in invoke(*judged).stderr
