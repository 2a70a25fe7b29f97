"""The JSON interface: the numbers of the Python interface, the limits, and what strangers may send."""

from __future__ import annotations

import json
import math
import random
from concurrent.futures import ThreadPoolExecutor

import nltk
import pytest

from oracle.brackets import format_tree
from rnng_dy.serve.requests import REQUESTS, Limits

from .conftest import needs_serve

pytestmark = needs_serve

WORDS = ["The", "cat", "sat", "."]
TREE = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"


def posted(client, name, **content):
    answer = client.post(f"/api/{name}", json=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_parse_gives_the_trees_of_the_python_interface(client, models):
    parser = models["english"]
    found = posted(client, "parse", sentences=[WORDS], k=3)
    assert found["model"] == "english"
    [sentence] = found["sentences"]
    expected = parser.nbest(WORDS, 3)
    assert [tree["tree"] for tree in sentence["trees"]] == [format_tree(t) for t, _ in expected]
    assert [tree["log_prob"] for tree in sentence["trees"]] == pytest.approx(
        [log_q for _, log_q in expected], rel=1e-5
    )
    assert sentence["tokens"] == WORDS
    assert sentence["tags"] == list(parser.tags_for(WORDS))


def test_text_is_segmented_and_each_sentence_has_its_greedy_tree(client, models):
    text = "The cat sat. It slept."
    found = posted(client, "parse", text=text)["sentences"]
    assert [s["trees"][0]["tree"] for s in found] == [
        format_tree(tree) for tree in models["english"](text)
    ]


def test_given_tags_are_read(client):
    [sentence] = posted(client, "parse", sentences=[[["saw", "NN"], ["dust", "VB"]]])["sentences"]
    tags = [tag for _, tag in nltk.Tree.fromstring(sentence["trees"][0]["tree"]).pos()]
    assert tags == ["NN", "VB"]


def test_samples_give_the_probabilities_of_brackets(client):
    [sentence] = posted(client, "parse", text="The cat sat.", samples=50)["sentences"]
    posterior = sentence["posterior"]
    probabilities = [bracket["probability"] for bracket in posterior["brackets"]]
    assert probabilities
    assert all(0 < p <= 1 + 1e-9 for p in probabilities)
    assert posterior["entropy"] >= 0
    assert nltk.Tree.fromstring(posterior["tree"]).leaves() == WORDS


def test_a_generative_model_parses_with_its_beam(client, models):
    found = posted(client, "parse", model="english-generative", text="The cat sat.", k=2)
    expected = models["english-generative"]("The cat sat.")[0]
    trees = found["sentences"][0]["trees"]
    assert len(trees) == 2
    assert trees[0]["tree"] == format_tree(expected)


def test_surprisal_gives_the_records_of_the_python_interface(client, models):
    found = posted(client, "surprisal", sentences=[WORDS], end=True)
    assert found["model"] == "english-generative"
    expected = models["english-generative"].surprisals(WORDS, end=True)
    words = found["sentences"][0]["words"]
    assert [w["token"] for w in words] == [*WORDS, None]
    for word, record in zip(words, expected, strict=True):
        assert word["surprisal"] == pytest.approx(record.surprisal, rel=1e-4)
        assert word["syntactic"] + word["lexical"] == pytest.approx(word["surprisal"], abs=1e-4)
        assert "beam" not in word


def test_surprisal_with_the_partial_trees(client):
    [sentence] = posted(client, "surprisal", text="The cat", beams=True, word_beam=3)["sentences"]
    assert [len(word["beam"]) for word in sentence["words"]] == [3, 3]
    assert sentence["words"][1]["beam"][0]["tree"].endswith("cat")


def test_sample_draws_as_the_python_interface(client, models):
    more = {"n": 2, "seed": 7, "max_length": 12}
    found = posted(client, "sample", model="english-generative", **more)
    expected = models["english-generative"].sample(**more)
    trees = found["sentences"][0]["trees"]
    assert [tree["tree"] for tree in trees] == [format_tree(tree) for tree, _ in expected]
    of_parser = posted(client, "sample", sentences=[WORDS], n=4, seed=3)["sentences"][0]["trees"]
    expected = models["english"].sample(WORDS, 4, seed=3)
    assert [tree["tree"] for tree in of_parser] == [format_tree(tree) for tree, _ in expected]


def test_score_gives_log_probabilities_and_null_for_impossible_trees(client, models):
    found = posted(client, "score", trees=[TREE, "(NONE (DT The))"])
    expected = models["english"].log_prob(nltk.Tree.fromstring(TREE))
    assert found["log_probs"] == [pytest.approx(expected, rel=1e-5), None]
    found = posted(client, "score", model="english-generative", trees=[TREE])
    expected = models["english-generative"].log_prob(nltk.Tree.fromstring(TREE))
    assert found["log_probs"] == [pytest.approx(expected, rel=1e-5)]


def test_models_are_listed(client):
    found = client.get("/api/models").json()["models"]
    assert [model["name"] for model in found] == ["english", "english-generative"]
    assert found[0]["about"]["terms"]["licence"] == "CC BY 4.0"


def test_requests_at_once_share_batches_and_have_the_answers_of_lone_ones(client):
    texts = [f"The cat sat on {n} mats." for n in range(2, 26)]
    alone = [posted(client, "parse", text=text) for text in texts]
    before = batches_of(client)
    with ThreadPoolExecutor(24) as pool:
        together = list(pool.map(lambda text: posted(client, "parse", text=text), texts))
    for one, other in zip(alone, together, strict=True):
        trees = [found["sentences"][0]["trees"][0] for found in (one, other)]
        assert trees[0]["tree"] == trees[1]["tree"]
        assert trees[0]["log_prob"] == pytest.approx(trees[1]["log_prob"], rel=1e-4)
    assert batches_of(client) - before < len(texts)


def batches_of(client) -> float:
    [line] = [
        line
        for line in client.get("/metrics").text.splitlines()
        if line.startswith("rnng_dy_batch_seconds_count")
    ]
    return float(line.split()[1])


def test_the_versioned_address_answers_as_well(client):
    assert client.post("/api/v1/parse", json={"text": "It works."}).status_code == 200


LIMITS = Limits()


@pytest.mark.parametrize(
    ("name", "content", "status", "reason"),
    [
        ("parse", [], 400, "one JSON object"),
        ("parse", {"txt": ""}, 400, "no field is called 'txt'"),
        ("parse", {"text": 3}, 400, "text is a text"),
        ("parse", {"text": ""}, 422, "no sentence"),
        ("parse", {"text": "\ud800"}, 400, "Unicode"),
        ("parse", {"text": "a", "k": 0}, 400, "k: 0 is not in the range"),
        ("parse", {"text": "a", "k": True}, 400, "not a valid integer"),
        ("parse", {"text": "a", "k": 10**400}, 400, "limit here"),
        ("parse", {"text": "a", "k": 21}, 400, "more than 20"),
        ("parse", {"text": "a", "samples": 501}, 400, "more than 500"),
        ("parse", {"text": "a", "model": "../english"}, 400, "no such model"),
        ("parse", {"text": "a", "model": "/etc/passwd"}, 400, "no such model"),
        ("parse", {"text": "a" * 5001}, 400, "5001 characters"),
        ("parse", {"text": "a " * 101}, 422, "more than 100"),
        ("parse", {"text": "It works. " * 21}, 422, "21 sentences, more than 20"),
        ("parse", {"text": "a", "sentences": [["a"]]}, 400, "either"),
        ("parse", {"sentences": "a"}, 400, "a list of lists"),
        ("parse", {"sentences": [["a"]] * 21}, 400, "21 items"),
        ("parse", {"sentences": [[]]}, 422, "one at least"),
        ("parse", {"sentences": [["a b"]]}, 422, "white space"),
        ("parse", {"sentences": [["a", ["b", "NN"]]]}, 422, "all tokens are words"),
        ("parse", {"sentences": [[["a", "NN", "x"]]]}, 400, "a token is a word"),
        ("parse", {"sentences": [[{"a": 1}]]}, 400, "a token is a word"),
        ("parse", {"model": "english-generative", "text": "a", "samples": 5}, 422, "no samples"),
        ("surprisal", {"model": "english", "text": "a"}, 400, "english-generative"),
        ("surprisal", {"text": "a", "beam": 501}, 400, "more than 500"),
        ("sample", {"n": 501}, 400, "more than 500"),
        ("sample", {"alpha": -1.0, "text": "a"}, 400, "range"),
        ("sample", {"seed": -1}, 400, "range"),
        ("score", {"trees": ["(S (NP"]}, 422, ""),
        ("score", {"trees": ["(S" + " (X a)" * 101 + ")"]}, 422, "more than 100"),
        ("score", {"trees": "(S a)"}, 400, "a list of texts"),
    ],
)
def test_a_request_that_cannot_be_answered_has_a_reason(client, name, content, status, reason):
    answer = client.post(f"/api/{name}", content=json.dumps(content))
    assert (answer.status_code, set(answer.json())) == (status, {"error"})
    assert reason in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 50000, b"NaN", b'{"k": 1e999}'])
def test_a_body_that_is_no_json_is_refused(client, body):
    assert client.post("/api/parse", content=body).status_code == 400


def test_a_body_that_is_too_large_is_refused(client):
    answer = client.post("/api/parse", content=b" " * (LIMITS.body + 1))
    assert answer.status_code == 413


def test_one_bad_request_of_a_batch_does_not_harm_the_others(client):
    contents = [{"sentences": [["It", "works", "."]]}] * 6 + [{"sentences": [["a b"]]}]
    with ThreadPoolExecutor(7) as pool:
        statuses = list(pool.map(lambda c: client.post("/api/parse", json=c).status_code, contents))
    assert statuses == [200] * 6 + [422]


def anything(chance: random.Random, depth: int = 0) -> object:
    """Random JSON, much of it with names and values that a request could have."""
    names = ["text", "model", "sentences", "trees", "k", "n", "samples", "seed", "alpha", "end", ""]
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind == 7:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 8:
        count = chance.randrange(5)
        return {chance.choice(names): anything(chance, depth + 1) for _ in range(count)}
    return [
        None,
        chance.choice([True, False]),
        chance.choice([0, -1, 1, 3, 2**31, 10**30]),
        chance.choice([0.0, -0.5, 1e308, math.pi]),
        chance.choice(
            ["", "a", "(S (NN a))", "((", "\x00", "\u202e", "\U0001f408 sat.", "a" * 300]
        ),
        chance.choice(["english", "english-generative", "../..", "%s%n", "{{7*7}}"]),
        "".join(chr(chance.randrange(1, 0x2FF)) for _ in range(chance.randrange(12))),
    ][kind]


@pytest.mark.parametrize("name", REQUESTS)
def test_no_request_makes_an_exception(client, name):
    """The client of tests raises every exception that the server does not handle."""
    chance = random.Random(5)
    for _ in range(120):
        content = anything(chance)
        if chance.random() < 0.8:
            keys = ["text", "sentences", "trees", "k", "n", "samples", "seed", "alpha", "end"]
            content = {key: anything(chance, 1) for key in chance.sample(keys, 2)}
        body = json.dumps(content).encode()
        if chance.random() < 0.2:
            place = chance.randrange(len(body))
            body = body[:place] + bytes([chance.randrange(256)]) + body[place + 1 :]
        answer = client.post(f"/api/{name}", content=body)
        assert answer.status_code in (200, 400, 422), (body, answer.text)
        assert (answer.status_code == 200) != ("error" in answer.json())


def test_openapi_describes_every_request_with_its_limits(client):
    found = client.get("/api/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    assert set(found["paths"]) == {"/models", *(f"/{name}" for name in REQUESTS)}
    operation = found["paths"]["/parse"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["k"]["maximum"] == LIMITS.trees
    assert schema["properties"]["model"]["enum"] == ["english", "english-generative", ""]
    assert "429" in operation["responses"]
