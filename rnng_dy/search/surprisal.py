"""Word-by-word measures of sentences under a generative model (Hale 2001; Roark et al. 2009; Hale et al. 2018).

The entropy of the next word comes from distributions over it (Hale 2006; Roark et al. 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.plugins import Registry
from oracle.sentences import split_tokens
from oracle.transitions import REDUCE, SHIFT, TransitionSystem
from rnng_dy.evaluation.records import (
    ALL_MEASURES,
    OF_NEXT_WORD,
    OPEN_MEASURES,
    Analysis,
    MeasuredSentence,
    WordRecord,
)
from rnng_dy.parallel import batches
from rnng_dy.search.batched_search import run
from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.model import Model
from rnng_dy.search.particles import ParticleFilter, VariableBeam
from rnng_dy.search.word_search import Hypothesis, Search, SearchState, WordSearch, log_sum
from rnng_dy.search.word_search import SearchOptions as SearchOptions
from rnng_dy.text.sources import NumberedSentence

T = TypeVar("T")
ANALYSES = 400
"""Approximate number of partial trees in a batch of sentences; larger batches need more memory and are no faster."""
SENTENCES = 8
"""Maximal number of sentences in one batch of a command."""
DEFAULT_OPTIONS = SearchOptions()
SEARCHES: Registry[type[WordSearch]] = Registry(
    "search", WordSearch, BeamSearch, ParticleFilter, VariableBeam
)


def measures_of(options: SearchOptions, has_trees: bool = True, is_open: bool = False) -> list[str]:
    """Return the names of the measures that records can have, in order.

    Args:
        options: The search.
        has_trees: Whether the model has a search.
        is_open: Whether the vocabulary is open.
    """
    lacking = {*SEARCHES[options.search].lacks}
    if not has_trees:
        lacking = {*ALL_MEASURES} - {"surprisal", *OPEN_MEASURES, *OF_NEXT_WORD}
    if not is_open:
        lacking |= {*OPEN_MEASURES}
    if not options.next_word:
        lacking |= {*OF_NEXT_WORD}
    if not is_like_reference(options):
        lacking.add("distance")
    return [name for name in ALL_MEASURES if name not in lacking]


def is_like_reference(options: SearchOptions) -> bool:
    """Return whether the search is that of the published program."""
    return options.like_reference and "like_reference" in SEARCHES[options.search].reads


def sentences_at_once(options: SearchOptions) -> int:
    """Return the number of sentences that are searched as one batch."""
    reads = SEARCHES[options.search].reads
    return max(1, ANALYSES // max(1, getattr(options, reads[0]) if reads else 1))


def search_batches(options: SearchOptions, items: Iterable[T]) -> Iterator[list[T]]:
    """Yield batches of sentences that are searched together, SENTENCES at most."""
    return batches(items, lambda item: 1, min(SENTENCES, sentences_at_once(options)))


def measure(
    model: Model,
    sentences: Sequence[Sequence[str]],
    options: SearchOptions = DEFAULT_OPTIONS,
    end: bool = False,
    unkified: Sequence[Sequence[str] | None] | None = None,
    numbers: Sequence[int] | None = None,
) -> Iterator[MeasuredSentence]:
    """Yield the measures of sentences, which are lists of tokens; unknown words are read as classes of unknown words.

    A word whose class the model does not know either has infinite surprisal and is skipped.
    `unkified` has the words as the model should see them, None to derive them. `numbers` number the
    sentences, which decides the draws of a particle filter. Raises RnngError for invalid tokens
    (see `split_tokens`) and impossible options.
    """
    tokens = [split_tokens(sentence)[0] for sentence in sentences]
    given = unkified or [None] * len(tokens), numbers or range(len(tokens))
    columns = zip(tokens, *given, strict=True)
    for part in batches(columns, lambda _: 1, sentences_at_once(options)):
        yield from run(model, [_sentence(model, options, end, *column) for column in part])


def _sentence(
    model: Model,
    options: SearchOptions,
    end: bool,
    tokens: Sequence[str],
    unkified: Sequence[str] | None,
    number: int,
) -> Search[MeasuredSentence]:
    """Return the measures of a sentence; the search stops after a word that no partial tree reaches.

    Only the states before and after a word are stored.
    """
    search = SEARCHES[options.search](model.transitions, options, number)
    names = list(zip(tokens, unkified or model.vocabulary.unkify(tokens), strict=True))
    records, skipped = [], []
    state = search.start(model.network.start())
    state = yield from with_next_word_entropy(model, options, state)
    for token, unk in [*names, *([(None, None)] if end else [])]:
        word = None if unk is None else model.vocabulary.ids.get(unk)
        is_unseen = word is None and token is not None
        if is_unseen and state.hypotheses:
            skipped.append(token if token == unk else f"{token} ({unk})")
        if is_unseen or not state.hypotheses:
            records.append(WordRecord(token, unk, math.inf))
            continue
        before = state
        state = yield from search.read(before, word)
        if word is not None:
            state = yield from with_next_word_entropy(model, options, state)
        record = _record(model, token, unk, before, state)
        distance = record.actions if is_like_reference(options) else None
        records.append(replace(record, distance=distance))
        place = "the end" if token is None else f"word {len(records)}, {token!r}"
    problem = None
    if skipped:
        problem = f"not in the model's vocabulary, so skipped: {', '.join(skipped)}"
    elif not state.hypotheses:
        problem = f"no partial tree that the search kept leads to {place}: it needs to look further"
    if problem:
        return MeasuredSentence(records, [], -math.inf, problem)
    trees = [_analysis(model, h) for h in state.hypotheses] if end else []
    return MeasuredSentence(records, trees, state.log_mass, None)


def beam_of(model: Model, options: SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    return BeamSearch(model.transitions, replace(options, like_reference=False))


def word_probabilities(
    model: Model, options: SearchOptions, state: SearchState
) -> Search[tuple[float, np.ndarray]]:
    """Return the log probability that a word comes next, with the words so far, and those of all word ids if so.

    The probabilities are means over the partial trees that are about to generate a word, weighted
    by theirs. They have shape (words,) and add up to 1; there are none if no partial tree leads to
    a word.
    """
    ready = yield from beam_of(model, options).ready(state)
    if not ready.hypotheses:
        return -math.inf, np.zeros(0)
    step = model.network.step([h.configuration for h in ready.hypotheses])
    every = step.every_word_log_prob(range(len(ready.hypotheses)))
    return ready.log_mass, ready.shares @ np.exp(every)


def with_next_word_entropy(
    model: Model, options: SearchOptions, state: SearchState
) -> Search[SearchState]:
    """Return a search's state with the entropy of the next word in bits, if the options ask for it.

    The end of the sentence counts as a word. The entropy is None if no partial tree reaches a word
    or the end.
    """
    if not options.next_word or not state.hypotheses:
        return state
    log_mass, words = yield from word_probabilities(model, options, state)
    ended = yield from beam_of(model, options).read(state, None)
    log_masses = np.array([log_mass, ended.log_mass])
    if not np.isfinite(log_masses).any():
        return state
    of_word, of_end = np.exp(log_masses - log_sum(log_masses))
    return replace(state, next_word_entropy=entropy(np.append(of_word * words, of_end)))


def entropy(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def next_words(
    model: Model, tokens: Sequence[str], k: int, options: SearchOptions = DEFAULT_OPTIONS
) -> list[tuple[str, float]]:
    """Return the k most probable words after some words, with their probabilities; see `GenerativeModel`."""
    is_start = isinstance(tokens, (list, tuple)) and not tokens
    read_so_far = [] if is_start else split_tokens(tokens)[0]
    words = model.vocabulary.word_ids(model.vocabulary.unkify(read_so_far))

    def read() -> Search[np.ndarray]:
        search = SEARCHES[options.search](model.transitions, options)
        state = search.start(model.network.start())
        for word in words:
            state = yield from search.read(state, word)
        _, found = yield from word_probabilities(model, options, state)
        return found

    [probs] = run(model, [read()])
    if not len(probs):
        raise RnngError("no partial tree that the search kept leads to a next word")
    symbols, best = model.vocabulary.words.symbols, np.argsort(-probs, kind="stable")[:k]
    return [(symbols[i], float(probs[i])) for i in best if probs[i] > 0]


def measure_batch(
    options: SearchOptions, end: bool, model: Any, batch: Sequence[NumberedSentence]
) -> Iterable[MeasuredSentence]:
    """Return the measures of sentences of an input by a model that has `measure`."""
    sentences, numbers = [item.sentence for item in batch], [item.index for item in batch]
    tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
    found: Iterable[MeasuredSentence] = model.measure(tokens, options, end, unkified, numbers)
    return found


def _record(
    model: Model, token: str | None, unk: str | None, before: SearchState, after: SearchState
) -> WordRecord:
    """Return the measures of a word, or of the end, from the states before and after it."""
    found = WordRecord(token, unk, math.inf, rounds=after.rounds, actions=after.actions)
    if not after.hypotheses:
        return found
    mass = before.log_mass
    surprisal = _bits(mass - after.log_mass)
    syntactic = None if after.log_syntactic is None else _bits(mass - after.log_syntactic)
    best, of_trees, next_word = after.hypotheses[0], _entropy(after), after.next_word_entropy
    counts = np.array([_opened_and_closed(model.transitions, h) for h in after.hypotheses])
    opened, closed = (after.shares @ counts).tolist()
    best_opened, best_closed = counts[0].tolist()
    last = best.configuration.state
    return replace(
        found,
        surprisal=surprisal,
        syntactic=syntactic,
        lexical=None if syntactic is None else surprisal - syntactic,
        best_syntactic=_bits(best.at_word + best.lexical - best.score),
        best_lexical=_bits(-best.lexical),
        entropy=of_trees,
        entropy_delta=of_trees - _entropy(before),
        open=(last if best.action is None else last.after(best.action)).open,
        opened=opened,
        closed=closed,
        best_opened=best_opened,
        best_closed=best_closed,
        next_word_entropy=next_word,
        next_word_entropy_delta=_change(before.next_word_entropy, next_word),
        beam=[_analysis(model, h) for h in after.hypotheses],
    )


def _opened_and_closed(system: TransitionSystem, hypothesis: Hypothesis) -> tuple[int, int]:
    """Return how many constituents were opened and closed between the last two words; a tree's end is a word."""
    actions, last = hypothesis.actions
    since = [] if last == SHIFT else [last]
    while actions is not None and actions[1] != SHIFT:
        actions, action = actions
        since.append(action)
    return sum(action >= system.first_open for action in since), since.count(REDUCE)


def _analysis(model: Model, hypothesis: Hypothesis) -> Analysis:
    """Return a hypothesis with its actions as names in an oracle."""
    return Analysis(hypothesis.score, model.transitions.decode(hypothesis.action_ids()))


def _bits(nats: float) -> float:
    # avoid -0.0
    return nats / math.log(2) + 0.0


def _entropy(state: SearchState) -> float:
    """Return the entropy of the partial trees, in bits."""
    return entropy(state.shares) if state.entropy is None else _bits(state.entropy)


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
