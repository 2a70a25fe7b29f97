"""`rnng-dy self-train`: silver trees, a generative model, the weight of gold trees, and --resume."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

import rnng_dy
from oracle.brackets import parse_line
from oracle.errors import RnngError
from oracle.parsed import read_parsed
from oracle.treebank import words
from rnng_dy import checkpoint
from rnng_dy.cli import job, self_train
from rnng_dy.training.self_training import confidence, mix
from tests.commands import invoke, refused

from ..conftest import TINY, make_generator

SIZES = "--lstm-input 10 --hidden 8 --epochs 2 --first-evaluation 20"
OPTIONS = "--trees gold.trees --dev-trees dev.trees --samples 4 --epochs 1 --first-evaluation 40"
COMMAND = f"self-train --model parser {OPTIONS} text.txt --keep-above 0.2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small parser with a tagger, a generative model, and trees; the text has the words of other ones."""
    folder = tmp_path_factory.mktemp("self-train")
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = {"gold": lines[:60], "dev": lines[60:70]}
    for name, part in parts.items():
        (folder / f"{name}.trees").write_text("".join(part), encoding="utf-8")
    text = [" ".join(words(parse_line(line))) + "\n" for line in lines[70:90]]
    (folder / "text.txt").write_text("".join(text[:5]) + "\n" + "".join(text[5:]))
    data = f"--trees {folder}/gold.trees --dev-trees {folder}/dev.trees"
    train = f"train discriminative {data} --pos --preset fast {SIZES} --model {folder}/parser"
    invoke("-q", *train.split())
    return folder


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def arrays(folder):
    return {
        k: v.tolist() for k, v in checkpoint.read_arrays(Path(folder, "parameters.npz")).items()
    }


def test_silver_trees_are_those_that_the_parser_is_sure_of():
    said = invoke(*COMMAND.split(), "--into", "one").stderr
    found = list(read_parsed("one/silver.json"))
    assert [len(sentence.trees) for sentence in found] == [1] * 5 + [0] + [1] * 15
    parsed = "parse --model parser text.txt --decode mbr --samples 4 --format json"
    expected = invoke(*parsed.split()).stdout
    assert Path("one/silver.json").read_text() == expected
    kept = [t.tree for s in found for t in s.trees if confidence(t) >= 0.2]
    assert 0 < len(kept) <= 20
    assert Path("one/silver.trees").read_text().splitlines() == kept
    gold = Path("gold.trees").read_text()
    assert Path("one/train.trees").read_text() == gold + "".join(f"{t}\n" for t in kept)
    assert f"silver: {len(kept)} trees of 21 sentences; gold: 60 trees" in said
    old, new = rnng_dy.load("parser"), rnng_dy.load("one/parser")
    assert new.sizes == old.sizes and new.updates > old.updates
    read = Counter(w for line in [*gold.splitlines(), *kept] for w in words(parse_line(line)))
    repeated = {word for word, count in read.items() if count > 1}
    known, knew = new.vocabulary.unknown.known, old.vocabulary.unknown.known
    assert known == knew | repeated != knew
    assert new.tags_for(["the", "time"]) == old.tags_for(["the", "time"])
    assert new.parse_one(["the", "time"]).leaves() == ["the", "time"]


def test_confidence_and_the_bound(tmp_path):
    rest = {"line": 1, "text": None, "tokens": []}
    trees = [
        ("(S (X a) (N b))", [1.0]),
        ("(S (NP (X a)) (N b))", [1.0, 0.5]),
        ("(S (X c))", [0.75]),
    ]
    rows = [
        {"sentence": i, **rest, "trees": [{"tree": t, "log_prob": None, "posteriors": p}]}
        for i, (t, p) in enumerate(trees, 1)
    ]
    (tmp_path / "json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept = {}
    for bound in (0.0, 0.75, 0.76, 1.0):
        kept[bound] = mix("gold.trees", tmp_path / "json", bound, tmp_path)
        silver = (tmp_path / "silver.trees").read_text().splitlines()
        assert silver == [t for t, p in trees if sum(p) / len(p) >= bound]
    assert [found.silver for found in kept.values()] == [3, 3, 1, 1]
    assert kept[0.0][::2] == (60, 3)
    (tmp_path / "json").write_text(json.dumps(rows[1]) + "\n")
    with pytest.raises(RnngError, match=r"no tree of 1 sentences has a confidence of 0\.9 or more"):
        mix("gold.trees", tmp_path / "json", 0.9, tmp_path)


def test_a_generative_model_decides_beside_a_parser_or_an_ensemble(generative_sentences):
    make_generator(generative_sentences).save("generator")
    both = "--model parser --generator generator --weight 0.7"
    command = f"{COMMAND} {both} --model parser"
    invoke(*command.split(), "--into", "two", "--jobs", "2")
    invoke(*command.split(), "--into", "three")
    made = Path("two/silver.json").read_text()
    assert Path("three/silver.json").read_text() == made
    parsed = f"parse {both} --model parser text.txt --samples 4 --format json"
    assert invoke(*parsed.split()).stdout == made
    changed = command.replace("0.7", "0.1").split()
    again = refused(Path(), *changed, "--into", "two", "--resume")
    assert "made from another parser, input or options" in again


def stopped(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["parsing", "mixing", "training"])
def test_a_stopped_run_is_resumed_with_the_same_result(where, monkeypatch):
    if not Path("whole").exists():
        invoke(*COMMAND.split(), "--into", "whole")
    target = {
        "parsing": (job, "results"),
        "mixing": (self_train, "mix"),
        "training": (self_train, "run_training"),
    }[where]
    command = [*COMMAND.split(), "--into", where]
    with monkeypatch.context() as patched:
        patched.setattr(*target, stopped)
        invoke(*command, code=130)
    assert "exists: continue with --resume" in refused(Path(), *command)
    if where != "parsing":
        monkeypatch.setattr(job, "results", stopped)
    invoke(*command, "--resume")
    assert arrays(f"{where}/parser") == arrays("whole/parser")
    # a finished run has nothing to do
    invoke(*command, "--resume")
    assert arrays(f"{where}/parser") == arrays("whole/parser")
    other = refused(Path(), *command, "--resume", "--samples", "5")
    assert "made from another parser, input or options" in other
    before = Path(where, "train.trees").read_bytes()
    chosen = refused(Path(), *command, "--resume", "--keep-above", "1")
    assert "give the same --trees and --keep-above" in chosen
    assert Path(where, "train.trees").read_bytes() == before
    # version 0.3.0 kept no more than this
    record = json.loads(Path(where, "self-train.json").read_text())
    Path(where, "self-train.json").write_text(json.dumps({"key": record["key"]}))
    invoke(*command, "--resume")
    assert json.loads(Path(where, "self-train.json").read_text()) == {"key": record["key"]}


def test_gold_trees_count_as_often_as_their_weight_says():
    options = {"light": [1], "heavy": [3], "some": [3, "--gold", 20]}
    sentences = []
    for name, weight in options.items():
        invoke(*COMMAND.split(), "--into", name, "--report-every", 10, "--gold-weight", *weight)
        log = [json.loads(line) for line in Path(name, "parser/log.jsonl").read_text().splitlines()]
        sentences.append(max(record["sentences"] for record in log))
    assert sentences[1] - sentences[0] == 2 * 60
    assert sentences[2] - sentences[0] == 2 * 20
    assert sentences[0] > 60
    # the words that occur once are the same
    vocabularies = [rnng_dy.load(f"{name}/parser").vocabulary for name in ("light", "heavy")]
    assert vocabularies[0].singletons == vocabularies[1].singletons
    assert vocabularies[0].tag_counts == vocabularies[1].tag_counts


def test_what_cannot_be_is_refused():
    for name in ("text.txt", "gold.trees", "dev.trees"):
        streamed = COMMAND.replace(name, "-").split()
        assert "--resume reads INPUT and trees again" in refused(Path(), *streamed, "--into", "x")
    os.mkfifo("pipe")
    piped = COMMAND.replace("gold.trees", "pipe").split()
    assert "pipe: a pipe or a device" in refused(Path(), *piped, "--into", "x")
    missing = refused(Path(), *COMMAND.replace("dev.trees", "no.trees").split(), "--into", "x")
    assert "no.trees: No such file" in missing and not Path("x").exists()
    Path("other").mkdir()
    Path("other/file").touch()
    assert "other was made from" in refused(Path(), *COMMAND.split(), "--into", "other", "--resume")
    for damaged in (b"{", b"\xff"):
        Path("other/self-train.json").write_bytes(damaged)
        again = refused(Path(), *COMMAND.split(), "--into", "other", "--resume")
        assert "other was made from" in again
    chosen = refused(Path(), *COMMAND.split(), "--into", "x", "--generator", "./parser")
    assert "parser: a discriminative model" in chosen and not Path("x").exists()
    alone = refused(Path(), *COMMAND.split(), "--into", "x", "--weight", "0.5")
    assert "--weight goes with --generator" in alone and not Path("x").exists()


def test_the_new_parser_has_the_word_vectors_of_the_parser(folder):
    Path("given.txt").write_text("2 3\nthe 0.1 -2 1e-9\nroad 1 0 0.33333333\n")
    data = "--trees gold.trees --dev-trees dev.trees --pretrained given.txt"
    invoke("-q", *f"train discriminative {data} --pos --preset fast {SIZES} --model seeing".split())
    again = COMMAND.replace("--model parser", "--model seeing").split()
    invoke("-q", *again, "--into", "with-vectors")
    invoke("-q", *again, "--into", "with-vectors", "--resume")
    seeing, new = (rnng_dy.load(place) for place in ("seeing", "with-vectors/parser"))
    assert new.vocabulary.pretrained.symbols == seeing.vocabulary.pretrained.symbols
    assert new.vectors.tolist() == seeing.vectors.tolist()
