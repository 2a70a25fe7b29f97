"""Whatever bytes a file has, a command that reads it ends with its result or one message of what is wrong."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import openpyxl
import pytest

from rnng_dy import load
from rnng_dy.cli.job import Results
from tests.commands import invoke
from tests.conftest import tiny_trees

pytestmark = pytest.mark.slow
SMALL = (
    "--trees t.trees --dev-trees d.trees --hidden 6 --set lstm_input=6 --set layers=1 --epochs 1"
)
PARSER = f"train discriminative {SMALL} --pos --pretrained v.txt --model"
GENERATOR = f"train generative {SMALL} --open --clusters clusters --model"
SURPRISAL = "surprisal --model generator --beam 3"
READ = {
    "parser/[!lt]*.*": "parse --model parser x.txt",
    "parser/te*.json": "parse --model parser x.txt --text",
    "parser/tagger/*": "parse --model parser x.txt",
    "parser/[lt]*g.*": f"{PARSER} parser --resume",
    "generator/[!lt]*.*": f"{SURPRISAL} x.txt --open",
    "parser.zip": "models export parser.zip -o out.zip",
    "generator.zip": "score --model generator.zip x.props",
    "t.trees": "oracle --train t.trees t.trees",
    "t.trees.bz2": "prepare --from trees t.trees.bz2",
    "t.oracle": "parse --model parser t.oracle",
    "t.gen.oracle": "perplexity t.gen.oracle --scorer kneser-ney=t.gen.oracle",
    "x.props": "score --model generator x.props",
    "x.likelihoods": "rerank x.props x.likelihoods",
    "clusters": f"{GENERATOR} new",
    "v.txt": f"{PARSER} new",
    "x.tsv": f"{SURPRISAL} --stimuli x.tsv",
    "x.xlsx": f"{SURPRISAL} --stimuli x.xlsx",
    "out.part*": "parse --model parser x.txt -o out",
}
"""Patterns of names, and the command that reads such a file."""
MADE = f"""
oracle --train t.trees t.trees -o t.oracle
oracle --train t.trees t.trees --generative -o t.gen.oracle
clusters t.gen.oracle -c 4 -o clusters
prepare --from trees t.trees -o t.trees.bz2
{PARSER} parser
{GENERATOR} generator
sample --model parser x.txt --samples 2 -o x.props
score --model generator x.props -o x.likelihoods
{READ["out.part*"]}
"""
VALUE = re.compile(rb'(\[[^][]*\]|"[^"]*"|-?[\d.]+)')
OTHERS = b"null", b"true", b"-1", b"1e999", b'""', b'"x"', b"[]", b"{}", b"[1]", b'["a"]', b"[[]]"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with sound files."""
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(Results, "remove", lambda kept: None)
        for name, part in (("t", (0, 40)), ("d", (40, 50))):
            Path(f"{name}.trees").write_text(tiny_trees(*part), encoding="utf-8")
        Path("v.txt").write_text("the 1 2\n, 3 4\nroad -1 0.5\n")
        Path("x.txt").write_text("The dog ran .\nIt works .\n")
        Path("x.tsv").write_text("item\tsentence\n1\tThe dog ran.\n2\tThe dogs ran.\n")
        book = openpyxl.Workbook()
        for row in (("item", "sentence"), (1, "The dog ran."), (2, "The dogs ran.")):
            book.active.append(row)
        book.save("x.xlsx")
        for command in MADE.strip().splitlines():
            invoke(*command.split())
        for name in ("parser", "generator"):
            load(name).export(f"{name}.zip")
    return folder


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Bytes of which a part is other, missing or repeated, or a value of JSON is another one."""
    values = VALUE.split(content)
    if len(values) > 1 and chance.random() < 0.5:
        values[chance.randrange(1, len(values), 2)] = chance.choice(OTHERS)
        return b"".join(values)
    place, size = chance.randrange(len(content)), chance.choice((1, 1, 8, 100))
    before, part, after = content[:place], content[place : place + size], content[place + size :]
    other = bytes([part[0] ^ 1 << chance.randrange(8)]), chance.randbytes(size), bytes(size)
    return before + chance.choice((*other, part * 2, b"", b"\n", b"1e10", b"(")) + after


@pytest.mark.parametrize("pattern", READ)
def test_a_damaged_file_is_read_or_refused_by_name(sound, tmp_path, monkeypatch, pattern):
    names = [path.relative_to(sound) for path in sorted(sound.glob(pattern))]
    for number, name in enumerate(names * (24 // len(names) + 1)):
        folder = tmp_path / str(number)
        shutil.copytree(sound, folder)
        monkeypatch.chdir(folder)
        name.write_bytes(damaged(name.read_bytes(), random.Random(number)))
        Path("out").unlink()
        result = invoke(*READ[pattern].split(), code=None)
        errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert len(errors) == (result.exit_code == 2) and result.exit_code in (0, 1, 2)
        assert name.parts[0] in "".join(errors) or not errors
        if pattern == "out.part*":
            assert Path("out").read_bytes() == (sound / "out").read_bytes()
