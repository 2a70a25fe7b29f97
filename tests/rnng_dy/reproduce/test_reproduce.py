"""A whole reproduction at a tiny size: what is run again and what not, the report, a browser's view of it."""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest

from oracle.brackets import parse_line
from oracle.files import open_text, replacing
from oracle.samples import read_likelihoods
from rnng_dy.evaluation.comparison import brackets
from rnng_dy.evaluation.evalb_files import score_files
from rnng_dy.evaluation.perplexity import gap
from rnng_dy.reproduce.plan import OPTIONAL, Experiment, stages
from rnng_dy.reproduce.report import html, markdown, write
from rnng_dy.reproduce.results import collect
from rnng_dy.reproduce.tables import WAYS, short_tables
from rnng_dy.search.importance import read_sampled

from ...conftest import browse
from ..cli.test_locks import busy
from ..conftest import TINY
from .runs import results, run, states, write_parts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a finished reproduction of our own trees."""
    folder = tmp_path_factory.mktemp("reproduce")
    write_parts(folder, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    result = run(folder)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        str(folder / "out" / f"report.{x}") for x in ("json", "md", "html")
    ]
    return folder


def test_a_second_run_does_nothing_and_a_change_only_what_depends_on_it(done):
    again = states(run(done))
    assert set(again.values()) == {"up to date"}
    (done / "out" / "corrected-2.props").unlink()
    os.utime(done / "out" / "train.oracle")
    redone = {name for name, text in states(run(done)).items() if text != "up to date"}
    # the same samples come again, so nothing after them is done
    assert redone == {"sample corrected-2"}
    model = done / "out" / "parser-buggy-2" / "parameters.npz"
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    redone = {name for name, text in states(run(done)).items() if text != "up to date"}
    # trained anew, it is the same, so nothing after it is done
    assert model.read_bytes() == whole
    assert redone == {"train parser-buggy-2"}
    with (done / "out" / "buggy-1.greedy.trees").open("a") as stream:
        stream.write("(S (X spoilt))\n")
    redone = {name for name, text in states(run(done)).items() if text != "up to date"}
    assert redone == {"parse buggy-1"}


def test_numbers_are_those_of_the_files(done):
    found, out = results(done), done / "out"
    for composition in ("buggy", "corrected"):
        for kind, suffix in (
            ("discriminative", "greedy"),
            ("generative", "map"),
            ("alone", "beam"),
        ):
            expected = [
                score_files(
                    str(out / "test.trees"), str(out / f"{composition}-{seed}.{suffix}.trees")
                ).f1
                for seed in (1, 2)
            ]
            assert found["f1"][f"{kind} {composition}"]["values"] == pytest.approx(expected)
        text = (out / f"{composition}-1.marginals.txt").read_text()
        perplexity = float(re.search(r"^PPL=(\S+)", text, re.MULTILINE)[1])
        assert found["perplexity"][composition]["values"][0] == pytest.approx(perplexity)
        last = next(r for r in found["samples"] if r["run"] == f"{composition}-1")["points"][-1]
        assert last["samples"] == 5
        assert last["perplexity"] == pytest.approx(perplexity)
        assert last["f1"] == pytest.approx(found["f1"][f"generative {composition}"]["values"][0])
        for seed in (1, 2):
            name = f"{composition}-{seed}"
            [ways] = [ways for ways in found["several_ways"] if ways["run"] == name]
            sampled = read_sampled(out / f"{name}.props", out / f"{name}.likelihoods")
            rows = read_likelihoods(out / f"{name}.beam.likelihoods")
            marginals = [of_sentence.estimate.log_marginal for of_sentence in sampled]
            beside = gap([-negative for _, negative in rows], marginals, [n for n, _ in rows])
            assert ways["beam"]["a_sentence"] == pytest.approx(beside.a_sentence)
            assert ways["beam"]["above"] == beside.above
            assert ways["samples"]["perplexity"] == pytest.approx(beside.sampled.perplexity)
            assert ways["particles"]["perplexity"] > 1
    assert found["statistics"]["test"]["sequences"] == 12
    assert len(found["trees"]) == 10
    assert all(stage["outputs"] for stage in found["made"]["stages"])
    ends = found["perplexity"]["kneser-ney with ends"]["mean"]
    assert ends < found["perplexity"]["kneser-ney"]["mean"]


def test_dry_run_tells_stages_and_times_and_does_nothing(done, tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    result = run(tmp_path, "--dry-run")
    assert result.exit_code == 0, result.output
    assert re.search(r"about 0:\d\d  train parser-buggy-1: rnng-dy train", result.stdout)
    sizes = "--beam 20 --fast-track 1 --word-beam 2"
    search = rf"about 0:\d\d  perplexity buggy-1 beam: rnng-dy perplexity .*--search beam {sizes} "
    assert re.search(search, result.stdout)
    assert re.search(r"(\d+) of \1 stages to do", result.stdout)
    assert not (tmp_path / "out").exists()
    assert "0 of" in run(done, "--dry-run").stdout.splitlines()[-1]


def test_two_reproductions_do_not_share_a_folder(done):
    with busy(done / "out" / "stages.json"):
        result = run(done)
    assert result.exit_code == 2
    assert "stages.json is being written by another" in result.output


@pytest.fixture(scope="module")
def more(done, tmp_path_factory):
    """More systems of one seed in a copy of the folder, where only their searches and Kneser-Ney are not done."""
    folder = shutil.copytree(done, tmp_path_factory.mktemp("more") / "copy")
    (folder / "out" / "kneser-ney.json").unlink()
    systems = ["--systems", "corrected,corrected/stack,gated-attention", "--compare", "pairs"]
    result = run(folder, *systems, "--seeds", "1", "--stages", "data,train,infer,report")
    assert result.exit_code == 0, result.output
    ran = {name for name, text in states(result).items() if text != "up to date"}
    # the source trees lie elsewhere, and are the same
    assert {name.split()[-1] for name in ran} == {
        *("train", "dev", "test"),
        *("generator-corrected-stack-1", "corrected-stack-1"),
        *(f"{model}gated-attention-1" for model in ("parser-", "generator-", "")),
    }
    return folder


def test_any_systems_are_compared_and_only_what_was_run_is_reported(more):
    found, text = results(more), (more / "out" / "report.md").read_text(encoding="utf-8")
    systems = ["corrected", "corrected/stack", "gated-attention"]
    assert found["systems"] == systems
    for model, state, kind in (
        ("generator-corrected-stack", "stack", "corrected"),
        ("generator-gated-attention", "full", "gated-attention"),
        ("parser-gated-attention", "full", "gated-attention"),
    ):
        path = more / "out" / f"{model}-1" / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        assert (config["composition"], config["state"]) == (kind, state)
    assert [c["names"] for c in found["comparisons"]] == [
        [first, second] for i, first in enumerate(systems) for second in systems[i + 1 :]
    ]
    # one parser, whose trees do not differ
    assert "discriminative" not in found["comparisons"][0]
    assert "discriminative" in found["comparisons"][1]
    assert found["f1"]["discriminative corrected/stack"] == found["f1"]["discriminative corrected"]
    first = text.split("## ")[1].splitlines()
    assert first[0] == "Systems"
    assert [row.split(" | ")[0] for row in first[4:7]] == [f"| {system}" for system in systems]
    f1, perplexity = found["f1"], found["perplexity"]
    expected = f"{f1['generative gated-attention']['mean']:.2f} | {perplexity['gated-attention']['mean']:.1f}"
    assert expected in first[6]
    # of the first run there are a search and the LSTM
    assert [key for key in f1 if key.startswith("alone")] == ["alone corrected"]
    assert [ways["system"] for ways in found["several_ways"]] == ["corrected"]
    assert "lstm" in perplexity and "kneser-ney" not in perplexity
    stages = {stage["name"] for stage in found["made"]["stages"]}
    assert "perplexity corrected-1 beam" in stages
    assert not {"perplexity corrected-stack-1 beam", "perplexity kneser-ney"} & stages


def test_a_report_does_without_searches_and_baselines(done):
    e = Experiment("trees", seeds=(1, 2), tags="gold")
    not_run = [stage.name for stage in stages(e) if stage.group in OPTIONAL]
    found = {**collect(done / "out", e, not_run), "made": results(done)["made"]}
    assert not any(key.startswith("alone") for key in found["f1"])
    titles = [table.title for table in short_tables(found)]
    assert "Perplexity several ways" not in titles
    assert list(found["generated"]) == ["RNNG, buggy", "RNNG, corrected"]
    text = markdown(found) + "".join(html(found))
    assert "Kneser-Ney 5-gram" not in text and "LSTM" not in text


def test_ablations_stand_beside_those_of_the_paper_where_these_are_certain(done, more):
    def ablations(found, corpus):
        tables = short_tables({**found, "corpus": corpus})
        return next((table for table in tables if table.title.startswith("Ablations")), None)

    assert ablations(results(done), "ptb") is None
    found = results(more)
    rows = {row[0]: row[1:] for row in ablations(found, "ptb").rows}
    assert {name: (row[0], row[3]) for name, row in rows.items()} == {
        "corrected": ("93.3", "105.2"),
        "gated-attention": ("93.5", "100.9"),
        "corrected/stack": ("93.6", "–"),
    }
    stack, full = (found["perplexity"][f"corrected{more}"]["mean"] for more in ("/stack", ""))
    assert rows["corrected/stack"][4:] == (f"{stack:.1f}", f"{stack - full:+,.2f}")
    assert rows["corrected"][5] == "–"
    assert ablations(found, "trees").rows[2][3:] == rows["corrected/stack"][4:]
    alone = {**found, "systems": ["corrected/stack"]}
    assert [row[0::2] for row in ablations(alone, "trees").rows] == [("corrected/stack", "–", "–")]


def test_the_trees_of_a_sentence_begin_in_one_column(done):
    text = (done / "out" / "report.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^Sentence \d+:\n\n```\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        lines = block.splitlines()
        assert len(lines) == 3 and len({line.index("(") for line in lines}) == 1


def test_a_browser_shows_the_report(done, chromium, tmp_path):
    page = done / "out" / "report.html"
    text = page.read_text(encoding="utf-8")
    # nothing is fetched
    assert not re.search(r"""src\s*=|href\s*=\s*["'][^#]|url\(|@import|<script""", text)
    found = results(done)
    dom = browse(chromium, tmp_path / "profile", "--dump-dom", page.as_uri())
    assert dom.count("<table>") == 11
    assert dom.count("<polyline") >= 8
    points = sum(len(run["points"]) for run in found["samples"])
    assert dom.count(" samples, F1 ") == dom.count(" samples, perplexity ") == points
    different = [
        s
        for kind in ("discriminative", "generative")
        for s in found["comparisons"][0][kind]["most_different"]
    ]
    wrong = 0
    for drawn in found["trees"] + different:
        kinds = [kind for kind in drawn if kind != "sentence"]
        trees = [parse_line(drawn[kind]) for kind in kinds]
        gold, *systems = map(brackets, trees)
        wrong += sum(sum((system - gold).values()) for system in systems)
    assert dom.count("<title>not in the gold tree</title>") == wrong > 0
    picture = tmp_path / "report.png"
    browse(
        chromium,
        tmp_path / "profile",
        f"--screenshot={picture}",
        "--window-size=1000,3000",
        page.as_uri(),
    )
    # a blank page of this size is a few kilobytes
    assert picture.stat().st_size > 50_000


def test_the_contents_name_every_section_and_curves_stand_before_long_tables(done):
    text = (done / "out" / "report.html").read_text(encoding="utf-8")
    contents = re.findall(r'<a href="#(s\d+)">(.*?)</a>', text)
    assert contents == re.findall(r'<h2 id="(s\d+)">(.*?)</h2>', text)
    titles = [title for _, title in contents]
    assert titles[:2] == ["Systems", "Labelled F1 on the test part"]
    curve = titles.index("Parsers: F1 on the development part")
    assert curve < titles.index("buggy and corrected by label, greedy") < titles.index("Trees")
    # a table in the middle of the page is no longer than a screen
    tables = text.partition("<svg")[0].split("<table>")[1:]
    assert max(table.count("<tr>") for table in tables) <= 15


def test_there_are_no_columns_of_the_paper_where_it_has_no_numbers(done):
    found = results(done)
    for corpus, columns in (("trees", 0), ("ptb", 3)):
        tables = short_tables({**found, "corpus": corpus})
        heads = [table.header for table in tables if "here" in table.header]
        assert len(heads) == 3
        assert sum("paper" in head and "difference" in head for head in heads) == columns
        assert all(len(row) == len(t.header) for t in tables for row in t.rows)
    text = (done / "out" / "report.md").read_text(encoding="utf-8")
    assert "| paper |" not in text


def test_perplexity_several_ways_is_told_with_what_each_took(done):
    """Of both seeds of a composition; an earlier version did not say how many processes worked."""
    found = results(done)
    table = next(t for t in short_tables(found) if t.title == "Perplexity several ways")
    names = [f"{way}, {c}" for c in ("buggy", "corrected") for way in WAYS.values()]
    assert [row[0] for row in table.rows] == names
    seconds = {row[0]: row[-1] for row in table.rows}
    assert all(float(cell) > 0 for cell in seconds.values())
    assert [row[4] for row in table.rows][::3] == ["–"] * 2
    assert all(re.fullmatch(r"\d+ of 24", row[4]) for row in table.rows if row[4] != "–")
    for stage in found["made"]["stages"]:
        if stage["name"].startswith(("sample", "score")):
            del stage["processes"]
    table = next(t for t in short_tables(found) if t.title == "Perplexity several ways")
    assert [row[-1] for row in table.rows][::3] == ["–"] * 2
    assert table.rows[1][-1] == seconds[table.rows[1][0]]
    text = (done / "out" / "report.md").read_text(encoding="utf-8")
    assert "| p(x, y) alone, beam, corrected |" in text


def test_odd_bytes_and_line_separators_in_words_stay_in_their_lines(done, tmp_path):
    """A word may hold U+2028, which Python takes for the end of a line, and bytes that are not UTF-8."""
    out = shutil.copytree(done / "out", tmp_path / "out")
    line = "(S (XX a\u2028b) (XX caf\udce9) (XX c\x85d))"
    for name in ("buggy-1.generated.trees", "lstm-1.generated.txt"):
        with replacing(out / name) as stream:
            stream.write(f"{line}\n\n{line}\n")
    found = collect(out, Experiment("trees", seeds=(1, 2), tags="gold"))
    assert found["generated"]["RNNG, buggy"] == found["generated"]["LSTM"] == [line, line]
    found["made"] = results(done)["made"]
    write(tmp_path, found)
    with open_text(tmp_path / "report.md") as stream:
        assert f"\n{line}\n" in stream.read()
    # a page is UTF-8, and what is not to be seen stands there as an escape
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "\n(S (XX a\\u2028b) (XX caf\\udce9) (XX c\\x85d))\n" in page


FRAME = """<body><iframe id="f" src="{page}" style="width:390px;height:800px;border:0"></iframe>
<script>onload = () => {{
  const d = document.getElementById("f").contentDocument, nav = d.querySelector("nav");
  d.documentElement.scrollTop = 3000;
  const shown = [d.documentElement.scrollWidth, Math.round(nav.getBoundingClientRect().top)];
  document.body.insertAdjacentHTML("beforeend", `<p id="seen">${{shown}}</p>`);
}}</script>"""


def test_a_phone_shows_the_page_without_scrolling_sideways(done, chromium, tmp_path):
    """390 pixels wide; the contents stay at the top when the page is scrolled."""
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(page=(done / "out" / "report.html").as_uri()))
    profile = tmp_path / "profile"
    seen = browse(chromium, profile, "--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    width, top = map(int, re.search(r'<p id="seen">(\d+),(-?\d+)</p>', seen).groups())
    assert width <= 390
    assert top == 0
