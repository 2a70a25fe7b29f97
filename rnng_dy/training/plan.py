"""How to train: a plan, the model that it begins with, and the settings that follow from both and the data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from oracle.common.errors import InputError, RnngError
from rnng_dy import checkpoint, companions, engine
from rnng_dy.parallel import check_jobs
from rnng_dy.settings import require
from rnng_dy.training import loop
from rnng_dy.training.data import Data
from rnng_dy.training.initial_models import require_like
from rnng_dy.training.presets import GOES, NAMES, Settings, settings_for


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to train which model."""

    kind: type[Any]
    folder: Path
    resume: bool
    init: str | os.PathLike[str] | None
    extend: bool
    parts: Mapping[str, str]
    """The parts of the network that are chosen."""
    preset: str | None
    settings: dict[str, Any]
    """Fields of `Settings` that differ from the preset's."""
    sizes: dict[str, int]
    pos: bool
    tagger: bool
    pretrained: str | None
    clusters: str | None
    open: bool
    device: str

    def __post_init__(self) -> None:
        """Raise RnngError for an unknown preset, and for several processes with a GPU."""
        if self.preset not in (None, *NAMES):
            raise RnngError(f"no preset is called {self.preset!r}: {', '.join(NAMES)}")
        check_jobs(self.settings.get("jobs", 1), self.device)

    @property
    def resumes(self) -> bool:
        """Whether the training in the folder continues."""
        return self.resume and self.folder.exists()

    def inputs(self, data: Data) -> dict[str, Any]:
        """Return what identifies the data, with which alone the training may be resumed."""
        files = {"clusters": self.clusters, "pretrained": self.pretrained}
        return {
            "train": data.train.hash,
            "dev": checkpoint.content_hash(data.dev),
            "init": bool(self.init) and os.fspath(self.init),
            **({"extend": True} if self.extend else {}),
            **{n: checkpoint.content_hash(Path(path)) for n, path in files.items() if path},
        }


class Start(NamedTuple):
    """What a training begins with."""

    model: Any
    """The model of the folder, or of `init`; None if a new one is to be made."""
    saved: Mapping[str, Any] | None
    """The state of the training that continues."""
    origin: object
    """The folder, or `init`, if there is a model."""
    preset: str


def opened(plan: Plan, resumes: bool) -> Start:
    """Open the model that the training begins with. Raises RnngError for one that does not fit the plan."""
    if not (resumes or plan.init):
        return Start(None, None, None, plan.preset or NAMES[0])
    origin = plan.folder if resumes else plan.init
    # a resumed model gets its parameters from the training state
    model = (plan.kind.build if resumes else plan.kind.load)(origin)
    require_like(model, plan.parts, plan.sizes, origin)
    if plan.pos and model.vocabulary.tags is None:
        raise RnngError(f"{origin} was trained without `pos`")
    if not resumes:
        checkpoint.warn_of_model(model, origin)
        return Start(model, None, origin, plan.preset or NAMES[0])
    if changed := companions.changed_plugins(model):
        raise RnngError(f"{origin} was trained with another {changed[0]}: resume with it")
    if plan.open and model.spelling is None:
        raise RnngError(f"{origin} was trained without `open`: resume without it")
    before = (model.about or {}).get("settings", {}).get("preset", plan.preset)
    if plan.preset not in (None, before):
        raise RnngError(f"{origin} was trained with `preset` {before}: leave it out")
    return Start(model, loop.saved_state(plan.folder), origin, before or NAMES[0])


def settings_of(plan: Plan, start: Start, data: Data) -> tuple[Settings, dict[str, Any]]:
    """Return the settings, and what identifies the data. Raises RnngError for settings that do not fit.

    Settings that are not given are those of the training that continues, or the preset's.
    """
    chosen, inputs = dict(plan.settings), plan.inputs(data)
    if engine.device() != engine.CPU:
        # a preset, or a training started on the CPU, may have more
        chosen["jobs"] = 1
    base = start.saved["settings"] if start.saved else settings_for(*preset_of(plan, start, data))
    settings = replace(base, **chosen)
    require({name: GOES[name] for name in {"decay"} & chosen.keys()}, asdict(settings))
    if settings.jobs > settings.batch_size:
        raise RnngError(
            f"{settings.jobs} processes share the sentences of an update, which are {settings.batch_size}: give "
            f"`batch_size` {settings.jobs} or more, or fewer processes (`jobs`)"
        )
    if start.saved:
        inputs = {**start.saved["inputs"], **inputs}
        loop.require_same(start.saved, settings, inputs, plan.folder)
    if settings.gold > len(data.train):
        message = f"{len(data.train)} sentences, fewer than gold={settings.gold}"
        raise InputError(message, data.source)
    return settings, inputs


def preset_of(plan: Plan, start: Start, data: Data) -> tuple[str, str, int]:
    """Return what a preset's values depend on: its name, the kind of model, and the sentences of an epoch."""
    again = plan.settings.get("gold", 0) * (plan.settings.get("gold_weight", 1) - 1)
    return start.preset, plan.kind.kind, len(data.train) + again
