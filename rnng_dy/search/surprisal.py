"""Word-by-word measures of sentences under a generative model (Hale 2001; Roark et al. 2009; Hale et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from oracle.registries import Registry
from oracle.tokens import Token, split_tokens
from oracle.transitions import REDUCE, SHIFT, TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import (
    MEASURES,
    OF_NEXT_WORD,
    Analysis,
    MeasuredSentence,
    WordRecord,
)
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.incremental import (
    Hypothesis,
    Search,
    SearchState,
    WordSearch,
    search_sentence,
)
from rnng_dy.search.incremental import SearchOptions as SearchOptions
from rnng_dy.search.model import Model
from rnng_dy.search.next_words import entropy, with_next_word
from rnng_dy.search.parse_result import TOO_LONG, ParseResult
from rnng_dy.search.particles import ParticleFilter, VariableBeam
from rnng_dy.search.side_by_side import run
from rnng_dy.text.sources import NumberedSentence

ANALYSES = 400
"""Approximate number of partial trees in a batch of sentences; larger batches need more memory and are no faster."""


DEFAULT_OPTIONS = SearchOptions()


SEARCHES: Registry[type[WordSearch]] = Registry(
    "search", WordSearch, BeamSearch, ParticleFilter, VariableBeam
)


def measures_of(options: SearchOptions) -> Sequence[str]:
    """Return the names of the measures that the records of a search can have."""
    lacking = {*SEARCHES[options.search].lacking(options)}
    lacking.update(() if options.next_word else OF_NEXT_WORD)
    return [name for name in MEASURES if name not in lacking]


def open_search(model: Model, options: SearchOptions, index: int = 0) -> WordSearch:
    """Return the search that the options name. Raises RnngError for impossible options."""
    return SEARCHES[options.search].open(model.transitions, options, index)


def side_by_side(options: SearchOptions) -> int:
    """Return the number of sentences that are searched as one batch."""
    read = SEARCHES[options.search].options
    return max(1, ANALYSES // max(1, getattr(options, read[0]) if read else 1))


def measure(
    model: Model,
    sentences: Sequence[Sequence[str]],
    options: SearchOptions = DEFAULT_OPTIONS,
    end: bool = False,
    unkified: Sequence[Sequence[str] | None] | None = None,
    numbers: Sequence[int] | None = None,
) -> Iterator[MeasuredSentence]:
    """Yield the measures of sentences, which are lists of tokens; unknown words are read as classes of unknown words.

    A word whose class the model does not know either has infinite surprisal and is skipped. `unkified` has the words as
    the model should see them, None to derive them. `numbers` number the sentences, which decides the draws of a
    particle filter. Raises RnngError for invalid tokens (see `split_tokens`).
    """
    unkified = unkified or [None] * len(sentences)
    numbers = numbers or range(len(sentences))
    words = [split_tokens(tokens, options.max_length)[0] for tokens in sentences]
    columns = list(zip(words, unkified, numbers, strict=True))
    together = side_by_side(options)
    foresee = partial(with_next_word, model, options) if options.next_word else None
    for begin in range(0, len(columns), together):
        opened, names = [], []
        for tokens, seen, number in columns[begin:][:together]:
            unks = seen or model.vocabulary.unkify(tokens)
            words = [model.vocabulary.ids.get(word) for word in unks]
            search = open_search(model, options, number)
            names.append([*zip(tokens, unks, strict=True), *([(None, None)] if end else [])])
            opened.append(partial(_read, model, search, words, end, names[-1], foresee))
        for rows, found in zip(names, run(model, opened), strict=True):
            yield _measured(model, rows, *found, end)


def measure_batch(
    options: SearchOptions, end: bool, model: Model, batch: Sequence[NumberedSentence]
) -> Iterator[MeasuredSentence]:
    """Yield the measures of sentences of an input (see `measure`)."""
    sentences, numbers = [item.sentence for item in batch], [item.index for item in batch]
    tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
    return measure(model, tokens, options, end, unkified, numbers)


def best_trees(model: Model, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
    """Yield the best complete tree of the beam per sentence, with the tags of its tokens, or XX."""
    split = [split_tokens(tokens) for tokens in sentences]

    def measured(batch: Sequence[Sequence[str]]) -> list[MeasuredSentence]:
        return list(measure(model, batch, end=True))

    for part in batches(split, lambda _: 1, side_by_side(DEFAULT_OPTIONS)):
        results = split_on_memory_error(measured, [words for words, _ in part])
        for (words, tags), found in zip(part, results, strict=True):
            if found is None:
                yield None, TOO_LONG
            elif not found.trees:
                yield None, found.problem
            else:
                actions, tags = found.trees[0].actions, tags or [NO_TAG] * len(words)
                yield model.transitions.tree_of(actions, words, tags), ""


def _read(
    model: Model,
    search: WordSearch,
    words: Sequence[int | None],
    end: bool,
    names: Sequence[tuple[str | None, str | None]],
    foresee: Callable[[SearchState], Search[SearchState]] | None,
) -> Search[tuple[list[WordRecord], SearchState]]:
    def measured(number: int, before: SearchState, after: SearchState | None) -> WordRecord:
        return record(model, *names[number], before, after)

    return search_sentence(search, model.network.start(), words, end, measured, foresee)


def _measured(
    model: Model,
    names: Sequence[tuple[str | None, str | None]],
    records: list[WordRecord],
    last: SearchState,
    end: bool,
) -> MeasuredSentence:
    problem = _problem(names, records, last)
    records += [WordRecord(token, unk, math.inf) for token, unk in names[len(records) :]]
    if problem:
        return MeasuredSentence(records, [], -math.inf, problem)
    trees = [analysis(model, h) for h in last.hypotheses] if end else []
    return MeasuredSentence(records, trees, last.mean_log_mass, None)


def _problem(
    names: Sequence[tuple[str | None, str | None]], records: Sequence[WordRecord], last: SearchState
) -> str | None:
    """Return why a sentence has p = 0 under the search."""
    # a word without rounds was not searched
    unseen = [
        r.token if r.token == r.unk else f"{r.token} ({r.unk})" for r in records if r.rounds is None
    ]
    if unseen:
        return f"not in the model's vocabulary, so skipped: {', '.join(unseen)}"
    if not last.hypotheses:
        token = names[len(records) - 1][0]
        place = "the end" if token is None else f"word {len(records)}, {token!r}"
        return f"no partial tree that the search kept leads to {place}: it needs to look further"
    return None


def record(
    model: Model, token: str | None, unk: str | None, before: SearchState, after: SearchState | None
) -> WordRecord:
    """Return the measures of a word from the states before and after it; None after a word that is impossible."""
    if after is None:
        return WordRecord(token, unk, math.inf)
    if not after.hypotheses:
        return WordRecord(token, unk, math.inf, rounds=after.rounds, actions=after.actions)
    mass = before.mean_log_mass
    surprisal = _bits(mass - after.mean_log_mass)
    best = after.hypotheses[0]
    of_trees, next_word = _entropy(after), after.next_word_entropy
    last = best.configuration.state
    found = WordRecord(
        token,
        unk,
        surprisal,
        standard_error=_standard_error(before.log_mass, after.log_mass),
        best_syntactic=_bits(best.at_word + best.lexical - best.score),
        best_lexical=_bits(-best.lexical),
        rounds=after.rounds,
        actions=after.actions,
        entropy=of_trees,
        entropy_delta=of_trees - _entropy(before),
        open=(last if best.action is None else last.after(best.action)).open,
        **_node_counts(model.transitions, after),
        next_word_entropy=next_word,
        next_word_entropy_delta=_change(before.next_word_entropy, next_word),
        beam=[analysis(model, h) for h in after.hypotheses],
    )
    if after.log_syntactic is None:
        return found
    syntactic = _bits(mass - after.log_syntactic)
    return replace(found, syntactic=syntactic, lexical=surprisal - syntactic)


def _node_counts(system: TransitionSystem, after: SearchState) -> dict[str, float]:
    """Return the measures of a record that count constituents opened and closed."""
    counts = np.array([_opened_and_closed(system, h) for h in after.hypotheses])
    opened, closed = (after.shares @ counts).tolist()
    best_opened, best_closed = counts[0].tolist()
    return {
        "opened": opened,
        "closed": closed,
        "best_opened": best_opened,
        "best_closed": best_closed,
    }


def _opened_and_closed(system: TransitionSystem, hypothesis: Hypothesis) -> tuple[int, int]:
    """Return how many constituents were opened and closed between the last two words; a tree's end is a word."""
    actions, last = hypothesis.actions
    since = [] if last == SHIFT else [last]
    while actions is not None and actions[1] != SHIFT:
        actions, action = actions
        since.append(action)
    return sum(action >= system.first_open for action in since), since.count(REDUCE)


def analysis(model: Model, hypothesis: Hypothesis) -> Analysis:
    """Return a hypothesis with its actions as names in an oracle."""
    return Analysis(hypothesis.score, model.transitions.decode(hypothesis.action_ids()))


def _bits(nats: float) -> float:
    # avoid -0.0
    return nats / math.log(2) + 0.0


def _entropy(reading: SearchState) -> float:
    """Return the entropy of the partial trees, in bits."""
    return entropy(reading.shares) if reading.entropy is None else _bits(reading.entropy)


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _standard_error(before: np.ndarray, after: np.ndarray) -> float | None:
    """Return the standard error over runs of log2 mean exp(before) - log2 mean exp(after), to first order.

    It is None for one run.
    """
    if len(after) < 2:
        return None
    ratios = [np.exp(x - x.max()) / np.exp(x - x.max()).mean() for x in (before, after)]
    return float(_bits(np.std(ratios[0] - ratios[1], ddof=1) / math.sqrt(len(after))))
