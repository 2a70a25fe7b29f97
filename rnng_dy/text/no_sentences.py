"""Texts that cannot be sentences: missing values, numbers, labels, judgements, markup."""

import re
from collections.abc import Sequence

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import number_of
from rnng_dy.text.conventions import HAN

_MISSING = frozenset(["none", "null", "#n/a", "#ref!", "#value!", "#name?", "<na>", "-", "."])
_LABELS = frozenset(
    "true false good bad yes no grammatical ungrammatical "  # noqa: SIM905
    "acceptable unacceptable correct incorrect".split()
)
_BEFORE = re.compile(
    r"\s*(?:(?:[*?%]{1,3}|[*?]{1,3}\s+)(?=[\"'“‘(]?[^\W\d_])|<s>\s|#\s*(?=[A-Z][a-z]* [a-z]))"
)
"""A linguist's judgement, or a mark of a sentence's beginning."""
MARKUP = re.compile(
    r"(?<!\S)(?:</?s>|<(?:unk|eos|bos|pad)>|\[(?:UNK|CLS|SEP|PAD|MASK)\]|<\|endoftext\|>|@[-,.]@)(?!\S)"
    r"|</?(?:b|i|u|br|p|em|strong|span|sub|sup|div)\b[^<>]*>|&(?:[a-z]{2,6}|#\d+);"
)
_WORD = re.compile(rf"[^\s{HAN}]+")
"""A text without a blank, in a script that has blanks."""
_STUCK = re.compile(r"\S*[^\W\d_](?:[,;:!?][\"'”’)]*(?!\S)|(?<=[^\W\d_]{2})\.[\"'”’)]*\Z)")
"""A word that ends in a mark, as in running text; in a period only at the end of the sentence."""


def is_number(text: str) -> bool:
    """Return whether a text is a number, or stands for a missing one."""
    try:
        number_of(text)
    except ValueError:
        return text.strip().lower() in _MISSING
    return True


def require_unmarked(text: str) -> None:
    """Raise RnngError for a text that begins with a linguist's judgement, such as a star.

    >>> require_unmarked("*The doctor are tall.")
    Traceback (most recent call last):
    oracle.common.errors.RnngError: '*The doctor are tall.' begins with '*', a mark and no word:
    take it out
    """
    if begins := _BEFORE.match(text):
        mark = repr(begins[0].strip())
        raise RnngError(f"{text!r:.60} begins with {mark}, a mark and no word: take it out")


def require_sentence(text: str, remedy: str = "leave it out") -> None:
    """Raise RnngError for a text that cannot be a sentence; `remedy` is for a missing value."""
    if is_number(text):
        raise RnngError(f"{text!r:.60} is a number or a missing value: {remedy}")
    require_unmarked(text)
    if markup := MARKUP.search(text):
        raise RnngError(f"{text!r:.60} has {markup[0]!r}, which is markup and no word: take it out")


def require_column(
    rows: Sequence[tuple[int, str]], path: object, what: str, remedy: str, word_remedy: str = ""
) -> None:
    """Raise InputError, with the line, if a column of texts with their lines is none of sentences.

    Args:
        rows: Lines and texts; empty ones do not count.
        path: The file.
        what: The column, for messages.
        remedy: What to do.
        word_remedy: What to do if each text is one word; nothing if such texts may be sentences.
    """
    rows = [(line, text) for line, text in rows if text.strip()]
    texts = dict.fromkeys(text.strip() for _, text in rows)
    is_of_labels = len(rows) > 2 and len(texts) <= 2 and all(map(_WORD.fullmatch, texts))
    if is_of_labels or (texts and all(text.lower() in _LABELS for text in texts)):
        message = f"{what} has only {' and '.join(texts)}: labels, not sentences; {remedy}"
        raise InputError(message, path, rows[0][0])
    if word_remedy and are_words(list(texts)) and not all(map(is_number, texts)):
        raise InputError(f"each text is one word: {word_remedy}", path)
    for line, text in rows:
        with placed(path, line):
            require_sentence(text, f"it is in {what}; {remedy}")


def are_words(texts: Sequence[str]) -> bool:
    """Return whether several texts are one word each, in a script with blanks."""
    return len(texts) > 1 and all(_WORD.fullmatch(text.strip()) for text in texts)


def running_text(sentences: Sequence[Sequence[str]], remedy: str) -> tuple[int, str] | None:
    """Return the index of the first sentence with a mark attached to a word, and a warning.

    Returns None if fewer than a tenth of the sentences have such a mark.

    >>> running_text([["Mr.", "Li", ",", "yes", "."], ["Mr.", "Li,", "yes"], ["Sit."]], "split")
    (1, "running text? 'Li,' ends in a mark (2 of 3 sentences): split, or put blanks around marks")
    >>> running_text([["It", "works."]] + 10 * [["Yes"]], "split")
    """
    found = [(i, word[0]) for i, s in enumerate(sentences) if (word := _STUCK.search(" ".join(s)))]
    if not found or 10 * len(found) < len(sentences):
        return None
    index, word = found[0]
    of = f"({len(found)} of {len(sentences)} sentences)"
    how = f"{remedy}, or put blanks around marks"
    return index, f"running text? {word!r:.80} ends in a mark {of}: {how}"
