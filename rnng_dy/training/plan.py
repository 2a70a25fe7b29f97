"""How to train: the options as a plan, and the settings that follow from plan and data."""

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from oracle.common.errors import InputError, RnngError
from rnng_dy import checkpoint, engine, kinds, model_folder
from rnng_dy.models.network import DEFAULT_PARTS
from rnng_dy.parallel import check_jobs
from rnng_dy.settings import option_name, require, require_setting
from rnng_dy.training.data import Corpus, Data
from rnng_dy.training.presets import GOES, Settings, settings_for
from rnng_dy.training.replicas import Ranks


@dataclass(frozen=True)
class Plan:
    """How to train which model. `train` explains the fields that are options."""

    kind: type[Any]
    settings: Mapping[str, Any]
    """Fields of `Settings` that differ from the preset's."""
    sizes: Mapping[str, int]
    """Dimensions that differ from the preset's."""
    parts: Mapping[str, str]
    """The parts of the network that are chosen, by DEFAULT_PARTS."""
    _: KW_ONLY
    folder: Path
    resume: bool = False
    init: str | os.PathLike[str] | None = None
    extend: bool = False
    pos: bool = False
    tagger: bool = True
    pretrained: str | None = None
    clusters: str | None = None
    open: bool = False
    device: str = field(default_factory=engine.device)
    ranks: Ranks | None = None
    command: str | None = None

    @property
    def is_first(self) -> bool:
        """Whether this process writes the folder: it alone, or the first of several ranks."""
        return self.ranks is None or self.ranks.rank == 0

    @property
    def resumes(self) -> bool:
        """Whether the training in the folder continues."""
        return self.resume and self.folder.exists()

    def sentences_per_epoch(self, corpus: Corpus) -> int:
        """Return the number of sentences of an epoch, where gold sentences count several times."""
        again = self.settings.get("gold", 0) * (self.settings.get("gold_weight", 1) - 1)
        return len(corpus.train) + again

    def inputs(self, corpus: Corpus) -> dict[str, Any]:
        """Return what identifies the data, with which alone the training may be resumed."""
        files = {"clusters": self.clusters, "pretrained": self.pretrained}
        return {
            "train": corpus.train.hash,
            "dev": checkpoint.content_hash(corpus.dev),
            "init": bool(self.init) and os.fspath(self.init),
            **({"extend": True} if self.extend else {}),
            **{n: checkpoint.content_hash(Path(path)) for n, path in files.items() if path},
        }


def planned(kind: str, options: Mapping[str, Any]) -> tuple[Data, Plan]:
    """Divide the options of a training into what to train on and how; None counts as absent.

    Raises RnngError for an unknown name, a value out of its range, and options that do not go
    together or leave something out.
    """
    model_class = kinds.kind(kind)
    given = {name: value for name, value in options.items() if value is not None}
    rest = dict(given)
    settings, sizes = (taken(rest, table) for table in (Settings, model_class.sizes_type))
    parts = {name: rest.pop(name) for name in DEFAULT_PARTS if name in rest}
    data = Data(**taken(rest, Data))
    if unknown := rest.keys() - {option.name for option in fields(Plan) if option.kw_only}:
        raise RnngError(f"no setting of a {kind} training is called {min(unknown)!r}")
    plan = Plan(model_class, settings, sizes, parts, **rest)
    values = dict.fromkeys(("gold", "gold_weight", *DEFAULT_PARTS))
    # a tagger is what a parser has unless it is left out
    values |= vars(data) | vars(plan) | given | {"kind": kind, "tagger": not plan.tagger}
    chosen = {name for name, x in values.items() if x is not None and x is not False}
    require({name: rule for name, rule in GOES.items() if name in chosen}, values)
    check_jobs(settings.get("jobs", 1), plan.device)
    if plan.resumes and data.trees is data.train is None:
        made = (model_folder.read_about(plan.folder) or {}).get("made", {}).get("command")
        made_by = f"; {plan.folder} was made by: {made}" if made else ""
        raise RnngError(f"`resume` needs the same data again{made_by}")
    data.require_whole(parses=not model_class.generates_words)
    return data, plan


def taken(options: dict[str, Any], table: Any) -> dict[str, Any]:
    """Take the fields of a dataclass out of options.

    Raises RnngError for a value out of its range.
    """
    values = {}
    for option in fields(table):
        if (name := option_name(option.name)) in options:
            values[option.name] = options.pop(name)
            if option.metadata:
                require_setting(option, values[option.name])
    return values


def settings_of(plan: Plan, state: Mapping[str, Any] | None, corpus: Corpus) -> Settings:
    """Return the settings: of the plan, else those of the state that continues, or of the preset.

    Raises RnngError for settings that do not fit each other or the data.
    """
    chosen = dict(plan.settings)
    if engine.device() != engine.CPU:
        # a preset, or a training started on the CPU, may have more
        chosen["jobs"] = 1
    elif plan.ranks is not None:
        chosen["jobs"] = plan.ranks.count
    if state:
        base = state["settings"]
    else:
        preset, sentences = chosen.get("preset", "paper"), plan.sentences_per_epoch(corpus)
        base = settings_for(preset, plan.kind.kind, sentences)
    settings = replace(base, **chosen)
    require({name: GOES[name] for name in {"decay"} & chosen.keys()}, asdict(settings))
    if settings.jobs > settings.batch_size:
        are = f"which are {settings.batch_size}: give `batch_size` {settings.jobs} or more"
        message = f"{settings.jobs} processes share the sentences of an update, {are}"
        raise RnngError(f"{message}, or fewer processes (`jobs`)")
    if settings.gold > len(corpus.train):
        message = f"{len(corpus.train)} sentences, fewer than gold={settings.gold}"
        raise InputError(message, corpus.source)
    return settings
