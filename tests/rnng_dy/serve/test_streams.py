"""Words that come before the answer is complete: as lines of JSON, on the page, and when their client leaves."""

from __future__ import annotations

import json
import re
import threading

import pytest

pytest.importorskip("starlette", reason="the extra [serve] is not installed")

from rnng_dy.evaluation.records import MeasuredSentence, WordRecord
from rnng_dy.serve import answers
from rnng_dy.serve.answers import Word
from rnng_dy.serve.batching import LostError, Queue
from rnng_dy.serve.guard import told
from rnng_dy.serve.requests import Limits, Surprisal
from rnng_dy.serve.work import GO_ON, Part

from ..conftest import make_generator
from .conftest import needs_serve, run

pytestmark = needs_serve


@pytest.fixture
def small(generative_sentences, monkeypatch):
    """A client of a small model, whose parts are due after each round of the search."""
    from starlette.testclient import TestClient

    from rnng_dy.serve import app

    monkeypatch.setattr(answers, "PART_SECONDS", 0.0)
    model = make_generator(generative_sentences)
    with TestClient(app({"small": model})) as found:
        yield found


@pytest.fixture
def tokens(generative_sentences):
    """Sentences of different lengths, more than are searched side by side."""
    return [list(sentence.tokens) for sentence in generative_sentences[:6]]


def lines_of(answer) -> list[dict]:
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_lines_are_the_words_of_the_whole_answer(small, tokens, monkeypatch):
    content = {"sentences": tokens, "end": True}
    with monkeypatch.context() as patch:
        # a whole answer in one part
        patch.setattr(answers, "PART_SECONDS", 1e9)
        whole = small.post("/api/surprisal", json=content).json()["sentences"]
    lines = lines_of(small.post("/api/surprisal", json={**content, "stream": True}))
    ends = lines[-len(tokens) :]
    assert ends == [{"sentence_id": i + 1, "problem": None} for i in range(len(tokens))]
    for number, sentence in enumerate(whole, 1):
        found = [line for line in lines[: -len(tokens)] if line["sentence_id"] == number]
        assert [word["token"] for word in found] == [*tokens[number - 1], None]
        for line, word in zip(found, sentence["words"], strict=True):
            assert set(line) == {"sentence_id", *word}
            for name, value in word.items():
                # new graphs on the way change nothing
                same = pytest.approx(value, abs=1e-5) if isinstance(value, float) else value
                assert line[name] == same
    # sentences that are searched side by side come side by side
    assert [line["sentence_id"] for line in lines[:2]] == [1, 2]


def test_partial_trees_come_with_the_words(small, tokens):
    content = {"sentences": tokens[:1], "beams": True, "word_beam": 3, "stream": True}
    *words, end = lines_of(small.post("/api/surprisal", json=content))
    assert end["problem"] is None
    assert all(len(word["beam"]) == 3 for word in words)
    assert words[1]["beam"][0]["tree"].endswith(tokens[0][1])


def test_a_refused_stream_has_its_status(small):
    answer = small.post("/api/surprisal", json={"text": "a " * 101, "stream": True})
    assert (answer.status_code, "more than 100" in answer.json()["error"]) == (422, True)


def test_the_page_has_each_word_twice_as_it_comes_and_in_the_answer(small, tokens):
    text = "\n".join(" ".join(sentence) for sentence in tokens[:2])
    page = small.get("/surprisal", params={"text": text}).text
    before, after = page.split("</ol>", 1)
    places = re.findall(r'grid-area:(\d+) / (\d+)"', before)
    drawn = re.findall(r"<bdi>(.*?)</bdi>", after)
    assert '<div class="whole">' in after
    assert len(places) == len(set(places)) == len(drawn)
    assert sorted(re.findall(r"<bdi>(.*?)</bdi>", before)) == sorted(drawn)
    assert page.endswith("</html>")


def record(token: str) -> WordRecord:
    return WordRecord(token, token, 1.0)


class Words:
    """Work that brings a word per part, and notes what it was asked for."""

    def __init__(self, words: str):
        self.words, self.asked, self.may_go_on = words.split(), [], threading.Event()

    def __call__(self, batch):
        self.asked.append(batch)
        if batch is not GO_ON:
            self.number = 0
        elif not self.may_go_on.wait(60):
            return None
        if self.number == len(self.words):
            whole = MeasuredSentence([record(word) for word in self.words])
            return Part((), [[whole]])
        word = Word(0, 0, self.number, record(self.words[self.number]))
        self.number += 1
        return Part([word], None)


def test_a_word_comes_before_the_next_one_is_computed():
    work = Words("a b c")
    queue = Queue(lambda: work, 0, Limits())

    async def scenario():
        parts = told(queue, Surprisal(stream=True))
        first = await anext(parts)
        work.may_go_on.set()
        return first, [part async for part in parts]

    first, rest = run(queue, scenario())
    assert first.record.token == "a"
    assert [part.record.token for part in rest[:-1]] == ["b", "c"]
    assert [r.token for r in rest[-1][0].records] == ["a", "b", "c"]


def test_work_stops_when_its_client_leaves():
    work = Words("a b c d e f")
    queue = Queue(lambda: work, 0, Limits())

    async def scenario():
        parts = told(queue, Surprisal(stream=True))
        await anext(parts)
        await parts.aclose()
        work.may_go_on.set()
        return [part async for part in told(queue, Surprisal(text="x", stream=True))]

    assert len(run(queue, scenario())) == 7
    # one more part was under way
    assert [batch for batch in work.asked if batch is not GO_ON][1][0].text == "x"
    assert work.asked[:3].count(GO_ON) <= 1


def test_words_that_are_measured_again_come_once(monkeypatch):
    class Repeating(Words):
        def __call__(self, batch):
            found = super().__call__(batch)
            # as after a loss of the worker
            if self.number == 2 and len(self.asked) == 2:
                self.number = 0
            return found

    work = Repeating("a b c")
    work.may_go_on.set()
    queue = Queue(lambda: work, 0, Limits())

    async def scenario():
        return [part async for part in told(queue, Surprisal(stream=True))]

    *words, _ = run(queue, scenario())
    assert [word.record.token for word in words] == ["a", "b", "c"]


def test_a_stream_that_takes_too_long_ends_with_its_reason():
    work = Words("a b c")
    queue = Queue(lambda: work, 0, Limits(seconds=1))

    async def scenario():
        parts = told(queue, Surprisal(stream=True))
        await anext(parts)
        with pytest.raises(LostError, match="more than 1 s"):
            await anext(parts)
        work.may_go_on.set()

    run(queue, scenario())
