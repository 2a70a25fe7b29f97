"""Judgement of failures by a command's exit, its messages and the files it left."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from oracle.brackets import read_trees
from oracle.errors import RnngError
from oracle.samples import is_samples_file, read_samples
from oracle.sentences import read_sentences
from oracle.streams import open_lines
from scripts.torture.limits import Limits, Outcome
from scripts.torture.structures import PWNED

CODES = (0, 1, 2, 130)
ANNOUNCED = re.compile(
    r"p = 0|not finite|not a number|no number|\bnan\b|infinit|perplexity inf\b|overflow|diverge",
    re.I,
)
# files that a refused command may leave: batches for --resume, and a complete model folder
KEPT = re.compile(
    r"\.part(\.key)?$|^new(/|$)|^(parser|generator|lm|results|out)/|^out$|\.arrays(/|$)"
)
# labels and words may be spelt like numbers, so only these lines are checked
PRINTED = re.compile(r"^(?:prob: |LLH=|PPL=|F1: |perplexity: ).*", re.MULTILINE)
MODEL_FILES = ("config.json", "vocabulary.json", "parameters.npz")
USING_MODELS = ("parse", "sample", "score", "generate", "perplexity", "attention")


def judge(
    arguments: Sequence[str], folder: Path, before: set[Path], outcome: Outcome, limits: Limits
) -> str | None:
    """Return the failure that a command shows, if any, as sort and place; `before` are the files that it was given."""
    if (folder / PWNED).exists():
        return f"code of a model was run: {arguments[0]}"
    if outcome.code is None:
        return f"{_how_it_ended(outcome)}: {outcome.where}"
    if "Traceback (most recent call last)" in outcome.stdout + outcome.stderr:
        return f"traceback: {last_exception(outcome.stderr)}"
    if outcome.code not in CODES:
        return f"exit code {outcome.code}: {arguments[0]}"
    if outcome.megabytes > 1000 * limits.gigabytes:
        return f"memory: {arguments[0]}, {outcome.megabytes:.0f} MB"
    if outcome.code == 2:
        return _refused(arguments, folder, before, outcome)
    return _accepted(arguments, folder, outcome) if outcome.code == 0 else None


def _how_it_ended(outcome: Outcome) -> str:
    if outcome.where.startswith(("overtime", "hung")):
        return "time"
    if outcome.where.startswith("died"):
        return "death"
    return "memory" if "MemoryError" in outcome.where else "traceback"


def last_exception(text: str) -> str:
    """Return the last line that names an exception, or the last one of all."""
    lines = text.strip().splitlines()
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
    return (named or lines or [""])[-1][:80]


def _refused(
    arguments: Sequence[str], folder: Path, before: set[Path], outcome: Outcome
) -> str | None:
    """Return a problem unless a refusal gives its reason and leaves nothing new behind."""
    verb = arguments[0]
    if not re.search(r"^Error: .", outcome.stderr, re.MULTILINE):
        return f"exit code 2 without a message: {verb}"
    new = {path.relative_to(folder) for path in folder.rglob("*")} - before
    left = sorted(str(path) for path in new)
    outputs = [name for name in arguments if name.startswith("out")]
    if len(outputs) > 1:
        # one output is whole, and only another one could not be written
        left = [path for path in left if path not in outputs]
    if any(path.name.startswith("out.part") for path in before):
        # if something stood in the place of a part, that was the error
        left = [path for path in left if not path.startswith("out.part")]
    is_new = "new" in left
    if verb == "train":
        left = [path for path in left if not KEPT.search(path)]
    if left:
        name = re.sub(r"\d+", "N", left[0])
        return f"left behind after exit code 2: {verb}: {name}"
    if is_new and not all((folder / "new" / name).is_file() for name in MODEL_FILES):
        return f"a model folder that is not complete: {verb}"
    return None


def _accepted(arguments: Sequence[str], folder: Path, outcome: Outcome) -> str | None:
    """Return a problem unless all lines exist and numbers are finite, or standard error says otherwise."""
    if problem := missing_lines(arguments, folder):
        return problem
    if ANNOUNCED.search(outcome.stderr):
        return None
    found = (*_not_finite(arguments, folder, outcome), *_not_finite_in_models(arguments, folder))
    return f"a number that is not finite: {arguments[0]}: {found[0]}" if found else None


def missing_lines(arguments: Sequence[str], folder: Path) -> str | None:
    """Return a failure if the output has another number of lines than the input requires."""
    expected = _expected_lines(arguments, folder)
    if expected is None:
        return None
    output = folder / arguments[arguments.index("-o") + 1]
    written = output.read_bytes().count(b"\n") if output.is_file() else 0
    lost = f"lines missing: {arguments[0]}: {written} of {expected}"
    return None if written == expected else lost


def _expected_lines(arguments: Sequence[str], folder: Path) -> int | None:
    """Return the number of lines that the output must have, if the input determines it."""
    count = COUNTS.get(arguments[0])
    # the command decides how many sentences a text has, and how many trees a sentence has
    said_otherwise = {"--output", "--text", "--nbest"}
    if arguments[0] == "parse":
        said_otherwise.add("--samples")
    if count is None or arguments.count("-o") != 1 or said_otherwise & set(arguments):
        return None
    inputs = [folder / name for name in arguments[1:] if (folder / name).exists()]
    read = next((path for path in inputs if not path.is_dir()), None)
    try:
        # a pipe cannot be read again
        return count(read, arguments) if read and read.is_file() else None
    except (RnngError, RecursionError):
        return None


def _count_scored(path: Path, arguments: Sequence[str]) -> int:
    with open_lines(path) as stream:
        read = read_samples if is_samples_file(stream) else read_trees
    return sum(1 for _ in read(path))


COUNTS: dict[str, Callable[[Path, Sequence[str]], int]] = {
    "parse": lambda path, arguments: len(read_sentences(path)),
    "sample": lambda path, arguments: (
        # an empty line has no samples
        # the last one counts
        int([after for name, after in pairwise(arguments) if name == "--samples"][-1])
        * sum(bool(sentence.tokens) for sentence in read_sentences(path))
    ),
    "score": _count_scored,
    "tag": lambda path, arguments: sum(1 for _ in read_trees(path)),
}


def _not_finite(arguments: Sequence[str], folder: Path, outcome: Outcome) -> Iterator[str]:
    """Yield the places where a command printed or wrote a number that is not finite, or no number."""
    verb, output = arguments[0], folder / "out"
    # names of systems may look like numbers, too
    printed = [] if "--names" in arguments else PRINTED.findall(outcome.stdout)
    if any(re.search(r"(?<![\w.])(?:nan|inf)(?![\w.])", line, re.I) for line in printed):
        yield "what it prints"
    if verb in ("score", "perplexity", "sample") and output.is_file():
        separator, column = ("|||", 1) if verb == "sample" else ("\t", -1)
        for line in output.read_bytes().split(b"\n")[:-1]:
            if not _is_finite(line.decode("utf-8", "replace").split(separator)[column]):
                yield "its output"


def _not_finite_in_models(arguments: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield such places in a model that a command made or used."""
    made = arguments[0] in ("train", "import-clab")
    if "--model" not in arguments or not (made or arguments[0] in USING_MODELS):
        return
    model = folder / arguments[arguments.index("--model") + 1]
    for name in ("parameters.npz", "vectors.npz"):
        if not _are_finite(model / name):
            yield f"{name}, {'made' if made else 'used'}"
    log = model / "log.jsonl"
    if made and log.is_file() and re.search(r"NaN|Infinity", log.read_text(errors="replace")):
        yield "log.jsonl"


def _are_finite(path: Path) -> bool:
    """Return whether all numbers of an archive are finite; an unreadable archive has none."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            # a member that is no array is returned as bytes
            arrays = [np.asarray(archive[name]) for name in archive.files]
    except Exception:
        return True
    return all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
