"""The pages without their script: forms, answers, and texts that try to be more than text."""

import re
from html.parser import HTMLParser

import pytest

from .conftest import needs_serve

pytestmark = needs_serve

PAGES = ["parse", "surprisal", "api"]
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea><iframe src=javascript:alert(1)>",
    "{{7*7}}${7*7}#{7*7}<%=7*7%>",
    "\u202etxt.exe\u2066",
    "\x00\x1b[2J",
    "a\u2028b\u2029c",
    "\ufeff\ufffe\uffff",
    "(S (NP <b>x</b>))",
]


class Elements(HTMLParser):
    """The names of elements with their attributes, and what they refer to."""

    def __init__(self, page: str):
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.sources: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found |= {(tag, "")} | {(tag, name) for name, _ in attrs}
        self.sources |= {value for name, value in attrs if name in ("src", "href", "action")}


def require_safe(page: str) -> None:
    """Fail for scripts and styles within a page, and for what comes from elsewhere."""
    elements = Elements(page)
    assert not [name for _, name in elements.found if name.startswith("on") or name == "style"]
    assert not {tag for tag, _ in elements.found} & {"img", "iframe", "object", "base", "style"}
    assert {source for source in elements.sources if ":" in source} == {"data:,"}
    assert re.findall(r"<script[^>]*>", page) == ['<script src="static/page.js" defer>']


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_answer_and_no_code_within(client, page):
    answer = client.get(f"/{page}")
    assert answer.status_code == 200
    assert 'aria-current="page"' in answer.text
    require_safe(answer.text)


@pytest.mark.parametrize("address", [*PAGES, "api/models", "static/page.css", "nowhere"])
def test_every_response_has_the_headers_of_security(client, address):
    headers = client.get(f"/{address}").headers
    policy = headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} < set(policy)
    assert headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in headers


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_stays_text(client, attack):
    for page, field in [("surprisal", "text"), *(("parse", f) for f in ("text", "model", "k"))]:
        answer = client.get(f"/{page}", params={"text": "It works.", field: attack})
        assert answer.status_code in (200, 422), answer.text
        require_safe(answer.text)


@pytest.mark.parametrize("page", ["parse", "surprisal"])
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"model": "none"}, "model: Input should be"),
        ({"text": "a " * 101}, "text: a sentence of 101 words"),
    ],
)
def test_a_page_says_why_it_has_no_answer(client, page, query, reason):
    answer = client.get(f"/{page}", params=query)
    assert answer.status_code == 422
    assert re.search(f'role="alert">{reason}', answer.text)
    assert "<form" in answer.text


def test_a_page_that_was_not_asked_shows_an_example(client):
    assert "telescope" in client.get("/").text
    assert client.get("/", follow_redirects=False).headers["location"] == "parse"


def test_several_trees_and_probabilities_are_shown(client):
    page = client.get("/parse", params={"text": "The cat sat.", "samples": "50", "k": "2"}).text
    assert page.count("<figure") == 3
    assert "2: log probability" in page and "tree of highest expected F1" in page
    assert "probability 1.00</title>" in page


def test_the_film_has_each_words_partial_trees(client):
    page = client.get("/surprisal", params={"text": "The cat sat."}).text
    frames = re.findall(r'<article class="frame" id="([\d.]+)"', page)
    assert frames == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert 'aria-label="(S (NP The cat"' in page
