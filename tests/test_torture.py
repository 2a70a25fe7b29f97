"""The campaign of `make torture`: a short part of it with a seed, and that it notices what it is to notice."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.checkout import CHECKOUT
from scripts.torture.commands import PARSE
from scripts.torture.inputs import DamagedInput, damaged_inputs, minimized, set_up, try_input
from scripts.torture.jobs import Job, straight_run
from scripts.torture.judge import judge
from scripts.torture.limits import Limits, Outcome
from scripts.torture.mutations import TEXT
from scripts.torture.packed import PACKED, bomb, pack, several_streams, truth
from scripts.torture.places import CONTENT, LINK_TO_OTHERS
from scripts.torture.processes import Ended
from scripts.torture.structures import change_json, change_member, change_number
from scripts.torture.targets import FORMATS, TARGETS
from scripts.torture.together import SERVERS, problem_of_dead, run_two, served

from .commands import run

SEED, INPUTS = 1, 150
WRITES_SLOWLY = """
import time
with open("out", "w") as stream:
    stream.write("ha")
    stream.flush()
    time.sleep(2)
    stream.write("lf")
"""
NO_PROBLEM = Outcome(0)
LIMITS = Limits(seconds=30)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    from scripts.torture.data import write_data

    folder = tmp_path_factory.mktemp("data")
    write_data(folder, LIMITS)
    return folder


def test_damaged_inputs_of_every_format(data, tmp_path):
    targets = [target for target in TARGETS if "results" not in target.command]
    problems = []
    for damaged, _ in zip(damaged_inputs(targets, data, SEED), range(INPUTS), strict=False):
        _, problem = try_input(damaged, data, tmp_path / str(damaged.number), LIMITS)
        if problem:
            problems.append(f"{damaged.number}, {damaged.target.command}: {problem}")
    assert problems == []


def test_sound_inputs_are_no_failures(data, tmp_path):
    # one target of each command
    sound = [target for target in TARGETS if target.format not in ("packed", "places")]
    targets = {target.command: target for target in sound if "results" not in target.command}
    for n, target in enumerate(targets.values()):
        content = (data / target.file).read_bytes() if target.file else b""
        outcome, problem = try_input(
            DamagedInput(target, content, ()), data, tmp_path / str(n), LIMITS
        )
        assert (outcome.code, problem) == (0, None), (target, outcome)


def test_a_campaign_from_the_command_line(tmp_path):
    arguments = ["--inputs", "4", "--kills", "1", "--only", "trees,samples,terminate"]
    torture = (sys.executable, "-m", "scripts.torture")
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    run(tmp_path, *arguments, "--output", "out", command=torture, env=environment)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["tried"]["trees"] + report["tried"]["samples"] == 4
    assert report["failures"] == []
    assert "| together |" in (tmp_path / "out/report.md").read_text()


def test_every_file_of_a_model_and_every_command_that_reads_files_is_a_target():
    verbs = {target.command.split()[0] for target in TARGETS}
    reading = "prepare oracle tag clusters train parse sample score rerank perplexity surprisal suite evalb"
    others = "attention compare generate import-clab reproduce about export show plot"
    assert verbs == {*reading.split(), *others.split()}
    assert len(FORMATS) >= 15


SUCCESS = {
    "a line missing": ("parse --model parser plain.txt -o out", {"out": "(S (NN a))\n"}, "lines"),
    "no output": ("parse --model parser plain.txt -o out", {}, "lines"),
    "nan among likelihoods": ("score --model generator test.props -o out", {"out": "3\tnan\n"}, ""),
    "nan of log q": ("sample --model parser --samples 1 plain.txt -o out", {"out": "0 ||| nan ||| (S a)\n"}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("command", "written", "sort"), SUCCESS.values(), ids=SUCCESS)
def test_a_success_that_is_none_is_noticed(tmp_path, command, written, sort):
    (tmp_path / "plain.txt").write_text("a b\n" * (2 if sort else 1))
    (tmp_path / "test.props").write_text("0 ||| -1 ||| (S a b c)\n")
    before = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
    for name, content in written.items():
        (tmp_path / name).write_text(content)
    problem = judge(command.split(), tmp_path, before, NO_PROBLEM, Limits())
    assert problem.startswith("lines missing" if sort else "a number that is not finite")


def test_what_is_announced_is_no_failure(tmp_path):
    (tmp_path / "test.props").write_text("0 ||| -1 ||| (S a b c)\n")
    (tmp_path / "out").write_text("3\tinf\n")
    said = Outcome(0, stderr="sentence 0: p = 0, unseen in training: QP\n")
    command = ["score", "--model", "generator", "test.props", "-o", "out"]
    assert judge(command, tmp_path, set(), said, Limits()) is None
    assert judge(command, tmp_path, set(), NO_PROBLEM, Limits()) is not None


def test_samples_of_a_sentence_have_each_their_line(tmp_path):
    """Those of `parse` too, which has one line for a sentence without the option."""
    (tmp_path / "in").write_text("a b\nc\n")
    (tmp_path / "out").write_text("(S a b)\n(S a b)\n(S c)\n(S c)\n")
    command = "parse --model m in -o out"
    assert judge(command.split(), tmp_path, set(), NO_PROBLEM, Limits()).startswith(
        "lines missing: "
    )
    command += " --samples 2"
    assert judge(command.split(), tmp_path, set(), NO_PROBLEM, Limits()) is None


@pytest.mark.parametrize(
    ("outcome", "sort"),
    [
        (Outcome(None, where="ValueError in brackets.py parse", traceback="..."), "traceback"),
        (Outcome(None, where="MemoryError in checkpoint.py read"), "memory"),
        (Outcome(None, where="overtime in updates.py update"), "time"),
        (Outcome(None, where="died: SIGSEGV"), "death"),
        (Outcome(0, megabytes=2500), "memory"),
        (Outcome(3), "exit code 3"),
        (Outcome(2), "exit code 2 without a message"),
        (Outcome(2, stderr="Error: no\n"), "left behind after exit code 2"),
    ],
)
def test_every_sort_of_failure_is_noticed(tmp_path, outcome, sort):
    (tmp_path / "out").write_text("")
    assert judge(["evalb"], tmp_path, set(), outcome, Limits()).startswith(f"{sort}: ")


def test_a_pickle_that_runs_is_noticed(tmp_path):
    (tmp_path / "pwned").mkdir()
    assert (
        judge(["parse"], tmp_path, set(), Outcome(2), Limits()) == "code of a model was run: parse"
    )


def test_a_command_that_takes_too_long_or_dies_is_noticed(tmp_path, monkeypatch):
    limits = Limits(seconds=0.5)
    # a command that does not end
    os.mkfifo(tmp_path / "pipe")
    assert limits.run(["evalb", "pipe", "other"], tmp_path).where.startswith("overtime")
    assert limits.run(["--version"], tmp_path).code == 0
    monkeypatch.setattr("scripts.torture.limits._run", dies)
    assert limits.run(["--version"], tmp_path).where == "died: SIGSEGV"


def dies(*_):
    os.kill(os.getpid(), signal.SIGSEGV)


# archives, arrays, what is no file


@given(st.integers(0, 2**32), st.sampled_from([".gz", ".xz"]), st.sampled_from(PACKED))
@settings(deadline=None, max_examples=60)
def test_the_campaign_knows_what_an_archive_holds(seed, ending, mutation):
    text = b"a\nb\nc\n"
    archive = pack(text, ending)
    assert truth(archive, ending) == text
    if mutation is not bomb:
        held = truth(mutation(Random(seed), archive), ending)
        if mutation is several_streams:
            assert held == text
        # where a whole stream is cut out, the rest is sound
        assert held is None or set(held.splitlines()) <= set(text.splitlines())


def test_a_bomb_is_damaged_no_more(monkeypatch, tmp_path):
    """Or the campaign itself would unpack it, which took all memory of its machine."""
    monkeypatch.setattr("scripts.torture.packed.BOMB", 1_000_000)
    (tmp_path / "test.trees.xz").write_bytes(pack(b"a\nb\n", ".xz"))
    some = damaged_inputs([packed_target()._replace(puts=[CONTENT])], tmp_path, 1)
    names = [next(some).mutations for _ in range(200)]
    assert all("bomb" not in found[:-1] for found in names)
    assert any("bomb" in found and len(found) > 1 for found in names)


def packed_target():
    command = "prepare --from trees test.trees.xz -o out"
    return next(t for t in TARGETS if t.format == "packed" and t.command == command)


@pytest.mark.parametrize(
    ("archive", "code", "sort"),
    [
        (b"sound", 2, "a sound archive was refused"),
        (b"cut", 0, "an archive that is damaged was accepted"),
        (b"sound", 0, None),
        (b"cut", 2, None),
    ],
)
def test_an_archive_that_is_lost_or_refused_is_noticed(tmp_path, archive, code, sort):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/test.trees").write_bytes(b"(S (NN a))\n")
    content = pack(b"(S (NN a))\n", ".xz")
    (tmp_path / "data/test.trees.xz").write_bytes(content)
    damaged = DamagedInput(packed_target(), content if archive == b"sound" else content[:-1], ())

    class Stub(Limits):
        def run(self, arguments, folder):
            (folder / "out").write_bytes(b"(S (NN a))\n" if code == 0 else b"")
            if code == 2:
                (folder / "out").unlink()
            return Outcome(code, stderr="Error: no\n" if code else "")

    _, problem = try_input(damaged, tmp_path / "data", tmp_path / "work", Stub())
    assert (problem and problem.split(":")[0]) == sort


def test_a_link_to_others_that_is_followed_is_noticed(tmp_path):
    (tmp_path / "data").mkdir()
    target = next(t for t in TARGETS if t.file == "out.part")

    class Follows(Limits):
        def run(self, arguments, folder):
            (folder / "out.part").write_text("mine")
            return Outcome(0)

    damaged = DamagedInput(target, b"", (), put=LINK_TO_OTHERS)
    _, problem = try_input(damaged, tmp_path / "data", tmp_path / "work", Follows())
    assert problem.startswith("a file of others was changed")


def test_two_commands_that_both_write_are_noticed(tmp_path):
    """Without a lock the second one ends with 0 beside the first, which is stopped."""
    job = Job("write", "", "out", program=WRITES_SLOWLY)
    (tmp_path / "data").mkdir()
    straight = straight_run(job, tmp_path / "data", tmp_path / "straight")
    straight.seconds = 1.0
    for n in range(20):
        trial = run_two(straight, Random(n), tmp_path / "data", tmp_path / f"{n}")
        if trial.cause:
            break
    assert "while the first one wrote" in trial.cause


@pytest.mark.parametrize(
    ("ended", "problem"),
    [
        (Ended(2, "Error: no scheduler at tcp://x\n"), None),
        (Ended(0, ""), "exit code 0: "),
        (Ended(2, "Error: a\nError: b\n"), "exit code 2: Error: a\nError: b"),
        (Ended(1, "Traceback\nOSError: no\n"), "traceback: OSError: no"),
        (Ended(-9, ""), "not ended after 30 s"),
    ],
)
def test_what_a_command_without_its_scheduler_does_is_noticed(tmp_path, ended, problem):
    assert problem_of_dead(ended, tmp_path) == problem


def test_each_kind_of_dead_server_has_an_address_and_is_gone_afterwards():
    for place in SERVERS:
        with served(place) as address:
            port = int(address.rsplit(":", 1)[1])
            socket.create_connection(("127.0.0.1", port), 5).close()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), 5)


def test_the_same_seed_gives_the_same_inputs(data):
    first, second = (
        [d for d, _ in zip(damaged_inputs(TARGETS[:40], data, 3), range(20), strict=False)]
        for _ in range(2)
    )
    assert first == second
    (rest,) = (
        d for d, _ in zip(damaged_inputs(TARGETS[:40], data, 3, skip=19), range(1), strict=False)
    )
    assert rest in first


def test_a_folder_holds_what_the_command_names(data, tmp_path):
    target = next(t for t in TARGETS if (t.file, t.command) == ("parser/config.json", PARSE))
    arguments = set_up(DamagedInput(target, b"{}", ()), data, tmp_path / "a")
    assert arguments == target.command.split()
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"parser", "test.oracle"}
    assert (tmp_path / "a/parser/config.json").read_bytes() == b"{}"


@given(st.binary(max_size=300), st.integers(0, 2**32), st.sampled_from(TEXT))
def test_every_mutation_takes_any_content(content, seed, mutation):
    assert isinstance(mutation(Random(seed), content), bytes)
    assert mutation(Random(seed), content) == mutation(Random(seed), content)


@given(st.binary(min_size=1, max_size=200), st.data())
@settings(deadline=None)
def test_what_is_minimized_still_fails_and_nothing_can_be_left_out(content, data):
    wanted = data.draw(st.sampled_from(sorted(set(content))))
    assert minimized(content, lambda c: wanted in c) == bytes([wanted])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.integers(0, 2**32))
def test_changed_json_is_json(tree, seed):
    json.loads(change_json(Random(seed), json.dumps(tree).encode()))


@given(st.integers(0, 2**32), st.sampled_from([change_member, change_number]))
@settings(deadline=None)
def test_changed_archives_are_archives(seed, change):
    stream = io.BytesIO()
    np.savez(stream, a=np.ones((2, 3), np.float32), state=np.array('{"a": 1}'))
    with np.load(io.BytesIO(change(Random(seed), stream.getvalue()))) as archive:
        assert len(archive.files) >= 1
