"""Run the recorded commands, and write what they compute: `python -m tests.golden.record FOLDER`.

`numbers/` and `texts/` of FOLDER get a file for each record. The record of the project was made on
commit 13503d9, but for show.txt, whose trees NLTK draws since, and the intervals of suite.txt;
surprisal.english.json was made there with the parameters of a later model. The columns
`structure`, `cluster` and `word_in_cluster` are of the commit that made them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
import tempfile
from pathlib import Path

import click
import numpy
from click.testing import CliRunner

from rnng_dy.cli import main
from tests.golden.commands import MODELS, NUMBERS, RESUMED, SURPRISALS, TEXTS

CHECKOUT = Path(__file__).resolve().parents[2]
TINY = CHECKOUT / "oracle" / "data" / "tiny.trees"
HERE = Path(__file__).parent


class Files(dict):
    """Names of a run's files: `{NAME}` of a command line becomes a path in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> str:
        return str(self.folder / name)


def run(line: str, files: Files) -> str:
    """Standard output and error of `rnng-dy LINE` in this process, with its exit code if that is not 0."""
    arguments = [_filled(word, files) for word in shlex.split(line)]
    result = CliRunner().invoke(main, arguments, prog_name="rnng-dy")
    if result.exception and not isinstance(result.exception, SystemExit | click.Abort):
        raise result.exception
    text = result.output.replace(f"{files.folder}/", "")
    # the signature names the commit
    text = re.sub("^rnng_dy:.*\n", "", text, flags=re.MULTILINE)
    return text + (f"exit code {result.exit_code}\n" if result.exit_code else "")


def _filled(word: str, files: Files) -> str:
    before, brace, rest = word.partition("{")
    if not brace:
        return word
    name, _, after = rest.partition("}")
    return before + files[name] + after


def summary(model: Path) -> dict[str, list]:
    """For each array of a model: shape, the bits' hash, norm, and product with a fixed vector, in float64."""
    found = {}
    with numpy.load(model / "parameters.npz") as arrays:
        for name in sorted(arrays.files):
            array = arrays[name]
            if array.dtype.kind == "f":
                flat = array.astype(numpy.float64).ravel()
                fixed = numpy.cos(numpy.arange(len(flat)))
                bits = hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).hexdigest()[:16]
                found[name] = [
                    list(array.shape),
                    bits,
                    float(numpy.sqrt(flat @ flat)),
                    float(flat @ fixed),
                ]
    return found


def columns(table: str) -> dict[str, list[str]]:
    """The columns of a table of measures."""
    header, *rows = (line.split("\t") for line in table.splitlines())
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def machine() -> dict[str, str]:
    """What the bits depend on: the processor's model and the build of DyNet that this process has loaded."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf8")
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in text.splitlines()
            if line.startswith("model name")
        ),
        "",
    )
    module = Path(sys.modules["_dynet"].__file__)
    return {"processor": processor, "build": hashlib.sha256(module.read_bytes()).hexdigest()}


def write_inputs(files: Files) -> None:
    """Trees of the package for training, development and test, a vectors file, stimuli, a suite, and bad files."""
    lines = TINY.read_text(encoding="utf8").splitlines(keepends=True)
    for name, part in ("train", slice(0, 20)), ("dev", slice(500, 504)), ("test", slice(550, 555)):
        Path(files[name]).write_text("".join(lines[part]), encoding="utf8")
    rows = [
        f"{word} {k / 7:.3f} {1 - k / 5:.3f} 0.250"
        for k, word in enumerate(["the", "train", "saw", "every"])
    ]
    for name, text in {
        "vectors": "4 3\n" + "\n".join(rows) + "\n",
        "stimuli.csv": "item,text\n1,the train | saw every | window\n2,the village | followed\n",
        "text.txt": "The train saw every window. The village followed!\n",
        "bad.trees": "(S (NP (DT the) (NN train))\n",
        "suite.json": json.dumps(SUITE),
    }.items():
        Path(files[name]).write_text(text, encoding="utf8")


SUITE = {
    "meta": {"name": "small", "metric": "sum", "reference": "", "author": "", "comments": ""},
    "region_meta": {"1": "subject", "2": "verb"},
    "predictions": [{"type": "formula", "formula": "(2;%a%) < (2;%b%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [
                        {"region_number": 1, "content": subject},
                        {"region_number": 2, "content": "followed !"},
                    ],
                }
                for name, subject in (("a", "the village"), ("b", "every windows"))
            ],
        }
    ],
}


def record(folder: Path) -> None:
    """Run everything, and write the record to `folder`."""
    numbers, texts = folder / "numbers", folder / "texts"
    numbers.mkdir(parents=True)
    texts.mkdir()
    with tempfile.TemporaryDirectory() as place:
        files = Files(Path(place))
        write_inputs(files)
        models = {}
        for name, line in MODELS.items():
            _succeed(line, files)
            models[name] = summary(Path(files[name]))
        for name, line in NUMBERS.items():
            _succeed(line, files)
            (numbers / name).write_bytes(Path(files[name]).read_bytes())
        for name, line in SURPRISALS.items():
            _write(numbers / f"{name}.json", columns(_succeed(line, files)))
        for name, line in TEXTS.items():
            (texts / f"{name}.txt").write_text(run(line, files), encoding="utf8")
        for name, line in RESUMED.items():
            _succeed(line, files)
            models[f"{name}-resumed"] = summary(Path(files[name]))
        for name, arrays in models.items():
            _write(numbers / f"parameters.{name}.json", arrays)
    _write(numbers / "machine.json", machine())


def _succeed(line: str, files: Files) -> str:
    text = run(line, files)
    if "exit code" in text:
        raise RuntimeError(f"rnng-dy {line}\n{text}")
    return text


def _write(path: Path, value: dict[str, object]) -> None:
    """Write a line for each key."""
    lines = (f"{json.dumps(key)}: {json.dumps(of_key)}" for key, of_key in value.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
