"""The tables of the paper, and differences of systems, of which it claims some."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from oracle.blocks import read_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.common.lazy import nltk
from oracle.corpora import READERS
from oracle.samples import read_log_probs
from oracle.training_data import Preparation
from oracle.treebank import clean
from rnng_dy.evaluation import evalb, significance
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status
from rnng_dy.reproduce import paper
from rnng_dy.reproduce.measured import Figures, Measured, compared, perplexity_of, verdict_of
from rnng_dy.reproduce.stages import PARTS, SEARCHES, Experiment, named
from rnng_dy.reproduce.systems import TAGS, System
from rnng_dy.search.importance import Estimate, read_sampled

KINDS = {"discriminative": "greedy", "generative": "reranked"}
"""How the trees of each kind of model are made."""


class Table(NamedTuple):
    """Rows of values by column."""

    title: str
    rows: Sequence[Figures]
    note: str


class LanguageModel(NamedTuple):
    """The perplexity of a language model; `key` is that of the paper's number."""

    name: str
    key: str
    perplexity: Measured
    estimates: Sequence[Sequence[Estimate]] = ()
    """Those of samples, by seed and sentence."""


F1 = Mapping[tuple[str, System], Measured]
"""The F1 of the trees of each kind and system."""


def tables(folder: Path, e: Experiment, made: Set[str]) -> Iterator[Table]:
    """Yield tables, some without rows; `made` names the outputs of the finished stages."""
    golds = trees_of(folder / "test.trees")
    f1 = {(kind, s): _f1_of(folder, e, golds, kind, s) for kind in KINDS for s in e.systems}
    models = list(_language_models(folder, e, made))
    published = paper.F1.get(e.corpus)
    rows = [
        {"trees": KINDS[kind], "system": str(s), **measured.columns(published, (kind, str(s)))}
        for (kind, s), measured in f1.items()
    ]
    note = "95 % intervals of the mean over seeds, by a bootstrap over sentences, in all tables."
    yield Table("Labelled F1 on the test part", rows, f"{TAGS[e.tags]} {note}")
    yield Table("Labelled F1 by test file", list(_f1_by_file(e, f1)), "")
    yield _perplexity(e, models)
    yield _differences(e, f1, models)
    yield _statistics(folder, e)


def trees_of(path: Path) -> list[nltk.Tree]:
    """Return the trees of a file."""
    return [located.tree for located in read_trees(str(path))]


def _f1_of(
    folder: Path, e: Experiment, golds: Sequence[nltk.Tree], kind: str, system: System
) -> Measured:
    """Return the F1 of a system. Raises InputError if a sentence has no tree."""
    seeds = []
    for seed in e.seeds:
        greedy, best = f"{named(system.proposal, seed)}.greedy", f"{named(system, seed)}.map"
        path = folder / f"{greedy if kind == 'discriminative' else best}.trees"
        if len(trees := trees_of(path)) != len(golds):
            problem = f"{len(trees)} trees for {len(golds)} sentences: one did not fit into memory"
            raise InputError(f"{problem}; remove this file and run again", path)
        # EVALB recognises punctuation by the gold tags, whatever tags the system saw
        scores = evalb.score(golds, trees, gold_tags=True)
        seeds.append([_brackets(s) for s in scores.per_sentence])
    return Measured(np.stack(seeds, axis=1), significance.f1_of)


def _brackets(score: SentenceScore) -> tuple[float, ...]:
    return significance.brackets(score) if score.status == Status.SCORED else (math.nan,) * 3


def _f1_by_file(e: Experiment, f1: F1) -> Iterator[Figures]:
    """Yield the F1 of each file of the test part, if it has several."""
    paths = e.sources.get("test", ())
    if len(paths) < 2:
        return
    # as `prepare` reads them
    read = READERS["trees"]().read
    trees = {path: Preparation(read([path]), clean, skip_preterminals=True) for path in paths}
    files = np.array([path for path in paths for _ in trees[path]])
    for (kind, system), (counts, figure) in f1.items():
        for path in paths:
            columns = Measured(counts[files == path], figure).columns(None, None)
            row = {"trees": KINDS[kind], "system": str(system), "file": Path(path).stem}
            yield {**row, **columns}


def _language_models(folder: Path, e: Experiment, made: Set[str]) -> Iterator[LanguageModel]:
    """Yield the models of whose log p of the test sentences there are files."""
    lengths = [len(sentence.tokens) for sentence in read_oracle(folder / "test.gen.oracle")]

    def of_files(name: str, key: str, files: Sequence[str]) -> Iterator[LanguageModel]:
        if made >= {*files}:
            seeds = [read_log_probs(folder / file, lengths) for file in files]
            yield LanguageModel(name, key, perplexity_of(seeds, lengths))

    yield from of_files(f"Kneser-Ney {paper.ORDER}-gram", "kneser-ney", ["kneser-ney.tsv"])
    yield from of_files("LSTM", "lstm", [f"lstm-{seed}.tsv" for seed in e.seeds])
    for system in e.systems:
        name, runs = f"RNNG, {system}", [named(system, seed) for seed in e.seeds]
        estimates = []
        for run, seed in zip(runs, e.seeds, strict=True):
            samples = folder / f"{named(system.proposal, seed)}.props"
            sampled = read_sampled(samples, folder / f"{run}.likelihoods")
            estimates.append([sentence.estimate for sentence in sampled])
        measured = perplexity_of([[s.log_marginal for s in seed] for seed in estimates], lengths)
        yield LanguageModel(name, str(system), measured, estimates)
        for search in SEARCHES:
            yield from of_files(f"{name}, {search}", "", [f"{run}.{search}.tsv" for run in runs])


def _perplexity(e: Experiment, models: Sequence[LanguageModel]) -> Table:
    published, rows = paper.PERPLEXITY.get(e.corpus), []
    for name, key, measured, estimates in models:
        errors, sizes = [], []
        for value, seed in zip(measured.values(), estimates, strict=False):
            # that of the sum of log p, per word, and so of the perplexity, by the delta method
            possible = [s.standard_error for s in seed if math.isfinite(s.log_marginal)]
            errors.append(value * math.hypot(*possible) / np.nansum(measured.counts[:, 0, 1]))
            sizes += [s.effective_sample_size for s in seed]
        of_samples = {
            "effective_samples": fmean(sizes) if sizes else None,
            "standard_error": float(fmean(errors)) if errors else None,
        }
        rows.append({"model": name, **measured.columns(published, key), **of_samples})
    note = (
        "The end of a sentence is in its likelihood, and not one of its words. Without the name of "
        "a search, an RNNG has an estimate from samples: their effective number is the mean over "
        "sentences, and the standard error is that of the estimate."
    )
    if left_out := sum(int(np.isnan(m.perplexity.counts[..., 0]).sum()) for m in models):
        note += f" Left out, p = 0: {left_out} sentences of all models."
    return Table("Perplexity on the test part", rows, note)


def _differences(e: Experiment, f1: F1, models: Sequence[LanguageModel]) -> Table:
    """Return differences of systems, and whether they are as the papers claim."""
    perplexities = {model.name: model.perplexity for model in models}
    rows: list[Figures] = []

    def add(systems: str, measure: str, pair: Sequence[Measured], sign: int) -> None:
        difference = compared(*pair)
        claim = f"{'above' if sign > 0 else 'below'} 0: {verdict_of(difference, sign)}"
        row = {"systems": systems, "measure": measure, **difference}
        rows.append({**row, "claim": claim if sign else None})

    for system in e.systems:
        add(f"{system}, reranked less greedy", "F1", [f1[kind, system] for kind in KINDS], sign=1)
    first = e.systems[0]
    for second in e.systems[1:]:
        names = str(second), str(first)
        name = " less ".join(names)
        sign = (names in paper.HIGHER_F1) - (names[::-1] in paper.HIGHER_F1)
        # systems that differ only in the state share a parser
        for kind in list(KINDS)[second.proposal == first.proposal :]:
            pair = [(kind, first), (kind, second)]
            # Kuncoro et al. (2017) claim nothing of greedy trees
            is_claimed = paper.F1["ptb"].keys() >= {(kind, str(system)) for kind, system in pair}
            add(name, f"F1, {KINDS[kind]}", [f1[of] for of in pair], sign if is_claimed else 0)
        pair = [perplexities[f"RNNG, {system}"] for system in (first, second)]
        add(name, "perplexity", pair, sign=0)
    if lstm := perplexities.get("LSTM"):
        for model in models:
            if model.name.startswith("RNNG"):
                add(f"{model.name} less LSTM", "perplexity", (lstm, model.perplexity), sign=-1)
    note = (
        "p is by a permutation test over sentences, of each row for itself. A claim of the papers "
        "is upheld if the interval and the difference of each seed are on its side of 0, and not "
        "upheld if all are on the other side."
    )
    return Table("Differences and claims", rows, note)


def _statistics(folder: Path, e: Experiment) -> Table:
    """Return table 1 of the paper: sentences, tokens, types and classes of unknown words."""
    rows = []
    for part in PARTS:
        sentences = read_oracle(folder / f"{part}.gen.oracle")
        pairs = [pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True)]
        types = {word_read for _, word_read in pairs}
        classes = {word_read for word, word_read in pairs if word_read != word}
        counts = (len(sentences), len(pairs), len(types), len(classes))
        published = paper.TABLE_1.get((e.corpus, part), [None] * len(counts))
        for name, value, number in zip(paper.STATISTICS, counts, published, strict=True):
            row: Figures = {"part": part, "count": name, "here": value}
            rows.append(row | ({"paper": number} if e.corpus in paper.F1 else {}))
    return Table("Corpus statistics (table 1)", rows, "")
