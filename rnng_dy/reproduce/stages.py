"""The stages of a reproduction: rnng-dy commands, with the files that they read and write."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from oracle.transitions import SYSTEMS
from rnng_dy.reproduce.paper import ORDER
from rnng_dy.reproduce.systems import PAPER, System
from rnng_dy.search.sampling import FLATTENED

PARTS = ("train", "dev", "test")
# sections of the PTB, file numbers of the CTB and of NLTK's sample
SECTIONS = {
    "ptb": {"train": "2-21", "dev": "24", "test": "23"},
    "ctb": {"train": "1-270,440-1151", "dev": "301-325", "test": "271-300"},
    "nltk": {"train": "1-159", "dev": "160-179", "test": "180-199"},
}
UNKNOWN = {"ctb": "single"}
"""Rules of unknown words by corpus, if they are not Berkeley's."""
BASELINES, SEARCH = OPTIONAL = "baselines", "search"
"""The groups of stages that a report does not need."""
GROUPS = ("data", "train", "infer", *OPTIONAL)
SEARCHES = {
    "beam": "--beam 100 --fast-track 5 --word-beam 10",
    "particles": "--search particles --particles 1000 --seed {seed}",
}
"""Searches for perplexities, beside the paper's samples."""
ALPHAS = (0.6, 0.7, FLATTENED, 0.9, 1.0)
"""Each alpha by which the parser of the first system draws samples."""
PARALLEL = ("--jobs", "--device")


@dataclass(frozen=True)
class Experiment:
    """The settings of a reproduction."""

    corpus: str
    """ptb, ctb, nltk or trees."""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The treebank of each part, or its files."""
    seeds: Sequence[int] = (1,)
    tags: str = "jackknife"
    """One of `systems.TAGS`."""
    unk: str = "berkeley"
    preset: str = "paper"
    samples: int = 100
    training: str = ""
    """Options of every `train` command that replace the preset's."""
    systems: Sequence[System] = PAPER
    """The systems to train; the first is compared with each other one."""


@dataclass(frozen=True)
class Stage:
    """A command that runs in the folder of the reproduction, `rnng-dy` left out."""

    name: str
    group: str
    command: str
    free: tuple[str, ...] = ()
    """Flags on whose values the output does not depend: --jobs, --resume, --device."""

    @cached_property
    def words(self) -> list[str]:
        """The words of the command."""
        return shlex.split(self.command)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The files that it makes, or the model folder."""
        flag = "--model" if self.words[0] == "train" else "-o"
        return tuple(word for before, word in pairwise(self.words) if before == flag)


def stages(e: Experiment) -> list[Stage]:
    """Return all stages, each after those whose outputs it reads."""
    planned = [*_data(e), *_baselines(e)]
    for seed in e.seeds:
        for i, system in enumerate(e.systems):
            # systems that differ only in the state share a parser
            if system.proposal not in [earlier.proposal for earlier in e.systems[:i]]:
                planned += _parser(e, system.proposal, seed)
            planned += _generator(e, system, seed)
    return [*planned, *_searches(e)]


def _data(e: Experiment) -> Iterator[Stage]:
    for part in PARTS:
        command = shlex.join(["prepare", *e.sources.get(part, ()), "--from", e.corpus])
        if e.corpus in SECTIONS:
            command += f" --sections {SECTIONS[e.corpus][part]}"
        command += f" --skip-preterminals -o {part}.trees"
        yield Stage(f"trees {part}", "data", command)
        if e.tags == "jackknife":
            tagger = "--jackknife 10" if part == "train" else "--train train.trees"
            command = f"tag {part}.trees {tagger} -o {part}.tagged.trees"
            yield Stage(f"tags {part}", "data", command, ("--jobs",) if part == "train" else ())
    # always with the default system, which statistics, clusters and baselines use
    for transitions in dict.fromkeys((SYSTEMS.default, *(s.transitions for s in e.systems))):
        for part in PARTS:
            # the test sentences of another system are those of its parser alone
            kinds = (False, True) if part != "test" or transitions == SYSTEMS.default else (False,)
            for generative in kinds:
                trees, train = (_trees(e, name, generative) for name in (part, "train"))
                output = oracle_of(part, transitions, generative)
                command = f"oracle --train {train} {trees} --unk {e.unk} -o {output}"
                command += " --generative" if generative else ""
                command += f" --transitions {transitions}" if transitions != SYSTEMS.default else ""
                yield Stage(f"oracle {output}", "data", command)
    # words show the other rules by themselves
    rules = " --unk berkeley-unicode" if e.unk == "berkeley-unicode" else ""
    yield Stage("clusters", "data", f"clusters train.gen.oracle -o clusters.paths{rules}")


def _baselines(e: Experiment) -> Iterator[Stage]:
    command = "perplexity test.gen.oracle"
    ngrams = f"--scorer kneser-ney:{ORDER}=train.gen.oracle --clusters clusters.paths"
    yield Stage("perplexity kneser-ney", BASELINES, f"{command} {ngrams} -o kneser-ney.tsv")
    for seed in e.seeds:
        model = f"lstm-{seed}"
        yield _training(e, "lstm-lm", model, seed, _word_data(SYSTEMS.default), BASELINES)
        lstm = f"{command} --model {model} -o {model}.tsv"
        yield Stage(f"perplexity {model}", BASELINES, lstm, ("--device",))


def _parser(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a parser, its greedy trees and its samples."""
    train, dev, test = (oracle_of(part, system.transitions, False) for part in PARTS)
    run = named(system, seed)
    options = f"{system.options}{'' if e.tags == 'none' else ' --pos'}"
    data = f"--train {train} --dev {dev} --dev-trees dev.trees {options}"
    yield _training(e, "discriminative", f"parser-{run}", seed, data)
    greedy = f"parse --model parser-{run} {test} -o {run}.greedy.trees"
    yield Stage(f"parse {run}", "infer", greedy, PARALLEL)
    yield _sampling(e, system, seed)


def _generator(e: Experiment, system: System, seed: int) -> Iterator[Stage]:
    """Yield the training of a generative model, its scores of samples, and the best trees."""
    run = named(system, seed)
    data = f"{_word_data(system.transitions)} {system.options}"
    yield _training(e, "generative", f"generator-{run}", seed, data)
    yield _scoring(system, seed)
    samples = f"{named(system.proposal, seed)}.props {run}.likelihoods"
    oracle = oracle_of("test", system.transitions, False)
    yield Stage(f"rerank {run}", "infer", f"rerank {samples} --oracle {oracle} -o {run}.map.trees")


def _searches(e: Experiment) -> Iterator[Stage]:
    """Yield the perplexities by searches, and the first system's samples at other alphas."""
    for seed in e.seeds:
        for run in (named(system, seed) for system in e.systems):
            for search, options in SEARCHES.items():
                source = f"test.gen.oracle --model generator-{run} {options.format(seed=seed)}"
                command = f"perplexity {source} -o {run}.{search}.tsv"
                yield Stage(f"{search} {run}", SEARCH, command, PARALLEL)
        for alpha in ALPHAS:
            if alpha != FLATTENED:
                yield _sampling(e, e.systems[0].proposal, seed, alpha, SEARCH)
                yield _scoring(e.systems[0], seed, alpha, SEARCH)


def _sampling(
    e: Experiment, parser: System, seed: int, alpha: float = FLATTENED, group: str = "infer"
) -> Stage:
    source = f"--model parser-{named(parser, seed)} {oracle_of('test', parser.transitions, False)}"
    sampling = f"--samples {e.samples} --alpha {alpha} --seed {seed}"
    run = named(parser, seed, alpha)
    return Stage(f"sample {run}", group, f"sample {source} {sampling} -o {run}.props", PARALLEL)


def _scoring(system: System, seed: int, alpha: float = FLATTENED, group: str = "infer") -> Stage:
    source = f"generator-{named(system, seed)} {named(system.proposal, seed, alpha)}.props"
    run = named(system, seed, alpha)
    return Stage(f"score {run}", group, f"score --model {source} -o {run}.likelihoods", PARALLEL)


def _training(
    e: Experiment, kind: str, model: str, seed: int, data: str, group: str = "train"
) -> Stage:
    settings = f"--preset {e.preset} --seed {seed}{e.training}"
    command = f"train {kind} {data} {settings} --model {model}"
    return Stage(f"train {model}", group, command, ("--resume", "--device"))


def named(system: System, seed: int, alpha: float = FLATTENED) -> str:
    """Return the name of files of a system; that of samples has an alpha that is not the paper's.

    >>> named(System("corrected", "stack"), 1), named(PAPER[0], 1, 0.6)
    ('corrected-stack-1', 'buggy-1-alpha-0.6')
    """
    run = f"{str(system).replace('/', '-')}-{seed}"
    return run + (f"-alpha-{alpha}" if alpha != FLATTENED else "")


def oracle_of(part: str, transitions: str = SYSTEMS.default, generative: bool = True) -> str:
    """Return the name of a part's oracle; that of the default transition system has no prefix."""
    prefix = "" if transitions == SYSTEMS.default else f"{transitions}."
    return f"{part}.{prefix}{'gen.' if generative else ''}oracle"


def _word_data(transitions: str) -> str:
    """Return the options with the data of models of words."""
    train, dev = (oracle_of(part, transitions) for part in ("train", "dev"))
    return f"--train {train} --dev {dev} --clusters clusters.paths"


def _trees(e: Experiment, part: str, generative: bool) -> str:
    """Return the trees of a part; those of the parser have the tags that it reads."""
    return f"{part}.tagged.trees" if e.tags == "jackknife" and not generative else f"{part}.trees"
