"""Samples of the proposal and their likelihoods, in the original's formats."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from oracle.brackets import format_tree, parse_line
from oracle.common.errors import InputError
from oracle.common.files import WHITE_SPACE, FileName, open_text, reading
from oracle.common.lazy import nltk
from oracle.common.tables import is_whole_number
from oracle.treebank import words

LIKELIHOODS = "words\tnegative_log_p"
"""The beginning of a table of likelihoods."""
_PRINTED = re.compile(r"^prob: (\S+) \(len=(\d+)\)", re.MULTILINE)
"""A sentence in the output of `rerank`."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A tree without preterminals, drawn for a sentence."""

    index: int
    """0-based number of the sentence."""
    log_q: float
    """Log probability, in nats, that the proposal gives the tree."""
    tree: nltk.Tree
    line: int
    """1-based line in the samples file."""


def read_samples(path: FileName, lines: Iterable[str] | None = None) -> Iterator[Sample]:
    """Yield samples from lines `index ||| log q ||| tree`, those of the file or `lines`.

    Raises InputError for any other line.
    """
    with reading(path, remedy="make the file with `rnng-dy sample`") as location:
        for location.line, text in _lines(path, lines):
            fields = text.split("|||", 2)
            if len(fields) != 3:
                raise ValueError(f"not `index ||| log q ||| tree` but {text!r:.60}")
            index = _whole_number(fields[0], "the index of the sentence")
            log_q = _float(fields[1], "log q")
            # allows for rounding; a larger value has probably lost its sign
            if not -math.inf < log_q <= 1e-3:
                raise ValueError(f"log q is {log_q:g}, no log probability of a tree that is drawn")
            tree = parse_line(fields[2], path, location.line, any_bytes=True)
            yield Sample(index, log_q, tree, location.line)


def format_sample(index: int, log_q: float, tree: str) -> str:
    """Return the line of a sample.

    >>> format_sample(0, -1.5, "(S Go)")
    '0 ||| -1.5 ||| (S Go)'
    """
    return f"{index} ||| {log_q:.9g} ||| {tree}"


def begins_samples(line: str) -> bool:
    """Return whether a first line is that of samples: a sentence's index, and no tree."""
    return line.lstrip()[:1].isdigit()


def read_likelihoods(path: FileName, table: bool = True) -> list[tuple[int, float]]:
    """Return each tree's number of words and negative log joint in nats (`inf` if p = 0).

    A `table` of `rnng-dy perplexity` has these as its first two columns. Raises InputError for any
    other line.
    """
    rows, columns = [], None
    with reading(path, remedy="make it with `rnng-dy score` or `rnng-dy perplexity`") as location:
        for location.line, text in _lines(path):
            if table and not rows and text.startswith(LIKELIHOODS):
                columns = 2
                continue
            fields = text.split("\t")[:columns] if columns else text.split()
            if len(fields) != 2:
                raise ValueError(f"not `words<TAB>negative log joint` but {text!r:.60}")
            negative = _float(fields[1], "the negative log joint")
            # allows for rounding
            if negative < -1e-3:
                raise ValueError(f"the negative log joint is {negative:g}: a probability above 1")
            rows.append((_whole_number(fields[0], "the number of words"), negative))
    return rows


def read_log_probs(path: FileName, lengths: Sequence[int]) -> list[float]:
    """Return log p in nats of sentences, as `perplexity` writes and `rerank` prints it.

    Raises InputError if the file has other sentences, or probabilities of trees by `score`.
    """
    with reading(path), open_text(path) as stream:
        text = stream.read()
        rows = [(int(length), float(log_p)) for log_p, length in _PRINTED.findall(text)]
        if not (rows or text.startswith(LIKELIHOODS)):
            raise ValueError("neither a .tsv of `rnng-dy perplexity` nor what `rerank` printed")
    if not rows:
        rows = [(length, -negative) for length, negative in read_likelihoods(path)]
    if [length for length, _ in rows] != list(lengths):
        raise InputError(f"not the numbers of words of the {len(lengths)} sentences of INPUT", path)
    return [log_p for _, log_p in rows]


def read_scored_samples(
    samples_path: FileName, likelihoods_path: FileName, of_one_q: bool = False
) -> list[list[tuple[Sample, float]]]:
    """Return each sentence's samples with their log joint in nats.

    Raises InputError if the files do not match. If the samples must be `of_one_q`, raises it for a
    tree with two log q, as of several parsers or alphas.
    """
    samples, scores = list(read_samples(samples_path)), read_likelihoods(likelihoods_path, False)
    if not samples:
        raise InputError("no samples: make the file with `rnng-dy sample`", samples_path)
    again = "score these samples again"
    if len(samples) != len(scores):
        what = f"{len(scores)} likelihoods for the {len(samples)} samples of {samples_path}"
        raise InputError(f"{what}: {again}", likelihoods_path)
    groups: dict[int, tuple[list[tuple[Sample, float]], list[str]]] = {}
    firsts: dict[tuple[int, str], tuple[Sample, float]] = {}
    index = 0
    for number, (sample, (length, negative)) in enumerate(zip(samples, scores, strict=True), 1):
        before, index, log_p, its_words = index, sample.index, -negative, words(sample.tree)
        if length != len(its_words):
            of_tree = f"the tree at {samples_path}:{sample.line} has {len(its_words)}"
            raise InputError(f"{length} words, but {of_tree}: {again}", likelihoods_path, number)
        if index < before:
            what = f"a sample of sentence {index} after those of {before}"
            how = "keep the samples of a sentence together, sentences in order"
            raise InputError(f"{what}: {how}", samples_path, sample.line)
        group, words_before = groups.setdefault(index, ([], its_words))
        if words_before != its_words:
            what = f"other words than in the samples of sentence {index} before"
            how = "join samples of the same sentences, by parsers that know the same words"
            raise InputError(f"{what}: {how}", samples_path, sample.line)
        group.append((sample, log_p))
        first, first_log_p = firsts.setdefault((index, format_tree(sample.tree)), group[-1])
        if not _are_equal(log_p, first_log_p):
            what = f"this tree has log p {log_p:g}, and before {first_log_p:g}"
            raise InputError(f"{what}: {again}", likelihoods_path, number)
        if of_one_q and not _are_equal(sample.log_q, first.log_q):
            what = f"this tree has log q {sample.log_q:g}, and before {first.log_q:g}"
            how = "`weight` is for samples of one parser at one alpha"
            raise InputError(f"{what}: {how}", samples_path, sample.line)
    if all(_are_equal(s.log_q, log_p) for group, _ in groups.values() for s, log_p in group):
        raise InputError("MAP trees by `rerank`: give the samples that it chose from", samples_path)
    return [group for group, _ in groups.values()]


def _are_equal(log_prob: float, other: float) -> bool:
    """Return whether two log probabilities differ by rounding alone."""
    return math.isclose(log_prob, other, rel_tol=1e-4, abs_tol=1e-2)


def format_likelihood(length: int, negative_log_joint: float) -> str:
    r"""Return the line of a likelihood.

    >>> format_likelihood(2, float("inf"))
    '2\tinf'
    """
    return f"{length}\t{negative_log_joint:.9g}"


def _lines(path: FileName, lines: Iterable[str] | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    with nullcontext(lines) if lines else open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if text := line.strip(WHITE_SPACE):
                yield number, text


def _whole_number(text: str, what: str) -> int:
    text = text.strip(WHITE_SPACE)
    if not is_whole_number(text):
        raise ValueError(f"{what} is {text!r}, not a whole number from 0 on")
    return int(text)


def _float(text: str, what: str) -> float:
    with suppress(ValueError):
        if not math.isnan(value := float(text)):
            return value
    raise ValueError(f"{what} is {text.strip(WHITE_SPACE)!r}, not a number")
