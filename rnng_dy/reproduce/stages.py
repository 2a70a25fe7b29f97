"""The stages of a reproduction: rnng-dy commands, with the files that they read and write."""

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
UNKNOWN = {"ctb": "single"}
"""Rules of unknown words by corpus, if they are not Berkeley's."""
SEARCHES = ("beam", "particles")
PARTICLE_RUNS = 2
GROUPS = ("data", "train", "infer", "search", "baselines")
OPTIONAL = ("search", "baselines")
"""Groups of stages that a report does not need."""


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
    training: Mapping[str, int] = field(default_factory=dict)
    """Options of every `train` command that replace the preset's, by their Python names, such as `lstm_input`."""
    systems: Sequence[System] = PAPER
    """The systems to train; the first is compared with each other one."""
    beam: int = 100
    """Size of the beam; the fast track is a 20th, the word beam a 10th, and the particles of each run are tenfold."""


@dataclass(frozen=True)
class Stage:
    """A command, run in the folder of the reproduction; its standard output goes to `printed`."""

    name: str
    group: str
    command: tuple[str, ...]
    """The command without the leading `rnng-dy`."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    printed: str = ""
    free: tuple[str, ...] = ()
    """Flags on whose values the output does not depend: --jobs, --resume, --device."""
    preset: str = ""
    """The settings of a preset, on which the output depends, too."""


def stages(e: Experiment) -> list[Stage]:
    """Return all stages, each after those whose outputs it reads."""
    found = [*_data(e), *_baselines(e)]
    for seed in e.seeds:
        for i, system in enumerate(e.systems):
            # systems that differ only in the state share a parser
            if system.proposal not in [earlier.proposal for earlier in e.systems[:i]]:
                found += _parser(e, system.proposal, seed)
            found += _generator(e, system, seed)
    return found


def _data(e: Experiment) -> Iterator[Stage]:
    for part in PARTS:
        source = tuple(filter(None, [e.sources.get(part)]))
        options = f"--from {e.corpus} -o {part}.trees --skip-preterminals".split()
        if e.corpus in SECTIONS:
            options += ["--sections", SECTIONS[e.corpus][part]]
        command = ("prepare", *source, *options)
        yield Stage(f"trees {part}", "data", command, source, (f"{part}.trees",))
        if e.tags not in ("gold", "none"):
            yield _tagging(e, part)
    # always with the default system, which statistics, clusters and baselines use
    for transitions in dict.fromkeys((TOP_DOWN, *(s.transitions for s in e.systems))):
        for part in PARTS:
            for generative in (False, True):
                trees, train = (_trees(e, name, generative) for name in (part, "train"))
                output = oracle_of(part, transitions, generative)
                command = f"oracle --train {train} {trees} --unk {e.unk} -o {output}"
                command += " --generative" if generative else ""
                command += f" --transitions {transitions}" if transitions != TOP_DOWN else ""
                yield _stage(f"oracle {output}", "data", command, [train, trees], [output])
    # words show the other rules by themselves
    rules = " --unk berkeley-unicode" if e.unk == "berkeley-unicode" else ""
    command = f"clusters train.gen.oracle -o clusters.paths{rules}"
    yield _stage("clusters", "data", command, ["train.gen.oracle"], ["clusters.paths"])


def _tagging(e: Experiment, part: str) -> Stage:
    trees, outputs = f"{part}.trees", (f"{part}.tagged.trees", f"{part}.tags.json")
    if e.tags == "files":
        given, inputs = ["--tags", e.tag_files[part]], (trees, e.tag_files[part])
    elif part == "train":
        given, inputs = ["--jackknife", "10"], (trees,)
    else:
        given, inputs = ["--train", "train.trees"], (trees, "train.trees")
    command = ("tag", trees, *given, "-o", outputs[0], "--json", outputs[1])
    free = ("--jobs",) if "--jackknife" in given else ()
    return Stage(f"tags {part}", "data", command, inputs, outputs, free=free)


def _baselines(e: Experiment) -> Iterator[Stage]:
    test, words = "test.gen.oracle", ["train.gen.oracle", "clusters.paths"]
    command = f"perplexity {test} --kneser-ney {words[0]} --clusters {words[1]} --order {ORDER}"
    command += " --json kneser-ney.json"
    name = "perplexity kneser-ney"
    yield _stage(name, "baselines", command, [test, *words], ["kneser-ney.json"])
    for seed in e.seeds:
        model = f"lstm-{seed}"
        yield _training(e, "lstm-lm", model, seed, _word_data(TOP_DOWN), group="baselines")
        command = f"perplexity {test} --model {model} --json {model}.json"
        inputs, outputs = [test, *_files(model)], [f"{model}.json"]
        yield _stage(f"perplexity {model}", "baselines", command, inputs, outputs, ["--device"])


def _parser(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a parser, its greedy trees and its samples."""
    train, dev, test = (oracle_of(part, system.transitions, False) for part in PARTS)
    run = f"{system.slug}-{seed}"
    options = [*system.options("discriminative"), *([] if e.tags == "none" else ["--pos"])]
    data = f"--train {train} --dev {dev} --dev-trees dev.trees".split()
    yield _training(e, "discriminative", f"parser-{run}", seed, data, options)
    given = f"--model parser-{run} {test}"
    sampling = f"--samples {e.samples} --alpha {FLATTENED} --seed {seed}"
    for verb, more, output in (("parse", "", "greedy.trees"), ("sample", sampling, "props")):
        command, inputs = f"{verb} {given} {more}", [*_files(f"parser-{run}"), test]
        yield _long(f"{verb} {run}", "infer", command, inputs, f"{run}.{output}")


def _generator(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a generative model, its scores of the samples, and its own searches."""
    run, model = f"{system.slug}-{seed}", f"generator-{system.slug}-{seed}"
    options = system.options("generative")
    yield _training(e, "generative", model, seed, _word_data(system.transitions), options)
    props, scored = f"{system.proposal.slug}-{seed}.props", f"{run}.likelihoods"
    command, inputs = f"score --model {model} {props}", [*_files(model), props]
    yield _long(f"score {run}", "infer", command, inputs, scored)
    test = oracle_of("test", system.transitions, False)
    trees, printed = f"{run}.map.trees", f"{run}.marginals.txt"
    command = f"rerank {props} {scored} --ess --oracle {test} -o {trees}".split()
    inputs = (props, scored, test)
    yield Stage(f"rerank {run}", "infer", tuple(command), inputs, (trees, printed), printed)
    # sentence probabilities by the model alone, and the trees of its beam; ratios of sizes as by default
    test, trees = oracle_of("test", system.transitions), f"{run}.beam.trees"
    sizes = f"--fast-track {max(1, e.beam // 20)} --word-beam {max(1, e.beam // 10)}"
    runs = f"--runs {PARTICLE_RUNS} --seed {seed}"
    for search, given, more in (
        ("beam", f"--beam {e.beam} {sizes} --trees {trees}", [trees]),
        ("particles", f"--particles {10 * e.beam} {runs}", []),
    ):
        command = f"perplexity {test} --model {model} --search {search} {given}"
        name, output = f"perplexity {run} {search}", f"{run}.{search}.likelihoods"
        yield _long(name, "search", command, [*_files(model), test], output, *more)


def _training(
    e: Experiment,
    kind: str,
    model: str,
    seed: int,
    data: Sequence[str],
    options: Sequence[str] = (),
    group: str = "train",
) -> Stage:
    more = [x for k, v in e.training.items() for x in (f"--{k.replace('_', '-')}", str(v))]
    given = f"--preset {e.preset} --seed {seed}".split()
    command = ("train", kind, *data, *options, *given, *more, "--model", model)
    inputs = tuple(word for word in data if not word.startswith("--"))
    free, settings = ("--resume", "--device"), identity(e.preset, kind)
    return Stage(
        f"train {model}", group, command, inputs, _files(model), free=free, preset=settings
    )


def _long(
    name: str, group: str, command: str, inputs: Sequence[str], output: str, *more: str
) -> Stage:
    """Return a stage that several processes share and that can be resumed."""
    free = ["--jobs", "--resume", "--device"]
    return _stage(name, group, f"{command} -o {output}", inputs, [output, *more], free)


def _stage(
    name: str,
    group: str,
    command: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    free: Sequence[str] = (),
) -> Stage:
    words = tuple(command.split())
    return Stage(name, group, words, tuple(inputs), tuple(outputs), free=tuple(free))


def oracle_of(part: str, transitions: str = TOP_DOWN, generative: bool = True) -> str:
    """Return the name of a part's oracle; that of the default transition system has no prefix."""
    of_system = "" if transitions == TOP_DOWN else f"{transitions}."
    return f"{part}.{of_system}{'gen.' if generative else ''}oracle"


def _word_data(transitions: str) -> list[str]:
    """Return the options with the data of models of words."""
    train, dev = (oracle_of(part, transitions) for part in ("train", "dev"))
    return f"--train {train} --dev {dev} --clusters clusters.paths".split()


def _trees(e: Experiment, part: str, generative: bool) -> str:
    """Return the trees of a part; those of the parser have the tags that it reads."""
    as_they_are = generative or e.tags in ("gold", "none")
    return f"{part}.trees" if as_they_are else f"{part}.tagged.trees"


def _files(model: str) -> tuple[str, ...]:
    return tuple(f"{model}/{file}" for file in MODEL_FILES)
