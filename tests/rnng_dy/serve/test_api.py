"""The JSON interface: the numbers of Python, the limits, and what strangers may send."""

import asyncio
import json

import nltk
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.brackets import format_tree
from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.serve.limits import Limits
from rnng_dy.settings import LanguageModelSizes

from .conftest import client_of, needs_serve

pytestmark = needs_serve

NAMES = ["parse", "surprisal"]
WORDS = ["The", "cat", "sat", "."]


def posted(client, name, **content):
    answer = client.post(f"/api/{name}", json=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_parse_gives_the_trees_of_the_python_interface(client, models):
    parser = models["english"]
    found = posted(client, "parse", sentences=[WORDS], k=3)
    [sentence] = found["sentences"]
    expected = [(format_tree(tree), log_q) for tree, log_q in parser.nbest(WORDS, 3)]
    assert [(tree["tree"], tree["log_prob"]) for tree in sentence["trees"]] == expected
    assert (found["model"], sentence["tokens"]) == ("english", WORDS)
    assert sentence["tags"] == list(parser.tags_for(WORDS))


def test_text_is_segmented_and_each_sentence_has_its_greedy_tree(client, models):
    text = "The cat sat. It slept."
    found = posted(client, "parse", text=text)["sentences"]
    shown = [s["trees"][0]["tree"] for s in found]
    assert shown == [*map(format_tree, models["english"](text))]


def test_given_tags_are_read(client):
    [sentence] = posted(client, "parse", sentences=[[["saw", "NN"], ["dust", "VB"]]])["sentences"]
    tags = [tag for _, tag in nltk.Tree.fromstring(sentence["trees"][0]["tree"]).pos()]
    assert tags == ["NN", "VB"]


def test_samples_give_the_probabilities_of_brackets(client):
    [sentence] = posted(client, "parse", text="The cat sat.", samples=50)["sentences"]
    posterior, [best] = sentence["posterior"], sentence["trees"]
    for tree in (best, posterior):
        # S, NP and VP
        assert len(tree["posteriors"]) == 3 and all(0 < p <= 1 + 1e-9 for p in tree["posteriors"])
    assert posterior["entropy"] >= 0
    assert nltk.Tree.fromstring(posterior["tree"]).leaves() == WORDS


def test_a_generative_model_parses_with_its_beam(client, models):
    found = posted(client, "parse", model="english-generative", text="The cat sat.", k=12)
    trees = found["sentences"][0]["trees"]
    assert len(trees) == 12
    assert trees[0]["tree"] == format_tree(models["english-generative"]("The cat sat.")[0])


def test_surprisal_gives_the_records_of_the_python_interface(client, models):
    found = posted(client, "surprisal", sentences=[WORDS], end=True)
    expected = models["english-generative"].surprisals(WORDS, end=True)
    words = found["sentences"][0]["words"]
    assert [w["token"] for w in words] == [*WORDS, None]
    for word, record in zip(words, expected, strict=True):
        assert (word["surprisal"], word["cluster"]) == (record.surprisal, record.cluster)
        assert "beam" not in word


def test_models_are_listed(client):
    found = client.get("/api/models").json()["models"]
    assert [model["name"] for model in found] == ["english", "english-generative"]
    assert found[0]["about"]["terms"]["licence"] == "CC BY 4.0"


def test_a_model_without_trees_has_surprisals_alone(models):
    lstm = LstmLanguageModel(models["english-generative"].vocabulary, LanguageModelSizes(1, 6, 5))
    with client_of({"lstm": lstm}) as client:
        [sentence] = posted(client, "surprisal", sentences=[["It", "works"]])["sentences"]
        expected = lstm.surprisals_of([["It", "works"]])[0][:2]
        assert [word["surprisal"] for word in sentence["words"]] == [r.surprisal for r in expected]
        assert 'class="total"' in client.get("/surprisal").text
        assert client.get("/", follow_redirects=False).headers["location"] == "surprisal"
        assert client.get("/parse").status_code == client.post("/api/parse").status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("parse", [], "valid dictionary"),
        ("parse", {"txt": ""}, "txt: "),
        ("parse", {"text": 3}, "text: "),
        ("parse", {"text": ""}, "text: there is no sentence in it"),
        ("parse", {"text": "a", "k": 0}, "k: Input should be greater"),
        ("parse", {"text": "a", "k": True}, "k: Input should be a valid integer"),
        ("parse", {"text": "a", "k": 21}, "k: Input should be less than or equal to 20"),
        ("parse", {"text": "a", "samples": 501}, "samples: "),
        ("parse", {"text": "a", "model": "/etc/passwd"}, "model: Input should be 'english' or"),
        ("parse", {"text": "a" * 5001}, "text: "),
        ("parse", {"text": "a " * 101}, "text: a sentence of 101 words, more than 100"),
        ("parse", {"text": "It works. " * 21}, "text: 21 sentences, more than 20"),
        ("parse", {"text": "a", "sentences": [["a"]]}, "either text or sentences"),
        ("parse", {"sentences": [["a"]] * 21}, "sentences: "),
        ("parse", {"sentences": [["a"] * 101]}, "sentences.0: "),
        ("parse", {"sentences": [["a b"]]}, "white space"),
        ("parse", {"sentences": [["a", ["b", "NN"]]]}, "a list of words, or of (word, tag) tuples"),
        ("parse", {"sentences": [[["a", "NN", "x"]]]}, "sentences.0.0"),
        ("parse", {"model": "english-generative", "text": "a", "samples": 5}, "samples: "),
        ("surprisal", {"model": "english", "text": "a"}, "model: "),
        ("surprisal", {"text": "a", "beam": 501}, "beam: "),
        ("parse", {"text": "a", "seed": -1}, "seed: "),
    ],
)
def test_a_request_that_cannot_be_answered_names_the_field(client, name, content, reason):
    body, headers = json.dumps(content), {"content-type": "application/json"}
    answer = client.post(f"/api/{name}", content=body, headers=headers)
    assert (answer.status_code, set(answer.json())) == (422, {"error"})
    assert reason in answer.json()["error"]


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"content-type": "application/json"}, "the body is no JSON at character 25"),
        ({}, "send the header Content-Type: application/json"),
        ({"content-type": "text/plain"}, "send the header Content-Type: application/json"),
    ],
)
def test_a_body_that_is_cut_or_has_no_type_is_told_so(client, headers, reason):
    answer = client.post("/api/parse", content='{"text": "The dog barks."', headers=headers)
    assert (answer.status_code, answer.json()) == (422, {"error": reason})


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 50000, b"NaN", b'{"k": 1e999}'])
def test_a_body_that_is_no_json_is_refused(client, body):
    answer = client.post("/api/parse", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, set(answer.json())) in [(400, {"error"}), (422, {"error"})]


def test_a_body_that_is_too_large_or_of_unknown_length_is_refused(client):
    both = {"content-length": "4", "transfer-encoding": "chunked"}
    for body, headers in ((b" " * 65537, {}), (iter([b"{}"]), {}), (iter([b" " * 65537]), both)):
        assert client.post("/api/parse", content=body, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "path",
    ["/", "/parse", "/surprisal", "/api", "/api/models", "/openapi.json", "/static/page.css"],
)
def test_head_is_as_get(client, path):
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.headers, head.content) == (200, get.headers, b"")
    assert client.head("/api/parse").status_code == 405


def test_the_page_of_the_interface_does_not_name_the_server(client):
    page = client.get("/api", headers={"host": "inner.example"}).text
    assert "inner.example" not in page and "curl SERVER/api/parse" in page


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("parser.example", 200),
        ("Parser.Example:443", 200),
        # the address at which the request arrives
        ("testserver:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("evil.example:8000", 421),
        ("parser.example.evil", 421),
        ("[::2]", 421),
    ],
)
def test_a_request_for_another_host_is_refused(models, host, status):
    from starlette.testclient import TestClient

    from rnng_dy.serve import app

    client = TestClient(app(models, hosts=["parser.example", "::1"]))
    assert client.get("/api/models", headers={"host": host}).status_code == status


def test_limits_bind_defaults_too(models):
    """With a limit of 5, a request that does not name a beam has one of 5."""
    with client_of(models, beam=5, words=8, trees=1) as client:
        [sentence] = posted(client, "surprisal", text="The cat", beams=True)["sentences"]
        expected = posted(client, "surprisal", text="The cat", beams=True, beam=5, word_beam=5)
        assert sentence == expected["sentences"][0]
        assert sentence["words"][1]["beam"][0]["tree"].endswith("cat")
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["Surprisal"]["properties"]["beam"]["default"] == 5
    assert schemas["Parse"]["properties"]["k"]["maximum"] == 1


def test_a_full_queue_has_the_status_503_and_one_thread_computes():
    """Of three requests with room for two, the last is refused; the others are answered in turn."""
    from fastapi import HTTPException

    from rnng_dy.serve.answers import Worker

    class Wanted:
        model = "m"

    class Request:
        async def is_disconnected(self):
            return False

    running = []

    def answer(model, wanted, limits):
        running.append(1)
        assert len(running) == 1
        running.pop()
        return model

    async def asked(worker):
        tasks = [worker.run(Request(), answer, Wanted()) for _ in range(3)]
        return await asyncio.gather(*tasks, return_exceptions=True)

    # TestClient's requests come one by one
    first, second, third = asyncio.run(asked(Worker({"m": 7}, Limits(queue=2), None)))
    assert (first, second) == (7, 7)
    assert isinstance(third, HTTPException) and third.status_code == 503
    assert third.headers == {"retry-after": "1"}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 40)
    | st.just(10**30)
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["a", "(S (NN a))", "((", "\x00", "\u202e", "english-generative", "../.."]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = ["text", "model", "sentences", "k", "samples", "seed", "beam", "end"]
bodies = st.one_of(
    st.binary(max_size=60),
    (st.dictionaries(st.sampled_from(FIELDS), anything, max_size=3) | anything).map(
        lambda content: json.dumps(content).encode()
    ),
)


@pytest.mark.parametrize("name", NAMES)
def test_no_request_makes_an_exception(client, name):
    """The client of tests raises every exception that the server does not handle."""

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(bodies)
    def tried(body):
        headers = {"content-type": "application/json"}
        answer = client.post(f"/api/{name}", content=body, headers=headers)
        assert answer.status_code in (200, 400, 422), (body, answer.text)
        assert (answer.status_code == 200) != ("error" in answer.json())

    tried()


def test_openapi_describes_requests_and_answers_with_the_limits(client):
    found = client.get("/openapi.json").json()
    assert set(found["paths"]) == {"/api/models", *(f"/api/{name}" for name in NAMES)}
    schemas = found["components"]["schemas"]
    assert schemas["Parse"]["properties"]["k"]["maximum"] == Limits().trees
    assert schemas["Parse"]["properties"]["model"]["enum"] == ["english", "english-generative"]
    assert {"tags", "problem", "posterior"} < set(schemas["ParsedSentence"]["properties"])
    assert "503" in found["paths"]["/api/parse"]["post"]["responses"]
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


@pytest.mark.parametrize("name", NAMES)
def test_a_mark_of_regions_is_no_word(client, name):
    asked = {"text": "The dog / slept."}
    said = client.post(f"/api/{name}", json=asked)
    assert said.status_code == 422 and "name it by the field mark '/'" in said.json()["error"]
    named, plain = ({**asked, "mark": "/"}, {"text": "The dog slept."})
    found = [client.post(f"/api/{name}", json=given).json() for given in (named, plain)]
    assert found[0] == found[1]
    assert "the field mark" in client.get(f"/{name}", params=asked).text
    assert client.get(f"/{name}", params={**asked, "mark": "/"}).status_code == 200
