"""Run the recorded commands, and write what they compute: `python -m tests.golden.record FOLDER`.

`numbers/` and `texts/` of FOLDER get a file for each record. The record of the project was made on
commit 13503d9, but for show.txt, whose trees NLTK draws since, and the intervals of suite.txt;
surprisal.english.json was made there with the parameters of a later model. english.trees, and what
evalb.txt and show.txt say of it, are by the parser that a6dacb3a made. The columns `structure`,
`cluster` and `word_in_cluster` are of the commit that made them.
"""

from __future__ import annotations

import hashlib
import json
import re
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


def run(line: str, folder: Path) -> str:
    """Standard output and error of `rnng-dy LINE` in this process, with its exit code if that is not 0.

    `{NAME}` of the line becomes a path in the folder.
    """
    arguments = re.sub(r"\{(.*?)\}", rf"{folder}/\1", line).split()
    result = CliRunner().invoke(main, arguments, prog_name="rnng-dy")
    if result.exception and not isinstance(result.exception, SystemExit | click.Abort):
        raise result.exception
    text = result.output.replace(f"{folder}/", "")
    # the signature names the commit
    text = re.sub("^rnng_dy:.*\n", "", text, flags=re.MULTILINE)
    return text + (f"exit code {result.exit_code}\n" if result.exit_code else "")


def summary(model: Path) -> dict[str, list]:
    """For each array of a model: shape, the bits' hash, norm, and product with a fixed vector, in float64."""
    found = {}
    with numpy.load(model / "parameters.npz") as arrays:
        for name in sorted(arrays.files):
            array = arrays[name]
            if array.dtype.kind == "f":
                flat = array.astype(numpy.float64).ravel()
                product = float(flat @ numpy.cos(numpy.arange(len(flat))))
                bits = hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).hexdigest()[:16]
                found[name] = [list(array.shape), bits, float(numpy.sqrt(flat @ flat)), product]
    return found


def columns(table: str) -> dict[str, list[str]]:
    """The columns of a table of measures."""
    header, *rows = (line.split("\t") for line in table.splitlines())
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def machine() -> dict[str, str]:
    """What the bits depend on: the processor's model and the build of DyNet that this process has loaded."""
    about = Path("/proc/cpuinfo").read_text(encoding="utf8")
    processor = re.search(r"^model name\s*:(.*)|$", about, re.MULTILINE)[1] or ""
    module = Path(sys.modules["_dynet"].__file__)
    build = hashlib.sha256(module.read_bytes()).hexdigest()
    return {"processor": processor.strip(), "build": build}


def write_inputs(folder: Path) -> None:
    """Trees of the package for training, development and test, a vectors file, stimuli, a suite, and bad files."""
    lines = TINY.read_text(encoding="utf8").splitlines(keepends=True)
    for name, part in ("train", slice(0, 20)), ("dev", slice(500, 504)), ("test", slice(550, 555)):
        (folder / name).write_text("".join(lines[part]), encoding="utf8")
    words = enumerate(["the", "train", "saw", "every"])
    rows = [f"{word} {k / 7:.3f} {1 - k / 5:.3f} 0.250" for k, word in words]
    for name, text in {
        "vectors": "4 3\n" + "\n".join(rows) + "\n",
        "stimuli.csv": "item,text\n1,the train | saw every | window\n2,the village | followed\n",
        "text.txt": "The train saw every window. The village followed!\n",
        "bad.trees": "(S (NP (DT the) (NN train))\n",
        "suite.json": json.dumps(SUITE),
    }.items():
        (folder / name).write_text(text, encoding="utf8")


def condition(name: str, subject: str) -> dict[str, object]:
    """A condition of the item of SUITE."""
    regions = enumerate((subject, "followed !"), 1)
    contents = [{"region_number": number, "content": content} for number, content in regions]
    return {"condition_name": name, "regions": contents}


SUITE = {
    "meta": {"name": "small", "metric": "sum", "reference": "", "author": "", "comments": ""},
    "region_meta": {"1": "subject", "2": "verb"},
    "predictions": [{"type": "formula", "formula": "(2;%a%) < (2;%b%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [condition("a", "the village"), condition("b", "every windows")],
        }
    ],
}


def record(folder: Path) -> None:
    """Run everything, and write the record to `folder`."""
    numbers, texts = folder / "numbers", folder / "texts"
    numbers.mkdir(parents=True)
    texts.mkdir()
    with tempfile.TemporaryDirectory() as name:
        files = Path(name)
        write_inputs(files)
        models = {}
        for name, line in MODELS.items():
            _succeed(line, files)
            models[name] = summary(files / name)
        for name, line in NUMBERS.items():
            _succeed(line, files)
            (numbers / name).write_bytes((files / name).read_bytes())
        for name, line in SURPRISALS.items():
            _write(numbers / f"{name}.json", columns(_succeed(line, files)))
        for name, line in TEXTS.items():
            (texts / f"{name}.txt").write_text(run(line, files), encoding="utf8")
        for name, line in RESUMED.items():
            _succeed(line, files)
            models[f"{name}-resumed"] = summary(files / name)
        for name, arrays in models.items():
            _write(numbers / f"parameters.{name}.json", arrays)
    _write(numbers / "machine.json", machine())


def _succeed(line: str, folder: Path) -> str:
    text = run(line, folder)
    if "exit code" in text:
        raise RuntimeError(f"rnng-dy {line}\n{text}")
    return text


def _write(path: Path, value: dict[str, object]) -> None:
    """Write a line for each key."""
    lines = (f"{json.dumps(key)}: {json.dumps(of_key)}" for key, of_key in value.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
