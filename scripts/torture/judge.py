"""What a failure is: judges what a command gave, what it said and what it left in its folder."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from oracle.errors import RnngError
from oracle.files import is_samples_file, read_samples, read_sentences
from oracle.streams import open_lines
from oracle.treebank import read_trees
from scripts.torture.structures import PWNED
from scripts.torture.worker import Limits, Outcome

CODES = (0, 1, 2, 130)
ANNOUNCED = re.compile(
    r"p = 0|not finite|not a number|no number|\bnan\b|infinit|perplexity inf\b|overflow|diverge",
    re.I,
)
# what a refused command may leave: the batches that --resume goes on with, a model folder that is complete
KEPT = re.compile(
    r"\.part(\.key)?$|^new(/|$)|^(parser|generator|lm|results|out)/|^out$|\.arrays(/|$)"
)
MODEL_FILES = ("config.json", "vocabulary.json", "parameters.npz")
USING_MODELS = ("parse", "sample", "score", "generate", "perplexity", "attention")


@dataclass(frozen=True)
class Problem:
    """A failure: of which sort, and what it comes from as far as that can be told."""

    sort: str
    where: str

    @property
    def cause(self) -> str:
        """By which equal failures are put together."""
        return f"{self.sort}: {self.where}"


def judge(
    arguments: Sequence[str], folder: Path, before: set[Path], outcome: Outcome, limits: Limits
) -> Problem | None:
    """The failure that a command shows, if it does; `before` are the files that it was given."""
    if (folder / PWNED).exists():
        return Problem("code of a model was run", arguments[0])
    if outcome.code is None:
        return Problem(_how_it_ended(outcome), outcome.where)
    if "Traceback (most recent call last)" in outcome.stdout + outcome.stderr:
        return Problem("traceback", last_exception(outcome.stderr))
    if outcome.code not in CODES:
        return Problem(f"exit code {outcome.code}", arguments[0])
    if outcome.megabytes > 1000 * limits.gigabytes:
        return Problem("memory", f"{arguments[0]}, {outcome.megabytes:.0f} MB")
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
    """The last line that names an exception, or the last one of all."""
    lines = text.strip().splitlines()
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
    return (named or lines or [""])[-1][:80]


def _refused(
    arguments: Sequence[str], folder: Path, before: set[Path], outcome: Outcome
) -> Problem | None:
    """A refusal says why, and leaves nothing behind that was not there."""
    verb = arguments[0]
    if not re.search(r"^Error: .", outcome.stderr, re.MULTILINE):
        return Problem("exit code 2 without a message", verb)
    new = {path.relative_to(folder) for path in folder.rglob("*")} - before
    left = sorted(str(path) for path in new)
    outputs = [name for name in arguments if name.startswith("out")]
    if len(outputs) > 1:
        # one output is whole, and only another one could not be written
        left = [path for path in left if path not in outputs]
    if any(path.name.startswith("out.part") for path in before):
        # what is in the place of a part is what was wrong
        left = [path for path in left if not path.startswith("out.part")]
    if left and verb != "train":
        return Problem("left behind after exit code 2", f"{verb}: {_without_numbers(left[0])}")
    half = [path for path in left if not KEPT.search(path)]
    if half:
        return Problem("left behind after exit code 2", f"{verb}: {_without_numbers(half[0])}")
    if any(path == "new" for path in left) and not _is_complete(folder / "new"):
        return Problem("a model folder that is not complete", verb)
    return None


def _without_numbers(name: str) -> str:
    return re.sub(r"\d+", "N", name)


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in MODEL_FILES)


def _accepted(arguments: Sequence[str], folder: Path, outcome: Outcome) -> Problem | None:
    """Success means: every line is there, and every number is finite unless standard error says otherwise."""
    verb = arguments[0]
    if problem := missing_lines(arguments, folder):
        return problem
    if ANNOUNCED.search(outcome.stderr):
        return None
    for place, number in _numbers(arguments, folder, outcome):
        if not math.isfinite(number):
            return Problem("a number that is not finite", f"{verb}: {place}")
    return None


def missing_lines(arguments: Sequence[str], folder: Path) -> Problem | None:
    """Whether the output has another number of lines than the input says."""
    expected = _expected_lines(arguments, folder)
    if expected is None:
        return None
    output = folder / arguments[arguments.index("-o") + 1]
    written = output.read_bytes().count(b"\n") if output.is_file() else 0
    where = f"{arguments[0]}: {written} of {expected}"
    return None if written == expected else Problem("lines missing", where)


def _expected_lines(arguments: Sequence[str], folder: Path) -> int | None:
    """The lines that the command's output must have, where that can be told from its input."""
    count = COUNTS.get(arguments[0])
    # how many sentences a text has, and how many trees a sentence, is for the command to say
    said_otherwise = {"--output", "--text", "--nbest"}
    if arguments[0] == "parse":
        said_otherwise.add("--samples")
    if count is None or arguments.count("-o") != 1 or said_otherwise & set(arguments):
        return None
    inputs = [folder / name for name in arguments[1:] if (folder / name).exists()]
    read = next((path for path in inputs if not path.is_dir()), None)
    try:
        # what came through a pipe is gone
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


def _numbers(
    arguments: Sequence[str], folder: Path, outcome: Outcome
) -> Iterator[tuple[str, float]]:
    """Numbers that a command gave, and where."""
    verb = arguments[0]
    # labels and words may be spelt like numbers, so that only these lines are looked at
    for line in outcome.stdout.splitlines():
        # systems may be called so, too
        if re.match(r"prob: |LLH=|PPL=|F1: |perplexity: ", line) and "--names" not in arguments:
            for text in re.findall(r"(?<![\w.])-?(?:nan|inf)(?![\w.])", line, re.IGNORECASE):
                yield "what it prints", float(text)
    if verb in ("score", "perplexity") and (folder / "out").is_file():
        for line in (folder / "out").read_text(errors="replace").splitlines():
            yield "its output", _float(line.split("\t")[-1])
    if verb == "sample" and (folder / "out").is_file():
        for line in (folder / "out").read_bytes().split(b"\n")[:-1]:
            yield "its output", _float(line.split(b" ||| ")[1].decode())
    yield from _numbers_of_models(arguments, folder)


def _numbers_of_models(arguments: Sequence[str], folder: Path) -> Iterator[tuple[str, float]]:
    """Of the models that a command made or used."""
    if "--model" not in arguments:
        return
    model = folder / arguments[arguments.index("--model") + 1]
    made = arguments[0] in ("train", "import-clab")
    if not made and arguments[0] not in USING_MODELS:
        return
    for name in ("parameters.npz", "vectors.npz"):
        yield f"{name}, {'made' if made else 'used'}", _sum_of_arrays(model / name)
    if made and (model / "log.jsonl").is_file():
        for line in (model / "log.jsonl").read_text(errors="replace").splitlines():
            yield "log.jsonl", _float(re.search(r"NaN|Infinity|$", line)[0] or "0")


def _sum_of_arrays(path: Path) -> float:
    """Not finite where one of the numbers is not; 0 where there are none, or none that can be read."""
    if not path.is_file():
        return 0.0
    try:
        with np.load(path, allow_pickle=False) as archive:
            # a member that is no array comes as bytes
            arrays = [np.asarray(archive[name]) for name in archive.files]
    except Exception:
        return 0.0
    return 0.0 if all(np.isfinite(a).all() for a in arrays if a.dtype.kind == "f") else math.nan


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
