"""`rnng-dy clusters`: what it writes and says."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from clusters.corpus import cluster_corpus
from clusters.files import read_clusters
from tests import commands

run = partial(commands.invoke, "clusters")


@pytest.fixture
def corpus(tmp_path) -> Path:
    """60 types, some of them classes of unknown words, in 200 sentences."""
    random = np.random.default_rng(2)
    names = ["the", "UNK-LC", "UNK-LC-s", *(f"w{i}" for i in range(57))]
    ids = np.minimum(random.zipf(1.4, (200, 8)), 60) - 1
    ids[-8:] = np.arange(64).reshape(8, 8) % 60
    path = tmp_path / "corpus.txt"
    path.write_text(
        "".join(" ".join(names[i] for i in row) + "\n" for row in ids), encoding="utf-8"
    )
    return path


def test_output_and_what_is_said(corpus, tmp_path):
    output = tmp_path / "out.paths"
    result = run(corpus, "-c", 12, "-o", output)
    about = cluster_corpus(corpus, classes=12)[1]
    assert result.stdout == "" and about in result.stderr and float(about.split()[-4]) > 0
    entries = read_clusters(output)
    assert len({entry.path for entry in entries}) == 12
    assert sum(entry.count for entry in entries) == 1600
    assert "12 clusters of 60 word types, 1600 tokens in 200 sentences" in result.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"corpus.txt", "out.paths"}


def test_the_default_is_the_square_root_of_the_vocabulary(corpus):
    result = run(corpus)
    assert len({line.split("\t")[0] for line in result.stdout.splitlines()}) == 8
    assert "8 clusters of 60 word types" in result.stderr


def test_standard_input_gives_the_same_as_a_file(corpus):
    assert run("-", "-c", 5, input=corpus.read_bytes()).stdout == run(corpus, "-c", 5).stdout


def test_classes_that_do_not_occur_are_placed(corpus):
    result = run(corpus)
    path_of = {line.split("\t")[1]: line.split("\t")[0] for line in result.stdout.splitlines()}
    assert path_of["UNK-LC-NUM-DASH-s"] == path_of["UNK-LC"]
    assert len(run(corpus, "--unk", "none").stdout.splitlines()) == 60


def test_options_reach_the_algorithm(corpus):
    plain = run(corpus, "-c", 6).stdout
    assert run(corpus, "-c", 6, "--within-sentences").stdout != plain
    assert run(corpus, "-c", 6, "--min-count", 20).stdout != plain
    assert run(corpus, "-c", 6, "--refine").stdout != plain
    assert len(run(corpus, "-c", 6, "--unk", "single").stdout.splitlines()) == 61


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corpus.txt", "-c", "0"], "0 is not in the range"),
        (["corpus.txt", "--min-count", "9999"], "corpus.txt: no word occurs 9999 times"),
        (["corpus.txt", "-o", "no/folder/out"], "no/folder/out: there is no folder"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(corpus, monkeypatch, arguments, message):
    monkeypatch.chdir(corpus.parent)
    assert message in run(*arguments, code=2).stderr
    assert [path.name for path in corpus.parent.iterdir()] == ["corpus.txt"]


@pytest.mark.parametrize("content", ["the dog\n".encode("utf-16"), b"PK\3\4\0\0 a b\n"])
def test_what_is_no_text_is_refused(tmp_path, content):
    (tmp_path / "in").write_bytes(content)
    assert "in: no text" in run(tmp_path / "in", code=2).stderr


def test_clusters_may_go_to_a_pipe(corpus, tmp_path):
    done = commands.run(tmp_path, "clusters", corpus, "-c", 4, "-o", "/dev/fd/1")
    assert done.stdout == run(corpus, "-c", 4).stdout
    assert [path.name for path in tmp_path.iterdir()] == [corpus.name]


def test_clusters_need_no_dynet(corpus):
    program = (
        "import sys; sys.modules['dynet'] = sys.modules['_dynet'] = None\n"
        f"from rnng_dy.cli import main; main(['clusters', {str(corpus)!r}, '-c', '4'])"
    )
    done = commands.run(None, program, command=commands.PYTHON)
    assert done.stdout == run(corpus, "-c", 4).stdout
