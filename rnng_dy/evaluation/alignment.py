"""The alignment of the words that were read with the tokens of a table of surprisals."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import NamedTuple

from oracle.common.errors import InputError
from rnng_dy.evaluation.reading_tables import Times, Word
from rnng_dy.evaluation.token_tables import GAP, Token, places, plain

_ENDS_A_SENTENCE = re.compile(r"[.?!…。！？][^\w\s]*$")
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


def align(
    times: Times,
    tokens: Sequence[Token],
    path: str,
    by_letters: bool = False,
    allow_missing: bool = True,
) -> tuple[list[MeasuredWord | None], list[str]]:
    """Return what the table of surprisals `path` says about each word, None for nothing, and reports of differences.

    Words and tokens are aligned that have the same letters in the same order, see `plain`; a word
    has the sum of the bits of its tokens. With `by_letters`, only letters and digits count, in
    either case. If both tables have the same items, or the times have conditions, tokens come in
    the order in which the times have these.

    If the texts differ, difflib aligns them, and the words of a sentence of the table count if it
    has most of the words at its place in one item. Unless `allow_missing`, raises InputError that
    lists the first differences, if any.
    """
    words, tokens = times.words, _in_order_of(times, tokens)
    key = _letters if by_letters else plain
    if by_letters:
        tokens = [token._replace(letters=_letters(token.letters)) for token in tokens]
    inside, blocks = _matched(words, tokens, [key(word.text) for word in words])
    reports = [
        _difference(times.path, words[i:i_end], path, tokens[j:j_end])
        for i, i_end, j, j_end in sorted(blocks)
    ]
    if reports and not allow_missing:
        first, *more = reports[:SHOWN]
        message = (
            f"{first}: the words with surprisals differ from those that were read; {len(reports)} differences "
            "in all; correct a table, compare letters and digits alone (`by_letters`), or leave out the words that "
            "differ (`allow_missing`)"
        )
        raise InputError("\n".join([message, *more]))
    sentences = [None, *(token.sentence for token in tokens), None]
    return [_measured(tokens, sentences, of) for of in inside], reports


def _in_order_of(times: Times, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens that say something about words, in the order of the items and conditions of the times."""
    tokens = [token for token in tokens if not token.is_end and (token.letters or token.bits)]
    keys = 2 if any(word.condition for word in times.words) else 1
    order = dict.fromkeys((word.item, word.condition)[:keys] for word in times.words)
    if keys == 1 and {token.variant[:1] for token in tokens} != order.keys():
        return tokens
    rank = {variant: i for i, variant in enumerate(order)}
    return sorted(tokens, key=lambda token: rank.get(token.variant[:keys], len(rank)))


def _matched(words, tokens, letters) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Return per word the indices of its tokens, and the blocks of words and tokens that differ.

    A token of two words, and tokens of two sentences or of another item, are no tokens of a word.
    """
    blocks = [(0, len(letters), 0, len(tokens))]
    if places(tokens, letters) is None:
        parts = [one.continues or two.continues for one, two in pairwise([*tokens, *tokens[:1]])]
        keys = [GAP * part + token.letters for token, part in zip(tokens, parts, strict=True)]
        matcher = SequenceMatcher(None, letters, keys, autojunk=False)
        blocks = [codes[1:] for codes in matcher.get_opcodes()]
    has_items = {token.variant[0] for token in tokens} == {word.item for word in words}
    inside: list[list[int]] = [[] for _ in words]
    differing = []
    for i, i_end, j, j_end in blocks:
        at = places(tokens[j:j_end], letters[i:i_end])
        if at is None:
            differing.append((i, i_end, j, j_end))
        for k, (first, last) in enumerate(at or (), j):
            for of in inside[i + first : i + last + 1]:
                of.append(k)
    counts = Counter(chain.from_iterable(inside))
    left_out = _misplaced(words, tokens, inside) if differing else set()
    for i, of in enumerate(inside):
        items = {tokens[k].variant[0] for k in of if has_items} - {words[i].item}
        is_of_two = len({tokens[k].sentence for k in of}) > 1 or any(counts[k] > 1 for k in of)
        if items or is_of_two or i in left_out:
            differing.append((i, i + 1, of[0], of[-1] + 1))
            inside[i] = []
    return inside, differing


def _misplaced(words, tokens, inside) -> set[int]:
    """Return the words with tokens of a sentence of which the words at this place are not most, or most are missing.

    If the table does not tell sentences apart, they end with a full stop or the like, and with an
    item. The words of a sentence are divided where the item changes, or where other words lie
    between.
    """
    word_of = {k: i for i, of in enumerate(inside) for k in of}
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


def _measured(tokens, sentences, of) -> MeasuredWord | None:
    """Return what the tokens of a word say; `sentences` are those of the tokens, and None at both ends."""
    if not of:
        return None
    bits = math.fsum(tokens[k].bits for k in of)
    known = [tokens[k].is_known for k in of]
    before, sentence, after = (sentences[k] for k in (of[0], of[0] + 1, of[-1] + 2))
    return MeasuredWord(
        bits if math.isfinite(bits) else math.nan,
        None if None in known else not all(known),
        None if sentence is None else sentence != before,
        None if sentence is None else sentence != after,
    )


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, plain(word))).casefold() or word


def _difference(times: str, words: Sequence[Word], path: str, tokens: Sequence[Token]) -> str:
    """Return a report of words and tokens that differ, with their files and lines."""
    read = f"{times}:{_listed(words)}" if words else times
    measured = f"{path}:{_listed(tokens)}" if tokens else path
    if words and tokens:
        return f"{read} against {measured}"
    return f"{measured} lacks {read}" if words else f"{read} lacks {measured}"


def _listed(words: Sequence[Word | Token]) -> str:
    """Return the words of a difference after the line of the first one."""
    shown = " ".join(word.text for word in words[:SHOWN]) + " …" * (len(words) > SHOWN)
    return f"{words[0].line}: {shown!r}"
