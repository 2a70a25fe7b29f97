"""The pages: forms whose address holds all that was asked for, and the answers below them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, ValidationError

from oracle.brackets import format_tree, parse_line
from rnng_dy.drawing import pages
from rnng_dy.drawing.sections import by_number
from rnng_dy.drawing.surprisal_page import percent, values
from rnng_dy.drawing.tree_page import svg
from rnng_dy.drawing.trees import Picture
from rnng_dy.evaluation.evalb_sentence import score_sentence
from rnng_dy.serve.answers import measured, parse
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.requests import ParsedSentence, names_of, reason_of
from rnng_dy.serve.worker import Worker

GARDEN_PATH = "After the patient visited the doctor left the room."
CONTROL = "After the patient visited, the doctor left the room."
EXAMPLES = {
    "parse": {"text": "The old man saw the girl with the telescope.", "k": "1", "samples": "0"},
    "surprisal": {"text": f"{GARDEN_PATH}\n{CONTROL}", "end": "true"},
}
"""The fields of a page that was not asked for anything."""
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}
Answered = list[tuple[Any, Any]]
"""Requests to models with their answers."""


class Pages:
    """The pages of a server; a page needs a model that can answer."""

    def __init__(
        self,
        worker: Worker,
        limits: Limits,
        kinds: Mapping[str, type[BaseModel]],
        openapi: Callable[[], dict[str, Any]],
    ):
        self._worker, self._limits, self._kinds, self._openapi = worker, limits, kinds, openapi
        titles = {"parse": "Parse", "surprisal": "Surprisal"}
        self._served = {name: title for name, title in titles.items() if name in kinds}
        self._served["api"] = "API"

    def routes(self) -> dict[str, Callable]:
        """Return the endpoints by path."""
        first = next(iter(self._served))
        found = {f"/{name}": getattr(self, name) for name in self._served}
        return {"/": lambda: RedirectResponse(first), **found, "/static/{name}": self.static}

    def static(self, name: str) -> Response:
        """Return the style sheet or the script."""
        if name not in STATIC:
            raise HTTPException(404, "no such file")
        return Response(pages.source(name), media_type=STATIC[name])

    def api(self, request: Request) -> Response:
        """Return the documentation of the JSON interface, made of its description as OpenAPI."""
        shown = {"openapi": self._openapi(), "base": str(request.base_url)}
        return HTMLResponse("".join(pages.parts("api.html", served=self._served, **shown)))

    async def parse(self, request: Request) -> Response:
        """Return the trees of a text by one or two models."""
        return await self._page(request, "parse", parse, self._drawn)

    async def surprisal(self, request: Request) -> Response:
        """Return bars of the words of sentences by one or two models, with the film of the beam."""
        return await self._page(request, "surprisal", measured, self._bars)

    async def _page(
        self,
        request: Request,
        name: str,
        answer: Callable,
        show: Callable[[Answered], dict[str, Any]],
    ) -> Response:
        given = request.query_params
        query = {**EXAMPLES[name], "model": "", "other": ""}
        query |= {field: given[field] for field in query if given.get(field)}
        # forms send line feeds as CR LF
        query["text"] = query["text"].replace("\r\n", "\n")
        status, problem, answered = 200, "", []
        try:
            for wanted in self._wanted(name, query):
                answered.append((wanted, await self._worker.run(request, answer, wanted)))
        except ValidationError as error:
            status, problem, answered = 422, reason_of(error), []
        except HTTPException as error:
            status, problem, answered = error.status_code, error.detail, []
        names = names_of(name, self._worker.models)
        common = {"served": self._served, "limits": self._limits, "query": query, "names": names}

        def html() -> str:
            shown = {"problem": problem, **show(answered)}
            return "".join(pages.parts(f"{name}.html", **common, **shown))

        # the event loop continues meanwhile
        return HTMLResponse(await asyncio.to_thread(html), status)

    def _wanted(self, name: str, query: Mapping[str, str]) -> Iterator[Any]:
        """Yield the requests to the chosen model and to the one to compare it with. Raises ValidationError."""
        fields = {field: text for field, text in query.items() if field != "other"}
        first = query["model"] or names_of(name, self._worker.models)[0]
        for model in dict.fromkeys(filter(None, [first, query["other"]])):
            own = {**fields, "model": model}
            if name == "parse" and self._generates(model):
                # only parsers have samples of a given sentence
                own["samples"] = "0"
            yield self._kinds[name].model_validate_strings(own)

    def _generates(self, model: str) -> bool:
        return hasattr(self._worker.models.get(model), "surprisals_of")

    def _drawn(self, answered: Answered) -> dict[str, Any]:
        """Return the values of parse.html."""
        sentences = []
        # models may split a text differently
        for number in range(max((len(found.sentences) for _, found in answered), default=0)):
            of_models = [(w.model, of.sentences[number : number + 1]) for w, of in answered]
            found = [(name, of[0]) for name, of in of_models if of]
            firsts = [parse_line(of.trees[0].tree) if of.trees else None for _, of in found]
            shown = []
            for (name, of), tree, other in zip(found, firsts, reversed(firsts), strict=True):
                pictures = list(_pictures(of, self._generates(name)))
                if len(found) > 1 and tree is not None and other is not None:
                    why = "not in the first tree of the other model"
                    marked = score_sentence(other, tree).wrong
                    pictures[0] = pictures[0]._replace(marked=marked, why=why)
                shown += [(name if len(answered) > 1 else "", picture) for picture in pictures]
            sentences.append((found[0][1], shown))
        return {"sentences": sentences, "svg_of": svg, "brackets_of": format_tree}

    def _bars(self, answered: Answered) -> dict[str, Any]:
        """Return the values of surprisal.html."""
        rows = [
            (f"{number}, {wanted.model}" if len(answered) > 1 else f"{number}", wanted.model, of)
            for wanted, found in answered
            for number, of in enumerate(found, 1)
        ]
        rows.sort(key=lambda row: int(row[0].split(",")[0]))
        systems = [getattr(self._worker.models[name], "transitions", None) for _, name, _ in rows]
        shown = values([of.records for *_, of in rows], systems, [name for name, *_ in rows])
        problem = " ".join(of.problem for *_, of in rows if of.problem)
        title = "Where does a sentence surprise?"
        return {**shown, "title": title, **({"problem": problem} if problem else {})}


def _pictures(found: ParsedSentence, is_joint: bool) -> Iterator[Picture]:
    """Yield the pictures of a model's trees; then the tree of highest expected F1, if there are samples."""
    for rank, each in enumerate(found.trees, 1):
        said = f"{rank}: log probability {each.log_prob:.2f}"
        if not is_joint:
            said += f", {percent(math.exp(min(0.0, each.log_prob)))}"
        tree = parse_line(each.tree)
        weights = by_number(tree, each.weights) if each.weights else None
        yield Picture(tree, said, weights=weights, posteriors=each.posteriors or None)
    if found.posterior is not None:
        best = found.posterior
        said = "tree of highest expected F1"
        yield Picture(parse_line(best.tree), said, posteriors=best.posteriors)
