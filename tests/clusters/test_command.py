"""`rnng-dy clusters`: what it writes and says, and how it goes on after an interruption."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from clusters.bigrams import BigramCounter
from clusters.brown import SWEEPS, BrownClustering
from clusters.exchanges import Exchanges
from clusters.files import read_clusters
from rnng_dy.cli import clusters as command
from rnng_dy.cli import main
from tests import commands


def run(*arguments, stdin: str | bytes | None = None):
    return CliRunner().invoke(main, ["clusters", *map(str, arguments)], input=stdin)


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


def interrupt_at(monkeypatch, owner, method: str, calls: int, number: int = signal.SIGINT) -> None:
    """The signal comes while the method runs for that time."""
    original, count = getattr(owner, method), 0

    def counting(*arguments):
        nonlocal count
        count += 1
        if count == calls:
            signal.raise_signal(number)
        return original(*arguments)

    monkeypatch.setattr(owner, method, counting)


def test_output_report_and_what_is_said(corpus, tmp_path):
    output = tmp_path / "out.paths"
    result = run(corpus, "-c", 12, "-o", output)
    assert result.exit_code == 0
    assert result.stdout == ""
    entries = read_clusters(output)
    assert len({entry.path for entry in entries}) == 12
    assert sum(entry.count for entry in entries) == 1600
    report = json.loads((tmp_path / "out.paths.json").read_text())
    information = report.pop("average_mutual_information")
    assert information > 0
    assert f"{information:.5f} nats" in result.stderr
    assert report.pop("unseen") == [entry.word for entry in entries if entry.count == 0]
    assert report == {
        "corpus": str(corpus),
        "sentences": 200,
        "tokens": 1600,
        "types": 60,
        "classes": 12,
        "min_count": 1,
        "within_sentences": False,
        "refine": False,
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "corpus.txt",
        "out.paths",
        "out.paths.json",
    ]


def test_the_default_is_the_square_root_of_the_vocabulary(corpus):
    result = run(corpus)
    paths = {line.split("\t")[0] for line in result.stdout.splitlines()}
    assert len(paths) == 8
    assert "8 clusters of 60 word types" in result.stderr


def test_standard_input_gives_the_same_as_a_file(corpus):
    assert run("-", "-c", 5, stdin=corpus.read_bytes()).stdout == run(corpus, "-c", 5).stdout


def test_classes_that_do_not_occur_are_placed_and_it_is_said_how(corpus):
    result = run(corpus)
    path_of = {line.split("\t")[1]: line.split("\t")[0] for line in result.stdout.splitlines()}
    assert path_of["UNK-LC-NUM-DASH-s"] == path_of["UNK-LC"]
    assert "79 classes of unknown words do not occur; each is in the cluster of" in result.stderr
    without = run(corpus, "--unk", "none")
    assert len(without.stdout.splitlines()) == 60
    assert "unknown" not in without.stderr


def test_options_reach_the_algorithm(corpus):
    plain = run(corpus, "-c", 6).stdout
    assert run(corpus, "-c", 6, "--within-sentences").stdout != plain
    assert run(corpus, "-c", 6, "--min-count", 20).stdout != plain
    assert run(corpus, "-c", 6, "--refine").stdout != plain
    single = run(corpus, "-c", 6, "--unk", "single")
    assert len(single.stdout.splitlines()) == 61


@pytest.mark.parametrize(
    ("owner", "method", "calls"),
    [(BigramCounter, "add", 150), (BrownClustering, "step", 1), (BrownClustering, "step", 65)],
)
def test_ctrl_c_leaves_what_resume_goes_on_from(
    corpus, tmp_path, monkeypatch, owner, method, calls
):
    whole, output = tmp_path / "whole", tmp_path / "out"
    assert run(corpus, "-c", 12, "-o", whole).exit_code == 0
    with monkeypatch.context() as patch:
        interrupt_at(patch, owner, method, calls)
        result = run(corpus, "-c", 12, "-o", output)
    assert result.exit_code == 130
    assert "stopped; the same command with --resume continues" in result.stderr
    assert not output.exists()

    done = []
    original = getattr(owner, method)
    monkeypatch.setattr(owner, method, lambda *a: done.append(1) or original(*a))
    assert run(corpus, "-c", 12, "-o", output, "--resume").exit_code == 0
    assert output.read_bytes() == whole.read_bytes()
    total = 200 if owner is BigramCounter else 60 + 11
    assert len(done) == total - calls
    assert not (tmp_path / "out.resume").exists()


@pytest.mark.parametrize("sweeps_before", [0, 1, 4])
def test_ctrl_c_in_an_exchange_leaves_what_resume_goes_on_from(
    corpus, tmp_path, monkeypatch, sweeps_before
):
    whole, output = tmp_path / "whole", tmp_path / "out"
    options = ("-c", 12, "--refine", "-o")
    assert run(corpus, *options, whole).exit_code == 0
    with monkeypatch.context() as patch:
        interrupt_at(patch, Exchanges, "sweep", sweeps_before + 1)
        assert run(corpus, *options, output).exit_code == 130
    sweeps = []
    original = Exchanges.sweep
    monkeypatch.setattr(Exchanges, "sweep", lambda e: sweeps.append(1) or original(e))
    assert run(corpus, *options, output, "--resume").exit_code == 0
    assert len(sweeps) == SWEEPS - sweeps_before - 1
    assert output.read_bytes() == whole.read_bytes()
    assert json.loads((tmp_path / "out.json").read_text())["refine"] is True


def test_a_state_is_kept_while_it_runs_and_survives_a_kill(corpus, tmp_path, monkeypatch):
    whole, output = tmp_path / "whole", tmp_path / "out"
    run(corpus, "-c", 12, "-o", whole)
    monkeypatch.setattr(command, "SAVE_EVERY", 0.0)
    step = BrownClustering.step

    def killed(clustering):
        if clustering.done == 40:
            raise SystemError("killed")
        step(clustering)

    with monkeypatch.context() as patch:
        patch.setattr(BrownClustering, "step", killed)
        assert isinstance(run(corpus, "-c", 12, "-o", output).exception, SystemError)
    # as a kill in the middle of saving leaves it
    (tmp_path / "out.resume" / ".merges.npz.123").write_bytes(b"half")
    done = []
    monkeypatch.setattr(BrownClustering, "step", lambda c: done.append(c.done) or step(c))
    assert run(corpus, "-c", 12, "-o", output, "--resume").exit_code == 0
    assert done[0] == 40
    assert output.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "out.resume").exists()


def test_resume_where_nothing_is_kept_begins(corpus, tmp_path):
    assert run(corpus, "-o", tmp_path / "out", "--resume").exit_code == 0


def test_without_an_output_file_nothing_is_kept(corpus, monkeypatch):
    interrupt_at(monkeypatch, BrownClustering, "step", 30, signal.SIGTERM)
    result = run(corpus)
    assert result.exit_code == 128 + signal.SIGTERM
    assert "stopped; nothing is kept" in result.stderr


def stop_after_30_steps(corpus: Path, output: Path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        interrupt_at(patch, BrownClustering, "step", 30)
        assert run(corpus, "-c", 12, "-o", output).exit_code == 130


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["-c", 13], "belongs to another corpus or other options"),
        (["-c", 12, "--within-sentences"], "belongs to another corpus or other options"),
        (["-c", 12, "--refine"], "belongs to another corpus or other options"),
    ],
)
def test_the_state_of_other_options_is_refused(corpus, tmp_path, monkeypatch, change, message):
    stop_after_30_steps(corpus, tmp_path / "out", monkeypatch)
    result = run(corpus, *change, "-o", tmp_path / "out", "--resume")
    assert (result.exit_code, message in result.stderr) == (2, True)


def test_the_state_of_another_corpus_is_refused(corpus, tmp_path, monkeypatch):
    stop_after_30_steps(corpus, tmp_path / "out", monkeypatch)
    corpus.write_text(corpus.read_text() + "more\n")
    result = run(corpus, "-c", 12, "-o", tmp_path / "out", "--resume")
    assert (result.exit_code, "another corpus" in result.stderr) == (2, True)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:100])


def another_file(path):
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))


@pytest.mark.parametrize("name", ["counts.npz", "merges.npz"])
@pytest.mark.parametrize("damage", [cut_short, another_file])
def test_a_broken_state_is_an_error_that_says_what_to_do(
    corpus, tmp_path, monkeypatch, name, damage
):
    stop_after_30_steps(corpus, tmp_path / "out", monkeypatch)
    damage(tmp_path / "out.resume" / name)
    result = run(corpus, "-c", 12, "-o", tmp_path / "out", "--resume")
    assert result.exit_code == 2
    assert f"{name} is broken: remove" in result.stderr


def test_without_resume_an_old_state_is_forgotten(corpus, tmp_path, monkeypatch):
    stop_after_30_steps(corpus, tmp_path / "out", monkeypatch)
    assert run(corpus, "-c", 13, "-o", tmp_path / "out").exit_code == 0
    assert not (tmp_path / "out.resume").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "missing: No such file"),
        (["empty"], "the corpus is empty"),
        (["corpus.txt", "-c", "0"], "0 is not in the range"),
        (["corpus.txt", "--min-count", "9999"], "corpus.txt: no word occurs 9999 times"),
        (["corpus.txt", "--format", "oracle"], "corpus.txt:1: "),
        (["corpus.txt", "--format", "trees"], "corpus.txt:1: "),
        (["corpus.txt", "--unk", "stanford"], "'stanford' is not one of"),
        (["corpus.txt", "--resume"], "--resume needs a CORPUS file and an output file"),
        (["-", "-o", "out", "--resume"], "--resume needs a CORPUS file and an output file"),
        (["corpus.txt", "-o", "no/folder/out"], "no/folder/out: there is no folder"),
        ([], "Missing argument 'CORPUS'"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(corpus, monkeypatch, arguments, message):
    monkeypatch.chdir(corpus.parent)
    Path("empty").touch()
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert sorted(path.name for path in corpus.parent.iterdir()) == ["corpus.txt", "empty"]


def test_a_report_does_not_replace_the_corpus(tmp_path):
    corpus = tmp_path / "in.json"
    corpus.write_text("the dog the cat\n", encoding="utf-8")
    result = run(corpus, "-o", tmp_path / "in")
    assert result.exit_code == 2 and "in.json is the input as well" in result.stderr
    assert corpus.read_text(encoding="utf-8") == "the dog the cat\n"


@pytest.mark.parametrize("content", ["the dog\n".encode("utf-16"), b"PK\3\4\0\0 a b\n"])
def test_what_is_no_text_is_refused(tmp_path, content):
    (tmp_path / "in").write_bytes(content)
    result = run(tmp_path / "in")
    assert result.exit_code == 2 and "in: no text" in result.stderr


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
