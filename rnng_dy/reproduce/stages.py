"""The stages of a reproduction: rnng-dy commands, with the files that they read and write."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from oracle.transitions import DEFAULT as TOP_DOWN
from rnng_dy.reproduce.paper import ORDER
from rnng_dy.reproduce.systems import PAPER, System
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.training.presets import identity

PARTS = ("train", "dev", "test")
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
RESUMABLE = ("--jobs", "--resume", "--device")


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
    """A command that runs in the folder of the reproduction, `rnng-dy` left out."""

    name: str
    group: str
    command: str
    output: str
    """The file or model folder that it makes."""
    more_outputs: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    """Flags on whose values the output does not depend: --jobs, --resume, --device."""
    preset: str = ""
    """The settings of a preset, on which the output depends, too."""

    @property
    def words(self) -> list[str]:
        """The words of the command."""
        return shlex.split(self.command)

    @property
    def outputs(self) -> tuple[str, ...]:
        """All that it makes."""
        return self.output, *self.more_outputs


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
        trees = f"{part}.trees"
        source = f"{shlex.quote(e.sources[part])} " if part in e.sources else ""
        command = f"prepare {source}--from {e.corpus}"
        if e.corpus in SECTIONS:
            command += f" --sections {SECTIONS[e.corpus][part]}"
        command += f" --skip-preterminals -o {trees}"
        yield Stage(f"trees {part}", "data", command, trees)
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
                yield Stage(f"oracle {output}", "data", command, output)
    # words show the other rules by themselves
    rules = " --unk berkeley-unicode" if e.unk == "berkeley-unicode" else ""
    command = f"clusters train.gen.oracle -o clusters.paths{rules}"
    yield Stage("clusters", "data", command, "clusters.paths")


def _tagging(e: Experiment, part: str) -> Stage:
    trees, accuracy = f"{part}.tagged.trees", f"{part}.tags.json"
    free: tuple[str, ...] = ()
    if e.tags == "files":
        given = f"--tags {shlex.quote(e.tag_files[part])}"
    elif part == "train":
        given, free = "--jackknife 10", ("--jobs",)
    else:
        given = "--train train.trees"
    command = f"tag {part}.trees {given} -o {trees} -o {accuracy}"
    return Stage(f"tags {part}", "data", command, trees, (accuracy,), free)


def _baselines(e: Experiment) -> Iterator[Stage]:
    test, output = "test.gen.oracle", "kneser-ney.json"
    given = f"--scorer kneser-ney=train.gen.oracle --clusters clusters.paths --order {ORDER}"
    command = f"perplexity {test} {given} -o {output}"
    yield Stage("perplexity kneser-ney", "baselines", command, output)
    for seed in e.seeds:
        model = f"lstm-{seed}"
        yield _training(e, "lstm-lm", model, seed, _word_data(TOP_DOWN), "baselines")
        command, output = f"perplexity {test} --model {model} -o {model}.json", f"{model}.json"
        yield Stage(f"perplexity {model}", "baselines", command, output, free=("--device",))


def _parser(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a parser, its greedy trees and its samples."""
    train, dev, test = (oracle_of(part, system.transitions, False) for part in PARTS)
    run = f"{system.slug}-{seed}"
    options = f"{system.options('discriminative')}{'' if e.tags == 'none' else ' --pos'}"
    data = f"--train {train} --dev {dev} --dev-trees dev.trees {options}"
    yield _training(e, "discriminative", f"parser-{run}", seed, data)
    given = f"--model parser-{run} {test}"
    command, output = f"parse {given} -o {run}.greedy.trees", f"{run}.greedy.trees"
    yield Stage(f"parse {run}", "infer", command, output, free=RESUMABLE)
    sampling = f"--samples {e.samples} --alpha {FLATTENED} --seed {seed}"
    command, output = f"sample {given} {sampling} -o {run}.props", f"{run}.props"
    yield Stage(f"sample {run}", "infer", command, output, free=RESUMABLE)


def _generator(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a generative model, its scores of the samples, and its own searches."""
    run, model = f"{system.slug}-{seed}", f"generator-{system.slug}-{seed}"
    data = f"{_word_data(system.transitions)} {system.options('generative')}"
    yield _training(e, "generative", model, seed, data)
    props, scores = f"{system.proposal.slug}-{seed}.props", f"{run}.likelihoods"
    command = f"score --model {model} {props} -o {scores}"
    yield Stage(f"score {run}", "infer", command, scores, free=RESUMABLE)
    oracle, trees = oracle_of("test", system.transitions, False), f"{run}.map.trees"
    command = f"rerank {props} {scores} --oracle {oracle} -o {trees}"
    yield Stage(f"rerank {run}", "infer", command, trees)
    # sentence probabilities by the model alone, and the trees of its beam; ratios of sizes as by default
    test, trees = oracle_of("test", system.transitions), f"{run}.beam.trees"
    sizes = f"--fast-track {max(1, e.beam // 20)} --word-beam {max(1, e.beam // 10)}"
    runs = f"--runs {PARTICLE_RUNS} --seed {seed}"
    for search, given, more in (
        ("beam", f"--beam {e.beam} {sizes} -o {trees}", (trees,)),
        ("particles", f"--particles {10 * e.beam} {runs}", ()),
    ):
        output = f"{run}.{search}.tsv"
        command = f"perplexity {test} --model {model} --search {search} {given} -o {output}"
        yield Stage(f"perplexity {run} {search}", "search", command, output, more, RESUMABLE)


def _training(
    e: Experiment, kind: str, model: str, seed: int, data: str, group: str = "train"
) -> Stage:
    sizes = "".join(f" --{name.replace('_', '-')} {size}" for name, size in e.training.items())
    command = f"train {kind} {data} --preset {e.preset} --seed {seed}{sizes} --model {model}"
    free, settings = ("--resume", "--device"), identity(e.preset, kind)
    return Stage(f"train {model}", group, command, model, free=free, preset=settings)


def oracle_of(part: str, transitions: str = TOP_DOWN, generative: bool = True) -> str:
    """Return the name of a part's oracle; that of the default transition system has no prefix."""
    of_system = "" if transitions == TOP_DOWN else f"{transitions}."
    return f"{part}.{of_system}{'gen.' if generative else ''}oracle"


def _word_data(transitions: str) -> str:
    """Return the options with the data of models of words."""
    train, dev = (oracle_of(part, transitions) for part in ("train", "dev"))
    return f"--train {train} --dev {dev} --clusters clusters.paths"


def _trees(e: Experiment, part: str, generative: bool) -> str:
    """Return the trees of a part; those of the parser have the tags that it reads."""
    as_they_are = generative or e.tags in ("gold", "none")
    return f"{part}.trees" if as_they_are else f"{part}.tagged.trees"
