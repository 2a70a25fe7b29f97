"""The work of a process or thread that computes: it answers batches of requests, part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from oracle.errors import RnngError
from rnng_dy import load
from rnng_dy.registry import KINDS
from rnng_dy.serve.answers import ANSWERS, Answer, Refusal, Steps, Word
from rnng_dy.serve.requests import Limits, Request, ServedModel


class Part(NamedTuple):
    """A part of the work on a batch."""

    words: Sequence[Word]
    answers: Sequence[Answer] | None
    """None if there is more to compute."""


GO_ON = None
"""The item of work that asks for the next part of the last batch."""


def open_answers(
    models: Mapping[str, object], limits: Limits, device: str | None = None
) -> Callable[[Sequence[Request] | None], Sequence[ServedModel] | Part]:
    """Return a function that begins batches and continues them, and describes the models for an empty batch.

    Models are loaded ones, or folders, archives or names. A new batch ends the one before.
    """
    loaded = {
        name: load(model, device) if isinstance(model, str) else model
        for name, model in models.items()
    }
    folders = {name: model for name, model in models.items() if isinstance(model, str)}
    steps: Steps

    def answers(batch: Sequence[Request] | None) -> Sequence[ServedModel] | Part:
        nonlocal steps
        if batch is not GO_ON:
            if not batch:
                return [
                    _described(name, model, folders.get(name)) for name, model in loaded.items()
                ]
            steps = _answers(loaded[batch[0].model], batch, limits)
        try:
            return Part(next(steps), None)
        except StopIteration as ended:
            return Part((), ended.value)

    return answers


def _described(name: str, model: Any, folder: str | None) -> ServedModel:
    tags = getattr(model.vocabulary, "tags", None)
    return ServedModel(
        name,
        KINDS[model.kind],
        repr(model)[1:-1],
        model.about or {},
        getattr(model, "transitions", None),
        tuple(sorted(tags.symbols)) if tags is not None and model.tagger is not None else (),
        folder,
    )


def _answers(model: Any, batch: Sequence[Request], limits: Limits) -> Steps:
    """Answer requests that can be computed together; if that fails, one by one."""
    try:
        return (yield from ANSWERS[type(batch[0])](model, batch, limits))
    except (RnngError, MemoryError) as error:
        if len(batch) == 1:
            return [Refusal(str(error) or "it does not fit into the memory of the server")]
    found = []
    for request in batch:
        found += yield from _without_words(_answers(model, [request], limits))
    return found


def _without_words(steps: Steps) -> Steps:
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return ended.value
        yield ()
