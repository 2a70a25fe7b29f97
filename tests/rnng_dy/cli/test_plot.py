"""`rnng-dy plot`: trainings as a page."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from rnng_dy import registry
from rnng_dy.drawing.training_page import training_page
from rnng_dy.interop.tensorboard import EventFiles
from rnng_dy.runs import read_runs
from tests.commands import COMMAND, invoke, started
from tests.conftest import DATA, browse

MODELS = DATA / "models-0.1.0"
run = partial(invoke, "plot")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a parser, a generative model and a language model, the current one."""
    monkeypatch.chdir(tmp_path)
    for kind in ("parser", "generator", "lm"):
        shutil.copytree(MODELS / kind, kind)
    return tmp_path


def log(folder, *records):
    Path(folder, "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))


def record(sentences, event="progress", **more):
    place = {"event": event, "epoch": sentences / 40, "sentences": sentences, "seconds": sentences}
    return place | more


def page_of(*arguments):
    run(*arguments)
    return Path("training.html").read_text(encoding="utf-8")


class Cells(HTMLParser):
    """The rows of all tables of a page."""

    def __init__(self, page):
        super().__init__()
        self.rows, self._inside = [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in ("td", "th") or self._inside
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def table(page, name):
    """The cells of a run by the titles of their columns."""
    rows = Cells(page).rows
    at = next(i for i, row in enumerate(rows) if row[0] == name)
    head = next(row for row in reversed(rows[:at]) if row[0] == "run")
    return dict(zip(head, rows[at], strict=True))


def test_a_page_of_several_kinds(here):
    page = page_of("parser", "generator", "lm")
    assert re.findall("<h2>(.*?)</h2>", page) == [
        "Parsers",
        "Generative models",
        "LSTM language models",
    ]
    assert "parser, best: 1 epochs, F1 36.13" in page
    assert "generator, best: 1 epochs, perplexity of words and trees 3,309.5" in page
    assert "parser: 0.5 epochs, nats per word 3.61" in page
    assert "parser: 0.5 epochs, learning rate 0.05" in page
    assert "parser: 1 epochs, share 1" in page
    assert "parser: 0.026 seconds, nats per word 1.99" in page
    row = table(page, "parser")
    assert (row["state"], row["epochs done"], row["best F1"]) == ("finished", "1.00", "36.13")
    assert table(page, "lm")["best perplexity"] == "151.63"
    assert re.findall('(?:src|href|url)=?["(]', page) == []


def test_every_kind_of_model_has_a_place_on_the_page():
    run = read_runs([MODELS / "lm"])[0]
    for kind in registry.KINDS.values():
        assert f"<h2>{kind.plural}</h2>" in "".join(training_page([replace(run, kind=kind)], 0.0))


def test_the_result_is_the_page_alone(here):
    written = run("parser")
    assert (written.stdout, written.stderr) == ("", "training.html: 1 run\n")
    quiet = run("parser", "-o", "-", "-q")
    assert quiet.stdout.startswith("<!DOCTYPE html>") and quiet.stderr == ""


def test_settings_that_differ_stand_in_the_table(here):
    shutil.copytree("parser", "other/parser")
    config = json.loads(Path("other/parser/config.json").read_text())
    config["composition"] = "buggy"
    Path("other/parser/config.json").write_text(json.dumps(config))
    page = page_of("parser", "other/parser")
    assert table(page, f"{here.name}/parser")["composition"] == "corrected"
    assert table(page, "other/parser")["composition"] == "buggy"
    assert "hidden" not in table(page, "other/parser")
    assert re.search("In all runs: .*hidden 6", page)


def test_a_training_that_goes_on(here, monkeypatch):
    log("generator", *[record(10 * i, loss_per_word=2.0, seconds_left=400) for i in range(5)])
    with Path("generator/log.jsonl").open("a") as stream:
        stream.write('{"event": "prog')
    state = {"settings": {"epochs": 2}, "progress": {"epoch": 1, "sentences": 40, "evaluated": 0}}
    np.savez("generator/training.npz", state=np.array(json.dumps(state)))
    result = run("generator")
    assert result.stderr == "training.html: 1 run\n"
    page = Path("training.html").read_text()
    assert table(page, "generator")["state"] == "running, about 7 min left"
    later = time.time() + 3600
    monkeypatch.setattr("rnng_dy.cli.plot.time.time", lambda: later)
    assert table(page_of("generator"), "generator")["state"] == "silent for 60 min"


def test_damaged_lines_are_named_and_left_out(here):
    log("parser", record(20, loss_per_word=1.5))
    with Path("parser/log.jsonl").open("a") as stream:
        stream.write("no record\n" + json.dumps(record(40, loss_per_word=1.25)) + "\n")
    result = run("parser", "generator")
    assert re.match(r".*parser/log.jsonl:2: no record of a training, left out: ", result.stderr)
    page = Path("training.html").read_text()
    assert "parser: 0.5 epochs, nats per word 1.5" in page
    assert "parser: 1 epochs, nats per word 1.25" in page
    assert "log.jsonl:2: no record" in page


def test_a_loss_that_is_no_number_is_told(here):
    losses = (2.0, math.nan, math.nan)
    log("parser", *[record(20 * i, loss_per_word=loss) for i, loss in enumerate(losses)])
    page = page_of("parser")
    assert "parser: the loss is no number from epoch 0.5 on" in page
    assert "nan" not in page.lower().replace("nan</td>", "")


def test_an_imported_model_has_a_row_and_no_curve(here):
    for name in ("log.jsonl", "training.npz"):
        Path("generator", name).unlink(missing_ok=True)
    page = page_of("parser", "generator")
    assert table(page, "generator")["state"] == "no log"
    refused = run("generator", code=2)
    assert refused.stderr == "Error: generator: no log.jsonl of a training, so nothing to draw\n"


def test_an_empty_log_is_a_run_that_begins(here):
    log("parser")
    assert "polyline" not in page_of("parser")


def test_the_page_of_1000_epochs_stays_small(here):
    log("parser", *[record(20 * i, loss_per_word=2.0 + math.sin(i), learning_rate=0.1, clipped=0.5)
                    for i in range(5000)])  # fmt: skip
    page = page_of("parser")
    assert len(page) < 150_000
    assert "the first, last, lowest and highest points of 40 equal parts" in page


def test_names_that_are_html_are_text(here):
    Path("parser").rename("<script>x")
    page = page_of("<script>x")
    assert "<script>x" not in page and "&lt;script&gt;x" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no folder nowhere:"),
        (["parser", "-o", "nowhere/page.html"], "there is no folder"),
        (["parser", "-o", "."], "is a folder"),
        (["parser", "-o", "parser/log.jsonl"], "is the input as well"),
        (["parser", "--watch", "-o", "-"], "name a file"),
        (["--watch", "parser"], "'parser' is no number of seconds: put models before --watch"),
        (["parser", "--watch", "0"], "range"),
        (["parser", "--watch", "nan"], "no finite number"),
        ([], "Missing argument 'MODEL...'"),
    ],
)
def test_refused(here, arguments, said):
    assert said in run(*arguments, code=2).stderr
    assert not Path("training.html").exists()


def test_watching_ends_with_the_training(here, monkeypatch):
    pages = []

    def sleep(seconds):
        pages.append((seconds, Path("training.html").read_text()))
        shutil.copy(MODELS / "parser" / "training.npz", "parser")

    state = {"settings": {"epochs": 2}, "progress": {"epoch": 1, "sentences": 40, "evaluated": 0}}
    np.savez("parser/training.npz", state=np.array(json.dumps(state)))
    monkeypatch.setattr("rnng_dy.cli.plot.time.sleep", sleep)
    last = page_of("parser", "--watch", "3")
    [(seconds, first)] = pages
    assert seconds == 3 and 'data-refresh="3"' in first and 'data-refresh="0"' in last
    assert table(first, "parser")["state"].startswith("running")
    assert table(last, "parser")["state"] == "finished"


def test_ctrl_c_ends_the_watch_and_keeps_the_page(here):
    state = {"settings": {"epochs": 2}, "progress": {"epoch": 1, "sentences": 40, "evaluated": 0}}
    np.savez("parser/training.npz", state=np.array(json.dumps(state)))
    command = [*COMMAND, "plot", "parser", "--watch"]
    with started(*command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == "training.html: 1 run\n"
        assert 'data-refresh="10"' in Path("training.html").read_text()
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "stopped")
    assert 'data-refresh="0"' in Path("training.html").read_text()


def test_axes_and_runs_can_be_switched_in_a_browser(here, chromium):
    page = page_of("parser", "generator")
    script = """<script>
    const seen = () => [...document.querySelectorAll("figure")].filter((f) => f.offsetParent).length;
    const before = seen();
    document.querySelector("#by-seconds").click();
    const hidden = document.querySelectorAll("g.hidden").length;
    document.querySelector("input[data-series]").click();
    document.title = [before, seen(), hidden, document.querySelectorAll("g.hidden").length].join(" ");
    </script></body>"""
    Path("switched.html").write_text(page.replace("</body>", script))
    dom = browse(chromium, here / "profile", "--dump-dom", f"file://{here}/switched.html")
    before, after, hidden, more = map(int, re.search("<title>([\\d ]+)</title>", dom)[1].split())
    assert before == after > 0 and hidden == 0 < more


def test_tensorboard_reads_the_curves_back(here):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log("lm", record(20, loss_per_word=1.5), record(40, "evaluation", perplexity=90.0, score=-4))
    for _ in range(2):
        run("parser", "lm", "--tensorboard", "events")
        assert sorted(path.name for path in Path("events").iterdir()) == ["lm", "parser"]
        events = EventAccumulator("events/lm").Reload()
        [loss] = events.Scalars("train/loss_per_word")
        [perplexity] = events.Scalars("dev/perplexity")
        assert (loss.step, loss.value, perplexity.step, perplexity.value) == (20, 1.5, 40, 90.0)
        assert perplexity.wall_time - loss.wall_time == pytest.approx(20)


def test_tensorboard_gets_new_records_and_a_log_that_was_cut(here):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    files = EventFiles(Path("events"))
    records = [record(20 * i, loss_per_word=float(i)) for i in range(4)]
    for kept, others in ((2, []), (4, []), (1, [record(30, loss_per_word=9.0)])):
        log("parser", *records[:kept], *others)
        files.write(read_runs([Path("parser")]))
        losses = EventAccumulator("events/parser").Reload().Scalars("train/loss_per_word")
        expected = [*range(kept), *[9.0 for _ in others]]
        assert [event.value for event in losses] == expected
    assert len(list(Path("events/parser").iterdir())) == 1


def test_without_tensorboard_the_message_says_what_to_install(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    refused = run("parser", "--tensorboard", "events", code=2)
    assert "pip install tensorboard" in refused.stderr
    assert not Path("events").exists() and not Path("training.html").exists()
