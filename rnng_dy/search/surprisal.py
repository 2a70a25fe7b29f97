"""Word-by-word measures of a generative model (Hale 2001, 2006; Levy 2008; Roark et al. 2009)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.plugins import Registry
from oracle.sentences import split_tokens
from oracle.transitions import REDUCE, SHIFT, TransitionSystem
from rnng_dy.evaluation import records
from rnng_dy.evaluation.records import Analysis, MeasuredSentence, WordRecord
from rnng_dy.parallel import batches
from rnng_dy.search import beam
from rnng_dy.search.batched_search import BatchedModel, run
from rnng_dy.search.particles import ParticleFilter, VariableBeam
from rnng_dy.search.word_search import Hypothesis, Search, SearchState, T, WordSearch
from rnng_dy.search.word_search import SearchOptions as SearchOptions
from rnng_dy.settings import require_whole
from rnng_dy.text.sources import NumberedSentence

ANALYSES = 400
"""Approximate number of partial trees in a batch of sentences; larger batches are no faster."""
SENTENCES = 8
"""Maximal number of sentences in one batch of a command."""
DEFAULT_OPTIONS = SearchOptions()
SEARCHES: Registry[type[WordSearch]] = Registry(
    "search", WordSearch, beam.BeamSearch, ParticleFilter, VariableBeam
)


def measures_of(
    options: SearchOptions, has_trees: bool = True, is_open: bool = False, along_trees: bool = False
) -> list[str]:
    """Return the names of the measures that records can have, in order.

    Args:
        options: The search.
        has_trees: Whether the model has a search.
        is_open: Whether the vocabulary is open.
        along_trees: Whether the records are those of given trees.
    """
    lacking = {*SEARCHES[options.search].lacks, *records.NODE_COUNTS}
    if along_trees:
        lacking = {*records.ALL_MEASURES} - {*records.ALONG_TREES, *records.OPEN_MEASURES}
    if not has_trees:
        of_words = {"surprisal", *records.OPEN_MEASURES, *records.OF_NEXT_WORD}
        lacking = {*records.ALL_MEASURES} - of_words
    if not is_open:
        lacking |= {*records.OPEN_MEASURES}
    if options.runs == 1:
        lacking |= {*records.OF_RUNS}
    if not options.next_word:
        lacking |= {*records.OF_NEXT_WORD}
    if not is_like_reference(options):
        lacking.add("distance")
    return [name for name in records.ALL_MEASURES if name not in lacking]


def is_like_reference(options: SearchOptions) -> bool:
    """Return whether the search is that of the published program."""
    return options.like_reference and "like_reference" in SEARCHES[options.search].reads


def sentences_at_once(options: SearchOptions) -> int:
    """Return the number of sentences that are searched as one batch."""
    width = SEARCHES[options.search].width
    return max(1, ANALYSES // max(1, getattr(options, width) if width else 1))


def search_batches(options: SearchOptions, items: Iterable[T]) -> Iterator[list[T]]:
    """Yield batches of sentences that are searched together, SENTENCES at most."""
    return batches(items, lambda item: 1, min(SENTENCES, sentences_at_once(options)))


def measure(
    model: BatchedModel,
    sentences: Sequence[Sequence[str]],
    options: SearchOptions = DEFAULT_OPTIONS,
    end: bool = False,
    unkified: Sequence[Sequence[str] | None] | None = None,
    numbers: Sequence[int] | None = None,
) -> Iterator[MeasuredSentence]:
    """Yield the measures of sentences of tokens, whose unknown words are read as their classes.

    A word whose class the model does not know either has infinite surprisal and is skipped.
    `unkified` has the words as the model should see them, None to derive them. `numbers` number the
    sentences, which decides the draws of a particle filter. Raises RnngError for invalid tokens
    (see `split_tokens`) and impossible options.
    """
    tokens = [split_tokens(sentence)[0] for sentence in sentences]
    count = len(tokens)
    columns = zip(tokens, unkified or [None] * count, numbers or range(count), strict=True)
    for batch in batches(columns, lambda _: 1, sentences_at_once(options)):
        runs = []
        for seed in range(options.seed, options.seed + options.runs):
            drawn = replace(options, seed=seed)
            runs.append(run(model, [_sentence(model, drawn, end, *column) for column in batch]))
        yield from map(records.mean_of_runs, zip(*runs, strict=True)) if len(runs) > 1 else runs[0]


def _sentence(
    model: BatchedModel,
    options: SearchOptions,
    end: bool,
    tokens: Sequence[str],
    unkified: Sequence[str] | None,
    number: int,
) -> Search[MeasuredSentence]:
    """Return the measures of a sentence, up to the first word that no partial tree reaches.

    Only the states before and after a word are stored.
    """
    search = SEARCHES[options.search](model.transitions, options, number)
    unkified = unkified or model.vocabulary.unknown.unkify(tokens, True)
    records, skipped = [], []
    state = search.start(model.network.start())
    state = yield from beam.with_next_word_entropy(model, options, state)
    for token, unk in [*zip(tokens, unkified, strict=True), *([(None, None)] if end else [])]:
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
            state = yield from beam.with_next_word_entropy(model, options, state)
        record = _record(model, token, unk, before, state)
        distance = record.actions if is_like_reference(options) else None
        records.append(replace(record, distance=distance))
        reached = "the end" if token is None else f"word {len(records)}, {token!r}"
    problem = None
    if skipped:
        problem = f"not in the model's vocabulary, so skipped: {', '.join(skipped)}"
    elif not state.hypotheses:
        how = "it needs to look further"
        problem = f"no partial tree that the search kept leads to {reached}: {how}"
    if problem:
        return MeasuredSentence(records, [], -math.inf, problem)
    trees = [_analysis(model, h) for h in state.hypotheses] if end else []
    return MeasuredSentence(records, trees, state.log_mass, None)


def next_words(
    model: BatchedModel, tokens: Sequence[str], k: int, options: SearchOptions = DEFAULT_OPTIONS
) -> list[tuple[str, float]]:
    """Return the k most probable words after the first words of a sentence, with probabilities."""
    require_whole(1, k=k)
    is_start = isinstance(tokens, (list, tuple)) and not tokens
    read_so_far = [] if is_start else split_tokens(tokens)[0]
    words = model.vocabulary.word_ids(model.vocabulary.unknown.unkify(read_so_far, True))

    def read() -> Search[np.ndarray]:
        search = SEARCHES[options.search](model.transitions, options)
        state = search.start(model.network.start())
        for word in words:
            state = yield from search.read(state, word)
        _, probabilities = yield from beam.word_probabilities(model, options, state)
        return probabilities

    [probs] = run(model, [read()])
    if not len(probs):
        raise RnngError("no partial tree that the search kept leads to a next word")
    return beam.most_probable(model, probs, k)


def measure_batch(
    batch: Sequence[NumberedSentence], model: Any, options: SearchOptions, end: bool
) -> Iterable[MeasuredSentence]:
    """Return the measures of sentences of an input by a model that has `measure`."""
    sentences, numbers = [item.sentence for item in batch], [item.index for item in batch]
    tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
    return model.measure(tokens, options, end, unkified, numbers)


def _record(
    model: BatchedModel, token: str | None, unk: str | None, before: SearchState, after: SearchState
) -> WordRecord:
    """Return the measures of a word, or of the end, from the states before and after it."""
    record = WordRecord(token, unk, math.inf, rounds=after.rounds, actions=after.actions)
    if not after.hypotheses:
        return record
    surprisal = _bits(before.log_mass - after.log_mass)
    cluster = _bits(-after.shares @ [h.cluster for h in after.hypotheses])
    in_cluster = _bits(-after.shares @ [h.lexical - h.cluster for h in after.hypotheses])
    best, of_trees, of_next = after.hypotheses[0], _entropy(after), after.next_word_entropy
    counts = np.array([_opened_and_closed(model.transitions, h) for h in after.hypotheses])
    opened, closed = (after.shares @ counts).tolist()
    best_opened, best_closed = counts[0].tolist()
    last = best.configuration.state
    return replace(
        record,
        surprisal=surprisal,
        structure=surprisal - cluster - in_cluster,
        cluster=cluster,
        word_in_cluster=in_cluster,
        entropy=of_trees,
        entropy_delta=of_trees - _entropy(before),
        open=(last if best.action is None else last.after(best.action)).open,
        opened=opened,
        closed=closed,
        best_opened=best_opened,
        best_closed=best_closed,
        next_word_entropy=of_next,
        next_word_entropy_delta=_change(before.next_word_entropy, of_next),
        beam=[_analysis(model, h) for h in after.hypotheses],
        next_words=after.next_words,
    )


def _opened_and_closed(system: TransitionSystem, hypothesis: Hypothesis) -> tuple[int, int]:
    """Return how many constituents were opened and closed since the word before the last."""
    actions, last = hypothesis.actions
    since = [] if last == SHIFT else [last]
    while actions is not None and actions[1] != SHIFT:
        actions, action = actions
        since.append(action)
    return sum(action >= system.first_open for action in since), since.count(REDUCE)


def _analysis(model: BatchedModel, hypothesis: Hypothesis) -> Analysis:
    """Return a hypothesis with its actions as names in an oracle."""
    return Analysis(hypothesis.score, model.transitions.decode(hypothesis.action_ids()))


def _bits(nats: float) -> float:
    # avoid -0.0
    return nats / math.log(2) + 0.0


def _entropy(state: SearchState) -> float:
    """Return the entropy of the partial trees, in bits."""
    return beam.entropy(state.shares) if state.entropy is None else _bits(state.entropy)


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
