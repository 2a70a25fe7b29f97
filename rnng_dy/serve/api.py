"""The JSON interface: answers as JSON, and the routes under `/api`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from oracle.brackets import format_tree
from oracle.files import finite, one_line
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.surprisal_table import json_word
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, measures_of
from rnng_dy.search.words import MeasuredSentence
from rnng_dy.serve.answers import Answer, TreesOf, Word
from rnng_dy.serve.batching import Queue
from rnng_dy.serve.guard import REFUSALS, UNBUFFERED, answer, begun, json_body, refusal, told
from rnng_dy.serve.openapi import LINES, description
from rnng_dy.serve.requests import REQUESTS, Limits, ServedModel, Surprisal, read
from rnng_dy.serve.requests import Request as Wanted


def routes(queue: Queue, limits: Limits, models: Mapping[str, ServedModel]) -> list[Route]:
    """Return the routes of the interface, relative to its place."""

    async def openapi(request: Request) -> Response:
        return JSONResponse(description(limits, models))

    async def models_(request: Request) -> Response:
        return JSONResponse({"models": [_of_model(model) for model in models.values()]})

    models_.__name__ = "models"
    found = [Route("/openapi.json", openapi), Route("/models", models_)]
    for name, kind in REQUESTS.items():
        endpoint = _endpoint(name, kind, queue, limits, models)
        found.append(Route(f"/{name}", endpoint, methods=["POST"]))
    return found


def _endpoint(
    name: str,
    kind: type[Wanted],
    queue: Queue,
    limits: Limits,
    models: Mapping[str, ServedModel],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            wanted = read(kind, await json_body(request, limits), limits, models)
            model = models[wanted.model]
            if isinstance(wanted, Surprisal) and wanted.stream:
                lines = _lines(await begun(request, told(queue, wanted)), model)
                return StreamingResponse(lines, headers=UNBUFFERED, media_type=LINES)
            found = await answer(request, queue, wanted)
            return JSONResponse(content_of(wanted, found, model))
        except REFUSALS as error:
            status, reason, headers = refusal(error)
            return JSONResponse({"error": reason}, status, headers)

    endpoint.__name__ = f"api_{name}"
    return endpoint


def content_of(wanted: Wanted, found: Answer, model: ServedModel) -> dict[str, Any]:
    """Return an answer as content of JSON."""
    if isinstance(wanted, Surprisal):
        sentences = [_measured(of, model) for of in found]
        return {"model": wanted.model, "sentences": sentences}
    if found and not isinstance(found[0], TreesOf):
        return {"model": wanted.model, "log_probs": finite(found)}
    return {"model": wanted.model, "sentences": list(map(_trees, found))}


def _measured(found: MeasuredSentence, model: ServedModel) -> dict[str, Any]:
    words = [_word(found.records, i, model) for i in range(len(found.records))]
    return {"words": words, "problem": found.problem}


def _word(records: Sequence[WordRecord], index: int, model: ServedModel) -> Any:
    if model.transitions is None:
        return finite(json_word(records, index, ["surprisal"]))
    return finite(json_word(records, index, measures_of(DEFAULT_OPTIONS), model.transitions))


async def _lines(parts: AsyncIterator[Word | Answer], model: ServedModel) -> AsyncIterator[str]:
    """Yield a line of JSON per word as it comes, one per sentence after its words, or one with the error."""
    records: dict[int, list[WordRecord]] = {}
    try:
        async for part in parts:
            if isinstance(part, Word):
                so_far = records.setdefault(part.sentence, [])
                so_far.append(part.record)
                word = _word(so_far, part.number, model)
                yield _line({"sentence_id": part.sentence + 1, **word})
            else:
                for number, measured in enumerate(part, 1):
                    yield _line({"sentence_id": number, "problem": measured.problem})
    except REFUSALS as error:
        yield _line({"error": refusal(error)[1]})


def _line(content: Mapping[str, object]) -> str:
    return one_line(content) + "\n"


def _trees(found: TreesOf) -> dict[str, Any]:
    content: dict[str, Any] = {
        "tokens": list(found.tokens),
        "tags": None if found.tags is None else list(found.tags),
        "trees": [{"tree": each.tree, "log_prob": each.log_prob} for each in found.trees],
        "problem": found.problem or None,
    }
    if found.weights is not None:
        for tree, weights in zip(content["trees"], found.weights, strict=True):
            tree["weights"] = weights
    if found.posterior is not None:
        brackets = [
            {"label": b.label, "start": b.start, "end": b.end, "probability": p}
            for b, p in sorted(found.posterior.probabilities.items(), key=_place)
        ]
        decoded = format_tree(found.posterior.decode())
        entropy = found.posterior.entropy
        content["posterior"] = {"brackets": brackets, "tree": decoded, "entropy": entropy}
    return content


def _place(item: tuple[Any, float]) -> Sequence[object]:
    bracket = item[0]
    return bracket.start, -bracket.end, bracket.label, bracket.number


def _of_model(model: ServedModel) -> dict[str, Any]:
    kind = model.kind.name
    return {
        "name": model.name,
        "kind": kind,
        "description": model.description,
        "about": model.about,
    }
