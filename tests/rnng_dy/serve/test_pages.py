"""The pages without their script: forms, answers, files, and texts that try to be more than text."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import nltk
import pytest

pytest.importorskip("starlette", reason="the extra [serve] is not installed")
pytest.importorskip("uvicorn", reason="the extra [serve] is not installed")

from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.serve.pages import DEFAULTS
from rnng_dy.serve.requests import Limits
from rnng_dy.serve.view import PAGES, TEMPLATES, texts
from rnng_dy.sizes import LanguageModelSizes

from ..conftest import make_parser
from .conftest import needs_serve

pytestmark = needs_serve

# small and quick answers of each page
QUERIES = {
    "parse": {"text": "It works."},
    "surprisal": {"text": "It works."},
    "film": {"text": "It works."},
    "sample": {"n": "1", "max_length": "10"},
    "models": {},
    "interface": {},
}
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "</textarea><iframe src=javascript:alert(1)>",
    "<!--<script>",
    "]]><script>alert(1)</script>",
    "{{7*7}}${7*7}#{7*7}<%=7*7%>",
    "{% include '/etc/passwd' %}",
    "javascript:alert(1)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202etxt.exe\u2066",
    "\x00\x1b[2J",
    "a\u2028b\u2029c",
    "../../../../etc/passwd",
    "'; DROP TABLE models; --",
    "%0d%0aSet-Cookie:a=b",
    "\ufeff\ufffe\uffff",
    "(S (NP <b>x</b>))",
    "x" * 3000,
]


class Elements(HTMLParser):
    """The names of elements with their attributes, without texts and values."""

    def __init__(self, page: str):
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.sources: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found |= {(tag, "")} | {(tag, name) for name, _ in attrs}
        self.sources |= {value for name, value in attrs if name in ("src", "href", "action")}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_answer_and_no_code_within(client, page):
    answer = client.get(f"/{page}", params=QUERIES[page])
    assert answer.status_code == 200
    assert 'aria-current="page"' in answer.text
    elements = Elements(answer.text)
    assert not [name for _, name in elements.found if name.startswith("on")]
    # all files come from this server
    assert {source for source in elements.sources if ":" in source} == {"data:,"}
    scripts = re.findall(r"<script([^>]*)>", answer.text)
    assert all("src=" in script or "application/json" in script for script in scripts)


@pytest.mark.parametrize("page", PAGES)
def test_every_response_has_the_headers_of_security(client, page):
    for address in (page, "api/models", "static/page.css", "nowhere"):
        headers = client.get(f"/{address}", params=QUERIES[page]).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        [scripts] = [part for part in policy.split("; ") if part.startswith("script-src")]
        assert scripts == "script-src 'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_stays_text(client, attack):
    fields = [("surprisal", "text"), ("film", "text"), ("sample", "seed")]
    for page, field in [*fields, *(("parse", field) for field in DEFAULTS["parse"])]:
        answer = client.get(f"/{page}", params={**QUERIES[page], field: attack})
        assert answer.status_code in (200, 400, 422), answer.text
        found = Elements(answer.text)
        assert not [name for _, name in found.found if name.startswith("on")]
        assert not {tag for tag, _ in found.found} & {"img", "iframe", "object", "base", "style"}
        assert {source for source in found.sources if ":" in source} <= {"data:,"}
        assert answer.text.count("<script") == answer.text.count("</script>") <= 3
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("page", ["parse", "surprisal", "film", "sample"])
def test_a_page_says_why_it_has_no_answer(client, page):
    for query in ({"model": "none"}, {"text": "a " * (Limits().words + 1), "n": "many"}):
        answer = client.get(f"/{page}", params=query)
        assert answer.status_code in (400, 422)
        assert 'role="alert"' in answer.text
        assert "<form" in answer.text


def test_a_page_that_was_not_asked_shows_an_example(client):
    assert "telescope" in client.get("/").text
    assert client.get("/", follow_redirects=False).headers["location"] == "parse"


def test_trees_are_drawn_and_listed(client):
    page = client.get("/parse", params={"text": "The cat sat.", "k": "2"}).text
    assert page.count("<svg") == 2
    listed = re.search(r'<ul class="list">.*?</details>', page, re.S)[0]
    words = re.findall(r"<li>\S+ ([^<]+)(?=</li>)", listed)
    assert words == ["The", "cat", "sat", "."]
    assert listed.count("<ul") == listed.count("</ul>") > 1


def test_two_models_are_compared_and_probabilities_are_shown(client):
    query = {"text": "The cat sat.", "other": "english-generative", "shade": "1"}
    page = client.get("/parse", params=query).text
    assert page.count("<svg") == 3
    assert texts()["mbr"] in page
    assert "english-generative, 1" in page


def test_tags_can_be_given(client):
    page = client.get("/parse", params={"text": "x", "tagged": "saw_NN dust_VB"}).text
    assert re.search(r'data-token="saw"><option selected>NN<', page)
    assert 'id="untag"' in page


def test_files_of_trees(client):
    query = {"text": "The cat sat. It works.", "k": "2"}
    found = {
        style: client.get(f"/parse.{style}", params=query)
        for style in ("svg", "tex", "txt", "json")
    }
    assert all("attachment" in answer.headers["content-disposition"] for answer in found.values())
    assert ElementTree.fromstring(found["svg"].text).tag.endswith("svg")
    trees = [nltk.Tree.fromstring(line) for line in found["txt"].text.splitlines()]
    assert [" ".join(tree.leaves()) for tree in trees] == ["The cat sat ."] * 2 + ["It works ."] * 2
    assert found["tex"].text.count(r"\begin{forest}") == 4
    assert found["tex"].text.count(r"\Tree [.") == 4
    [content] = found["json"].json()
    assert [len(sentence["trees"]) for sentence in content["sentences"]] == [2, 2]
    assert client.get("/parse.svg", params={"model": "none"}).status_code == 400


def test_the_file_of_surprisals(client, models):
    answer = client.get("/surprisal.csv", params={"text": "The cat sat."})
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert {row["model"] for row in rows} == {"english-generative"}
    expected = models["english-generative"].surprisals(["The", "cat", "sat", "."], end=True)
    assert [row["token"] for row in rows] == ["The", "cat", "sat", ".", "</s>"]
    assert [float(row["surprisal"]) for row in rows] == pytest.approx(
        [record.surprisal for record in expected], rel=1e-3
    )


def test_the_film_says_what_dies_when(client):
    page = client.get("/film", params={"text": DEFAULTS["film"]["text"]}).text
    [data] = re.findall(r'id="data">(.*?)</script>', page, re.S)
    frames = json.loads(data)
    words = [frame["word"] for frame in frames]
    assert words == [*DEFAULTS["film"]["text"].removesuffix(".").split(), ".", "</s>"]
    for i, frame in enumerate(frames):
        assert sum(tree["share"] for tree in frame["trees"]) == pytest.approx(1, abs=1e-6)
        for tree in frame["trees"]:
            descends = [
                any(other["text"].startswith(tree["text"]) for other in later["trees"])
                for later in frames[i + 1 :]
            ]
            # a top-down partial tree is the beginning of the brackets of those that it leads to
            if tree["dies"] is None:
                assert all(descends)
            else:
                assert words[i + 1 :][descends.index(False)] == tree["dies"]


def test_a_sample_grows_into_its_tree(client):
    page = client.get("/sample", params=QUERIES["sample"]).text
    [data] = re.findall(r'id="data">(.*?)</script>', page, re.S)
    [grown] = json.loads(data)
    assert all(len(one) <= len(other) for one, other in pairwise(grown))
    assert nltk.Tree.fromstring(grown[-1]).leaves()


def test_texts_are_all_used_and_defined():
    templates = "".join(p.read_text("utf-8") for p in TEMPLATES.glob("*.html"))
    sources = "".join(p.read_text("utf-8") for p in TEMPLATES.parent.glob("*.py"))
    for name in texts():
        titles = name in PAGES or name.removesuffix("_title") in PAGES
        assert (
            titles or f"t.{name}" in templates or f'"{name}"' in sources or f"'{name}'" in sources
        )


def test_a_model_with_attention_shows_it_on_the_edges(sentences):
    from starlette.testclient import TestClient

    from rnng_dy.serve import app

    tokens = [[list(pair) for pair in zip(sentences[0].tokens, sentences[0].tags, strict=True)]]
    with TestClient(app({"gated": make_parser(sentences, "gated-attention")})) as client:
        found = client.post("/api/parse", json={"sentences": tokens}).json()["sentences"][0]
        weights = found["trees"][0]["weights"]
        tagged = "\n".join(" ".join(map("_".join, sentence)) for sentence in tokens)
        page = client.get("/parse", params={"text": "x", "tagged": tagged}).text
    assert all(sum(of_constituent) == pytest.approx(1, abs=1e-4) for of_constituent in weights)
    assert page.count("stroke-width") == sum(map(len, weights)) > 0


def test_a_model_without_trees_has_bars_and_no_film(models):
    from starlette.testclient import TestClient

    from rnng_dy.serve import app

    lstm = LstmLanguageModel(models["english-generative"].vocabulary, LanguageModelSizes(1, 6, 5))
    with TestClient(app({"lstm": lstm})) as client:
        found = client.post("/api/surprisal", json={"sentences": [["It", "works"]]}).json()
        [sentence] = found["sentences"]
        expected = lstm.surprisals_of([["It", "works"]])[0]
        assert [word["surprisal"] for word in sentence["words"]] == pytest.approx(
            [record.surprisal for record in expected[:2]], rel=1e-4
        )
        assert "It" in client.get("/surprisal", params={"text": "It works."}).text
        for page in ("parse", "film", "sample"):
            answer = client.get(f"/{page}")
            assert (answer.status_code, "no model for it" in answer.text) == (400, True)
