"""The page of surprisals, whose words come one by one, and its table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from starlette.responses import Response, StreamingResponse

from oracle.transitions import TOP_DOWN
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.surprisal_page import provisional, values
from rnng_dy.evaluation.tables import CSV
from rnng_dy.evaluation.word_tables import PLACE, header, line
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, measures_of
from rnng_dy.serve.answers import Answer, Word
from rnng_dy.serve.guard import REFUSALS, UNBUFFERED, begun, refusal, told
from rnng_dy.serve.requests import ServedModel, Surprisal, names_of
from rnng_dy.serve.view import TEMPLATES, Answered, Server, View, texts

LATER = "\0"
"""The mark of a place of a page that is filled later; text of users cannot hold it."""


def all_measures(model: ServedModel) -> dict[str, Any]:
    """Return the fields of requests whose answers are drawn."""
    return {"beams": True, "end": True}


def _wanted(view: View, **more: object) -> list[Surprisal]:
    names = names_of(Surprisal, view.server.models)
    return view.wanted(Surprisal, names, lambda model: {**all_measures(model), **more})


async def surprisal(view: View) -> Response:
    """Return bars of the words of sentences, by one or two models; each comes once its word is measured."""
    answered = await begun(view.request, _asked(view.server, _wanted(view, stream=True)))
    return StreamingResponse(_page(view, answered), headers=UNBUFFERED, media_type="text/html")


async def _asked(
    server: Server, wanted: Sequence[Surprisal]
) -> AsyncGenerator[tuple[Surprisal, Word | Answer], None]:
    for each in wanted:
        async with aclosing(told(server.queue, each)) as parts_of_answer:
            async for part in parts_of_answer:
                yield each, part


async def _page(
    view: View, answered: AsyncIterator[tuple[Surprisal, Word | Answer]]
) -> AsyncIterator[str]:
    """Yield a page in parts: the words as they come, below one another by sentence, and last the whole answer."""
    # comes with Jinja2
    from markupsafe import Markup

    names = names_of(Surprisal, view.server.models)
    page = view.html("surprisal", choices=names, problem="", later=Markup(LATER))
    before, between, after = page.split(LATER)
    yield before
    found: list[Answered] = []
    rows: dict[tuple[str, int], int] = {}
    problem = ""
    try:
        async for wanted, part in answered:
            if isinstance(part, Word):
                row = rows.setdefault((wanted.model, part.sentence), len(rows) + 1)
                place = f"{row} / {part.number + 1}"
                shown = {"record": part.record, "place": place, **provisional()}
                yield "".join(parts("coming.html", TEMPLATES, **shown))
            else:
                found.append((wanted, part))
    except REFUSALS as error:
        problem = refusal(error)[1]
    yield between
    # the event loop goes on meanwhile
    yield await asyncio.to_thread(_answer, found, problem, view.server.models)
    yield after


def _answer(found: Sequence[Answered], problem: str, models: Mapping[str, ServedModel]) -> str:
    """Return the whole answer as HTML."""
    sentences, names, problems = [], [], [problem]
    for number in range(max((len(answers) for _, answers in found), default=0)):
        for wanted, answers in found:
            # models may split a text differently
            for measured in answers[number : number + 1]:
                sentences.append(measured.records)
                names.append(f"{number + 1}, {wanted.model}")
                problems.append(measured.problem or "")
    shown: dict[str, Any] = {"sentences": sentences}
    if sentences:
        system = models[found[0][0].model].transitions or TOP_DOWN
        compared = names if len(found) > 1 else []
        shown = values(sentences, system, compared)
        shown |= {"columns": 2} if compared else {}
    shown |= {"problem": " ".join(filter(None, problems)), "t": texts()}
    return "".join(parts("surprisal_answer.html", TEMPLATES, **shown))


async def table(view: View) -> Response:
    """Return the surprisals of a page as CSV."""
    columns = measures_of(DEFAULT_OPTIONS)
    rows = [header(columns, CSV, ("model", *PLACE))]
    for wanted, answers in await view.answered(_wanted(view)):
        for number, measured in enumerate(answers, 1):
            for i, record in enumerate(measured.records, 1):
                rows.append(line(record, number, i, columns, CSV, (wanted.model,)))
    return Response("\n".join([*rows, ""]), media_type="text/csv")
