"""The alignment of the words that were read with the tokens of a table of surprisals."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import NamedTuple
from unicodedata import normalize

from oracle.common.errors import InputError
from rnng_dy.evaluation.reading_tables import ReadWord, Times
from rnng_dy.evaluation.records import of_tokens
from rnng_dy.evaluation.token_tables import GAP, Token, places, plain

_ENDS_A_SENTENCE = re.compile(r"[.?!…。！？][^\w\s]*$")
_MARKS = re.compile(r"[\W_]+")
SHOWN = 10
"""The most differences that an error lists."""


class MeasuredWord(NamedTuple):
    """A word with what the tokens of a table of surprisals say about it."""

    bits: float
    """Its surprisal; NaN if the model gives none, or an infinite one."""
    is_unknown: bool | None
    """None if the table does not say it, as for the others."""
    is_first: bool | None
    """Whether it begins a sentence."""
    is_last: bool | None
    measures: Mapping[str, float]
    """Other measures by their columns, by `of_tokens`; NaN as `bits`."""
    cells: Mapping[str, str]
    """The cells of its tokens by their columns; `+` joins those that differ."""


def align(
    times: Times,
    tokens: Sequence[Token],
    path: str,
    by_letters: bool = False,
    allow_missing: bool = True,
    where: Mapping[str, str] = {},
) -> tuple[list[MeasuredWord | None], list[str]]:
    """Return what the table of surprisals `path` says about each word, and reports of differences.

    Words and tokens are aligned that have the same letters in the same order, see `plain`; a word
    has the sum of the bits of its tokens, None if there are none. With `by_letters`, only letters
    and digits count, in either case; a mark belongs to the word before it, or after it if only that
    begins with it. If both tables have the same items, or the times have conditions, tokens come in
    the order in which the times have these.

    If the texts differ, difflib aligns them, and the words of a sentence of the table count if it
    has most of the words at its place in one item. Differences of words without a row that fits
    `where` are not reported. Unless `allow_missing`, raises InputError that lists the first
    differences, if any.
    """
    words, tokens = times.words, _in_order_of(times, tokens)
    letters = [plain(word.text) for word in words]
    every, others = tokens, [*range(len(tokens))]
    if by_letters:
        letters = [*map(_letters, letters)]
        tokens = [token._replace(letters=_letters(token.letters)) for token in tokens]
    if by_letters and places(tokens, letters) is None:
        marks = {*filter(_MARKS.fullmatch, (t.letters for t in tokens))} - {*letters, GAP}
        others = [k for k, token in enumerate(tokens) if token.letters not in marks]
        # the mark at the end of a sentence is still seen
        spans = pairwise([*others, len(tokens)])
        tokens = [tokens[k]._replace(text="".join(t.text for t in tokens[k:e])) for k, e in spans]
    indices, blocks = _matched(words, tokens, letters)
    wanted = {*times.word_of[times.rows_where(where)]}
    reports = [
        _difference(times.path, words[i:i_end], path, tokens[j:j_end])
        for i, i_end, j, j_end in sorted(blocks)
        if i == i_end or not wanted.isdisjoint(range(i, i_end))
    ]
    if reports and not allow_missing:
        first, *more = reports[:SHOWN]
        how = "correct a table, compare `by_letters`, or leave out words by `allow_missing`"
        what = f"words with surprisals are not those read, {len(reports)} differences in all: {how}"
        raise InputError("\n".join([f"{first}: {what}", *more]))
    indices = _with_marks(words, every, others, indices)
    sentences = [None, *(token.sentence if token.has_ends else None for token in every), None]
    return [_measured(every, sentences, of_word) for of_word in indices], reports


def _in_order_of(times: Times, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens that say something about words, in the order of items and conditions."""
    tokens = [token for token in tokens if not token.is_end and (token.letters or token.bits)]
    keys = 2 if any(word.condition for word in times.words) else 1
    order = dict.fromkeys((word.item, word.condition)[:keys] for word in times.words)
    if keys == 1 and {token.variant[:1] for token in tokens} != order.keys():
        return tokens
    rank = {variant: i for i, variant in enumerate(order)}
    return sorted(tokens, key=lambda token: rank.get(token.variant[:keys], len(rank)))


def _matched(
    words: Sequence[ReadWord], tokens: Sequence[Token], letters: Sequence[str]
) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Return per word the indices of its tokens, and the blocks of words and tokens that differ.

    A token of two words, and tokens of two sentences or of another item, are no tokens of a word.
    """
    blocks = [(0, len(letters), 0, len(tokens))]
    if places(tokens, letters) is None:
        # a subword, or a token before one, is no whole word
        subwords = [one.continues or two.continues for one, two in pairwise([*tokens, *tokens[:1]])]
        keys = [GAP * is_sub + t.letters for t, is_sub in zip(tokens, subwords, strict=True)]
        matcher = SequenceMatcher(None, letters, keys, autojunk=False)
        blocks = [codes[1:] for codes in matcher.get_opcodes()]
    has_items = {token.variant[0] for token in tokens} == {word.item for word in words}
    indices: list[list[int]] = [[] for _ in words]
    differing = []
    for i, i_end, j, j_end in blocks:
        ranges = places(tokens[j:j_end], letters[i:i_end])
        if ranges is None:
            differing.append((i, i_end, j, j_end))
        for k, (first, last) in enumerate(ranges or (), j):
            for of_word in indices[i + first : i + last + 1]:
                of_word.append(k)
    counts = Counter(chain.from_iterable(indices))
    misplaced = _misplaced(words, tokens, indices) if differing else set()
    for i, of_word in enumerate(indices):
        items = {tokens[k].variant[0] for k in of_word if has_items} - {words[i].item}
        sentences = {tokens[k].sentence for k in of_word}
        is_shared = any(counts[k] > 1 for k in of_word)
        if items or len(sentences) > 1 or is_shared or i in misplaced:
            differing.append((i, i + 1, of_word[0], of_word[-1] + 1))
            indices[i] = []
    return indices, differing


def _with_marks(
    words: Sequence[ReadWord],
    tokens: Sequence[Token],
    others: Sequence[int],
    indices: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Return per word the indices of its tokens, with marks; those given are among `others`.

    A mark belongs to the word before it in its sentence, or after it if only that begins with it.
    """
    of_all = [[others[k] for k in of_word] for of_word in indices]
    word_of = {k: i for i, of_word in enumerate(of_all) for k in of_word}
    for k in sorted({*range(len(tokens))}.difference(others)):
        mark, at = tokens[k].letters, bisect_left(others, k)
        before = word_of.get(k - 1 if tokens[k - 1].sentence == tokens[k].sentence else -1)
        after = word_of.get(others[at] if at < len(others) else -1)
        first, second = (plain(words[i].text) if i is not None else "" for i in (before, after))
        i = after if second.startswith(mark) and not first.endswith(mark) else before
        if i is not None:
            word_of[k] = i
            of_all[i].append(k)
    return [*map(sorted, of_all)]


def _misplaced(
    words: Sequence[ReadWord], tokens: Sequence[Token], indices: Sequence[Sequence[int]]
) -> set[int]:
    """Return the words with tokens of a sentence of which most words are missing, or elsewhere.

    If the table does not tell sentences apart, they end with a full stop or the like, and with an
    item. The words of a sentence are divided where the item changes, or where other words lie
    between.
    """
    word_of = {k: i for i, of_word in enumerate(indices) for k in of_word}
    sizes: Counter[int] = Counter()
    runs: list[tuple[tuple, list[int]]] = []
    number, before, last = 0, None, (0, 0)
    for k, token in enumerate(tokens):
        i = word_of.get(k)
        item = before if i is None else (words[i].item, words[i].condition)
        number += before not in (None, item)
        sentence = number if token.sentence is None else token.sentence
        sizes[sentence] += 1
        if i is not None:
            more_words = i - last[0] - (k - last[1])
            if not runs or runs[-1][0] != (sentence, item) or more_words > 1:
                runs.append(((sentence, item), []))
            runs[-1][1].append(i)
            last = i, k
        is_end = _ENDS_A_SENTENCE.search(token.text) is not None
        number, before = number + is_end, None if is_end else item
    # what looks like a sentence may be short: `Mr.`
    least = 5 if tokens and tokens[0].sentence is None else 0
    short = [run for (sentence, _), run in runs if 2 * len(run) <= max(sizes[sentence], least)]
    return set(chain.from_iterable(short))


def _measured(
    tokens: Sequence[Token], sentences: Sequence[int | None], indices: Sequence[int]
) -> MeasuredWord | None:
    """Return what the tokens of a word say.

    `sentences` are those of the tokens, and None at both ends.
    """
    if not indices:
        return None
    rows = [tokens[k] for k in indices]
    are_known = [row.is_known for row in rows]
    before, sentence, after = (sentences[k] for k in (indices[0], indices[0] + 1, indices[-1] + 2))
    measures = {name: [row.measures[name] for row in rows] for name in rows[0].measures}
    return MeasuredWord(
        _finite(math.fsum(row.bits for row in rows)),
        None if None in are_known else not all(are_known),
        None if sentence is None else sentence != before,
        None if sentence is None else sentence != after,
        {name: _finite(of_tokens(name, values)) for name, values in measures.items()},
        {name: "+".join(dict.fromkeys(row.cells[name] for row in rows)) for name in rows[0].cells},
    )


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else math.nan


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFC", text))).casefold() or text


def _difference(times: str, words: Sequence[ReadWord], path: str, tokens: Sequence[Token]) -> str:
    """Return a report of words and tokens that differ, with their files and lines."""
    read = f"{times}:{_listed(words)}" if words else times
    measured = f"{path}:{_listed(tokens)}" if tokens else path
    if words and tokens:
        return f"{read} against {measured}"
    return f"{measured} lacks {read}" if words else f"{read} lacks {measured}"


def _listed(words: Sequence[ReadWord | Token]) -> str:
    """Return the words of a difference after the line of the first one."""
    shown = " ".join(word.text for word in words[:SHOWN]) + " …" * (len(words) > SHOWN)
    return f"{words[0].line}: {shown!r}"
