"""The stages of a reproduction: rnng-dy commands with the files that they read and write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from oracle.transitions import DEFAULT as TOP_DOWN
from rnng_dy.reproduce.paper import ORDER
from rnng_dy.reproduce.systems import PAPER, System
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.training.presets import identity

PARTS = ("train", "dev", "test")
MODEL_FILES = ("config.json", "vocabulary.json", "parameters.npz")
# sections of the PTB, file numbers of the CTB and of NLTK's sample
SECTIONS = {
    "ptb": {"train": "2-21", "dev": "24", "test": "23"},
    "ctb": {"train": "1-270,440-1151", "dev": "301-325", "test": "271-300"},
    "nltk": {"train": "1-159", "dev": "160-179", "test": "180-199"},
}
_DRAWING = ("--max-length", "60", "--or-none")
PARTICLE_RUNS = 2
GROUPS = ("data", "train", "infer", "search", "baselines")
OPTIONAL = ("search", "baselines")
"""Groups of stages that a report does not need."""
ON_DEVICE = ("--device", "{device}")
ALL_FREE = ("--jobs", "{jobs}", "--resume", *ON_DEVICE)
"""The options of `Stage.free` for a model that several processes may share and that can be resumed."""


@dataclass(frozen=True)
class Stage:
    """A command, run in the folder of the reproduction; its standard output goes to `printed`."""

    name: str
    group: str
    command: tuple[str, ...]
    """The command without the leading `rnng-dy`."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    printed: str | None = None
    free: tuple[str, ...] = ()
    """Further options, on which the output does not depend, but for the rounding of a GPU."""
    also: str = ""
    """Settings of a preset, on which the output depends besides command and inputs."""
    kind: str = ""
    """The kind of model that the stage trains, if any."""
    search: str = ""
    """The search that the stage runs with a generative model, if any."""
    system: System | None = None
    """The system whose model the stage trains or uses, if that takes long."""

    @property
    def verb(self) -> str:
        """The name of the command."""
        return self.command[0]


@dataclass(frozen=True)
class Experiment:
    """The settings of a reproduction."""

    corpus: str
    """ptb, ctb, nltk or trees."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The treebank of each part."""
    seeds: Sequence[int] = (1,)
    tags: str = "jackknife"
    """jackknife, gold, none, or `files`."""
    tag_files: Mapping[str, str] = field(default_factory=dict)
    unk: str = "berkeley"
    preset: str = "paper"
    samples: int = 100
    alpha: float = FLATTENED
    folds: int = 10
    generated: int = 10
    training: Mapping[str, int] = field(default_factory=dict)
    """Options of every `train` command that replace the preset's, by their Python names, such as `lstm_input`."""
    systems: Sequence[System] = PAPER
    """The systems to train and compare."""
    compare: str = "first"
    """`first` compares the first system with each other one, `pairs` all pairs."""
    beam: int = 100
    """Beam size of searches with the generative model alone."""
    particles: int = 1000
    """Particles in each of PARTICLE_RUNS."""


def stages(e: Experiment) -> list[Stage]:
    """Return all stages, each after those whose outputs it reads."""
    found = [*_data(e), *_baselines(e)]
    for seed in e.seeds:
        for i, system in enumerate(e.systems):
            # systems that differ only in the state share a parser
            is_first = system.proposal not in [earlier.proposal for earlier in e.systems[:i]]
            if is_first:
                found.append(_parser(e, system.proposal, seed))
            found.append(_generator(e, system, seed))
            if is_first:
                found += _proposals(e, system.proposal, seed)
            found += _inference(e, system, seed)
    return found


def _data(e: Experiment) -> Iterator[Stage]:
    for part in PARTS:
        trees = f"{part}.trees"
        source = e.sources.get(part)
        command = ["prepare", *([source] if source else []), "--from", e.corpus, "-o", trees]
        if e.corpus in SECTIONS:
            command += ["--sections", SECTIONS[e.corpus][part]]
        inputs = (source,) if source else ()
        yield Stage(f"trees {part}", "data", (*command, "--skip-preterminals"), inputs, (trees,))
        if e.tags not in ("gold", "none"):
            yield _tagging(e, part)
    # always with the default system, which statistics, clusters and baselines use
    for transitions in dict.fromkeys((TOP_DOWN, *(s.transitions for s in e.systems))):
        for part in PARTS:
            yield from _oracles(e, part, transitions)
    # words show the other rules by themselves
    rules = ("--unk", e.unk) if e.unk == "berkeley-unicode" else ()
    command = ("clusters", "train.gen.oracle", *rules, "-o", "clusters.paths")
    yield Stage("clusters", "data", command, ("train.gen.oracle",), ("clusters.paths",))


def _oracles(e: Experiment, part: str, transitions: str) -> Iterator[Stage]:
    """Yield the oracles of parser and generative model; the words are the same with any tags."""
    of_system = () if transitions == TOP_DOWN else ("--transitions", transitions)
    for generative, trees, train, options in (
        (False, _tagged(e, part), _tagged(e, "train"), of_system),
        (True, f"{part}.trees", "train.trees", ("--generative", *of_system)),
    ):
        output = _oracle(part, transitions, generative)
        command = ("oracle", "--train", train, trees, *options, "--unk", e.unk, "-o", output)
        inputs = tuple(dict.fromkeys((train, trees)))
        yield Stage(f"oracle {output}", "data", command, inputs, (output,))


def _oracle(part: str, transitions: str = TOP_DOWN, generative: bool = True) -> str:
    """Return the name of a part's oracle; the default system's has no prefix, as in earlier versions."""
    of_system = "" if transitions == TOP_DOWN else f"{transitions}."
    return f"{part}.{of_system}{'gen.' if generative else ''}oracle"


def _word_data(transitions: str = TOP_DOWN) -> tuple[str, ...]:
    """Return the options with the data of models of words."""
    train, dev = (_oracle(part, transitions) for part in ("train", "dev"))
    return "--train", train, "--dev", dev, "--clusters", "clusters.paths"


def _tagged(e: Experiment, part: str) -> str:
    """Return the name of the trees whose tags the parser reads."""
    return f"{part}.trees" if e.tags in ("gold", "none") else f"{part}.tagged.trees"


def _tagging(e: Experiment, part: str) -> Stage:
    trees, output = f"{part}.trees", f"{part}.tagged.trees"
    if e.tags == "files":
        given, inputs = ("--tags", e.tag_files[part]), (trees, e.tag_files[part])
    elif part == "train":
        given, inputs = ("--jackknife", str(e.folds)), (trees,)
    else:
        given, inputs = ("--train", "train.trees"), (trees, "train.trees")
    numbers = f"{part}.tags.json"
    command = ("tag", trees, *given, "-o", output, "--json", numbers)
    free = ("--jobs", "{jobs}") if part == "train" and e.tags == "jackknife" else ()
    return Stage(f"tags {part}", "data", command, inputs, (output, numbers), free=free)


def _train(
    e: Experiment,
    kind: str,
    name: str,
    seed: int,
    data: tuple[str, ...],
    extra: tuple[str, ...] = (),
    system: System | None = None,
) -> Stage:
    """Return the training stage of a system's model or of a baseline."""
    more = [x for k, v in e.training.items() for x in (f"--{k.replace('_', '-')}", str(v))]
    command = ("train", kind, *data, *extra, "--preset", e.preset, "--seed", str(seed), *more)
    inputs = tuple(file for file in data if not file.startswith("--"))
    return Stage(
        f"train {name}",
        "train" if system else "baselines",
        (*command, "--model", name),
        inputs,
        _files(name),
        free=("--resume", *ON_DEVICE),
        also=identity(e.preset, kind),
        kind=kind,
        system=system,
    )


def _parser(e: Experiment, system: System, seed: int) -> Stage:
    train, dev = (_oracle(part, system.transitions, generative=False) for part in ("train", "dev"))
    data = ("--train", train, "--dev", dev, "--dev-trees", "dev.trees")
    extra = (*system.options("discriminative"), *(() if e.tags == "none" else ("--pos",)))
    return _train(e, "discriminative", f"parser-{system.slug}-{seed}", seed, data, extra, system)


def _generator(e: Experiment, system: System, seed: int) -> Stage:
    data, extra = _word_data(system.transitions), system.options("generative")
    return _train(e, "generative", f"generator-{system.slug}-{seed}", seed, data, extra, system)


def _long(
    verb: str, run: str, system: System, given: Sequence[str], inputs: Sequence[str], output: str
) -> Stage:
    """Return a stage that several processes share and that can be resumed."""
    command = (verb, *given, "-o", output)
    return Stage(
        f"{verb} {run}", "infer", command, tuple(inputs), (output,), free=ALL_FREE, system=system
    )


def _proposals(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the stages of a parser's greedy trees and samples."""
    run, test = f"{system.slug}-{seed}", _oracle("test", system.transitions, generative=False)
    model, inputs = ("--model", f"parser-{run}"), (*_files(f"parser-{run}"), test)
    yield _long("parse", run, system, (*model, test), inputs, f"{run}.greedy.trees")
    options = ("--samples", str(e.samples), "--alpha", str(e.alpha), "--seed", str(seed))
    yield _long("sample", run, system, (*model, *options, test), inputs, f"{run}.props")


def _inference(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    run, test = f"{system.slug}-{seed}", _oracle("test", system.transitions, generative=False)
    props, scored = f"{system.proposal.slug}-{seed}.props", f"{run}.likelihoods"
    best, marginals = f"{run}.map.trees", f"{run}.marginals.txt"
    model, inputs = ("--model", f"generator-{run}"), (*_files(f"generator-{run}"), props)
    yield _long("score", run, system, (*model, props), inputs, scored)
    command = ("rerank", props, scored, "--ess", "--oracle", test, "-o", best)
    yield Stage(
        f"rerank {run}", "infer", command, (props, scored, test), (best, marginals), marginals
    )
    yield from _searches(e, system, seed)
    if seed == e.seeds[0]:
        yield _drawing(e, f"generator-{run}", "infer", f"{run}.generated.trees")


def _searches(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the searches with the generative model alone: sentence probabilities, and the trees of the beam."""
    run = f"{system.slug}-{seed}"
    model, source = f"generator-{run}", _oracle("test", system.transitions)
    trees = f"{run}.beam.trees"
    # the same ratios as the search's default sizes
    fast_track, word_beam = max(1, e.beam // 20), max(1, e.beam // 10)
    sizes = ("--fast-track", str(fast_track), "--word-beam", str(word_beam), "--trees", trees)
    runs = ("--runs", str(PARTICLE_RUNS), "--seed", str(seed))
    for search, options, more in (
        ("beam", ("--beam", str(e.beam), *sizes), (trees,)),
        ("particles", ("--particles", str(e.particles), *runs), ()),
    ):
        output = f"{run}.{search}.likelihoods"
        command = ("perplexity", source, "--model", model, "--search", search, *options)
        yield Stage(
            f"perplexity {run} {search}",
            "search",
            (*command, "-o", output),
            (*_files(model), source),
            (output, *more),
            free=ALL_FREE,
            search=search,
            system=system,
        )


def _baselines(e: Experiment) -> Iterator[Stage]:
    given = ("--kneser-ney", "train.gen.oracle", "--clusters", "clusters.paths")
    yield _perplexity("kneser-ney", (*given, "--order", str(ORDER)), (given[1], given[3]))
    for seed in e.seeds:
        name = f"lstm-{seed}"
        yield _train(e, "lstm-lm", name, seed, _word_data())
        yield _perplexity(name, ("--model", name), _files(name))
        if seed == e.seeds[0]:
            yield _drawing(e, name, "baselines", f"{name}.generated.txt")


def _perplexity(name: str, given: tuple[str, ...], inputs: tuple[str, ...]) -> Stage:
    numbers = f"{name}.json"
    command = ("perplexity", "test.gen.oracle", *given, "--json", numbers)
    inputs = ("test.gen.oracle", *inputs)
    return Stage(f"perplexity {name}", "baselines", command, inputs, (numbers,), free=ON_DEVICE)


def _drawing(e: Experiment, model: str, group: str, output: str) -> Stage:
    command = ("generate", "--model", model, "-n", str(e.generated), *_DRAWING, "-o", output)
    return Stage(f"generate {model}", group, command, _files(model), (output,), free=ON_DEVICE)


def _files(model: str) -> tuple[str, ...]:
    return tuple(f"{model}/{file}" for file in MODEL_FILES)
