"""What a command continues: a part of the same model, data and options, and no other."""

import json
from pathlib import Path

import numpy as np
import pytest

from rnng_dy import checkpoint
from rnng_dy.cli import job
from rnng_dy.kinds import ModelFolder
from tests.commands import invoke

from ..conftest import make_generator, make_parser, save_oracle


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sentences, generative_sentences, tagger):
    folder = tmp_path_factory.mktemp("keys")
    parser = make_parser(sentences, vectors=(["the", "a"], np.array([[1.0, 2.0], [3.0, 4.0]])))
    parser.tagger = tagger
    parser.about = {"model": {"kind": "discriminative"}}
    parser.save(folder / "parser")
    generator = make_generator(generative_sentences)
    generator.about = {"model": {"kind": "generative"}}
    generator.save(folder / "generator")
    save_oracle(folder / "g.oracle", generative_sentences[:2])
    (folder / "s.txt").write_text("the time\n")
    words = " ".join(generative_sentences[0].unkified)
    (folder / "t.props").write_text(f"0 ||| -1.0 ||| (S {words})\n")
    (folder / "model").mkdir()
    return folder


COMMANDS = {
    "sample": "sample --model parser s.txt",
    "parse": "parse --model parser s.txt",
    "parse by search": "parse --model generator s.txt",
    "score": "score --model generator t.props",
    "surprisal": "surprisal --model generator s.txt",
    "perplexity": "perplexity --model generator g.oracle --search beam",
}


@pytest.fixture
def key_of(folder, monkeypatch):
    """Gives the key of a command's part."""
    found = []

    def results(output, key):
        found.append(key)
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "Results", results)
    monkeypatch.chdir(folder)

    def key_of(command):
        invoke(*command.split(), "-o", "out", code=130)
        return found.pop()

    return key_of


@pytest.mark.parametrize("command", [COMMANDS["sample"], COMMANDS["surprisal"]])
def test_every_file_that_decides_results_makes_another_job(key_of, command):
    """Those that a running training writes do not."""
    first, model = key_of(command), Path(command.split()[2])
    for path in (model / "config.json", model / "vocabulary.json", *sorted(model.glob("*.npz"))):
        before = path.read_bytes()
        if path.suffix == ".npz":
            arrays = checkpoint.read_arrays(path)
            np.savez(path, **{name: values * 2 for name, values in arrays.items() if values.size})
        elif path.stem == "config":
            path.write_text(json.dumps(json.loads(before) | {"composition": "buggy"}))
        else:
            content = json.loads(before)
            content["nonterminals"].reverse()
            path.write_text(json.dumps(content))
        assert key_of(command) != first, path
        path.write_bytes(before)
    for name in ("about.json", "training.npz", "log.jsonl"):
        (model / name).write_text("{}")
    assert key_of(command) == first


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("sample", ["--samples 3", "--alpha 0.5", "--seed 2"]),
        ("parse", ["--nbest 2", "--decode mbr", "--format jsonl"]),
        ("parse by search", ["--beam 7", "--word-beam 3", "--nbest 2"]),
        ("surprisal", ["--beam 7", "--search particles", "--end", "-o t.trees", "-o b.jsonl"]),
        ("perplexity", ["--beam 7", "--word-beam 3"]),
    ],
)
def test_other_options_are_another_job(key_of, command, options):
    keys = {key_of(f"{COMMANDS[command]} {more}") for more in ["", *options]}
    assert len(keys) == len(options) + 1


def test_another_version_of_the_code_continues_nothing(key_of, monkeypatch):
    key = key_of(COMMANDS["sample"])
    assert key_of(COMMANDS["sample"]) == key
    monkeypatch.setattr(job, "version", lambda: "0.4.0-other")
    assert key_of(COMMANDS["sample"]) != key


def test_a_part_of_another_version_is_said_to_be_one(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("o.part", "o.part.key"):
        Path(name).write_text("")
    said = invoke(*COMMANDS["sample"].split(), "-o", "o").stderr
    assert "o.part is of another version, model, input or option: starting again" in said


def test_a_model_that_is_replaced_meanwhile_gives_no_output(folder, monkeypatch):
    def replaced(self):
        model = opened(self)
        model.save(self.folder)
        return model

    opened = ModelFolder.open
    monkeypatch.setattr(ModelFolder, "open", replaced)
    monkeypatch.chdir(folder)
    parse = *COMMANDS["parse"].split(), "-o", "trees"
    said = invoke(*parse, "--jobs", 2, code=2).stderr
    assert "parser/parameters.npz has changed meanwhile" in said and not Path("trees").exists()
    invoke(*parse)
