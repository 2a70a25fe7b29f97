"""Each run says what its numbers depend on, and `models show --cite` says it of a model."""

import json

import pytest

import rnng_dy
from tests.commands import invoke

from ..conftest import make_generator


@pytest.fixture(autouse=True)
def text(models, generative_sentences):
    make_generator(generative_sentences, seed=6).save("other")
    (models / "text").write_text("the dog barks\n", encoding="utf-8")


def signed(*arguments: object) -> list[str]:
    return invoke(*arguments).stderr.splitlines()[-1].split("|")


def test_it_names_version_command_model_and_the_options_that_count():
    program, command, model, *options = signed("surprisal", "--model", "generator", "text")
    assert program.startswith(f"rnng_dy:{rnng_dy.__version__}") and command == "surprisal"
    assert model.startswith("model:generator#") and len(model.partition("#")[2]) == 8
    widths = ["search:beam", "beam:100", "fast-track:5", "word-beam:10"]
    assert options == [*widths, "unknown:class"]
    particles = signed("surprisal", "--model", "generator", "text", "--search", "particles")
    draws = ["search:particles", "particles:1000", "seed:1", "runs:1"]
    assert particles[3:] == [*draws, "unknown:class"]


def test_outputs_carry_it(here):
    outputs = ("-o", "a.jsonl", "-o", "a.html")
    signature = "|".join(signed("surprisal", "--model", "generator", "text", *outputs))
    lines = (here / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["signature"] for line in lines} == {signature}
    assert signature in (here / "a.html").read_text(encoding="utf-8")
    (here / "t.trees").write_text("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n", encoding="utf-8")
    for command in (
        ["perplexity", "--model", "generator", "text"],
        ["evalb", "t.trees", "t.trees"],
    ):
        signature = "|".join(signed(*command, "-o", "a.json"))
        assert json.loads((here / "a.json").read_bytes())["signature"] == signature


@pytest.mark.parametrize("system", ["--model=lm", "--scorer=kneser-ney=text"])
def test_a_system_without_trees_has_no_search(system):
    assert len(signed("perplexity", system, "text")) == 3


def test_draws_of_a_parser_have_their_seed(here):
    (here / "t.trees").write_text("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n", encoding="utf-8")
    for alpha in ("0.8", "0.0"):
        of_draws = signed("sample", "--model", "parser", "t.trees", "--alpha", alpha)[3:]
        assert of_draws == ["samples:100", f"alpha:{alpha}", "seed:1"]


def test_a_reproduction_names_its_systems_as_the_option_does(monkeypatch):
    monkeypatch.setattr("rnng_dy.cli.reproduce.run", lambda *arguments: None)
    given = ("nltk", "--systems", "corrected/stack,buggy", "--stages", "data", "-o", "out")
    assert {"systems:corrected/stack", "systems:buggy"} < {*signed("reproduce", *given)}


def test_other_parameters_have_another_hash_and_another_name_the_same(here):
    model = signed("perplexity", "--model", "generator", "text")[2].partition("#")[2]
    assert model not in signed("perplexity", "--model", "other", "text")[2]
    (here / "generator").rename("renamed")
    assert signed("perplexity", "--model", "renamed/", "text")[2] == f"model:renamed#{model}"


def test_a_model_is_cited_in_two_sentences_and_bibtex():
    printed = invoke("models", "show", "generator", "--cite").stdout
    assert printed.startswith("We used the generative RNNG (Dyer et al., 2016) `generator#")
    assert "composition corrected" in printed and "@inproceedings{dyer" in printed
    assert "LSTM language model `lm#" in invoke("models", "show", "lm", "--cite").stdout
