"""Equal to the published search program: every word of every file of its output (SEARCH.md, sections 3 and 4)."""

from __future__ import annotations

import csv
import lzma
import re
from itertools import chain
from typing import NamedTuple

import pytest

from clusters.files import read_clusters
from oracle.files import read_oracle
from rnng_dy.interop.clab import import_generator
from rnng_dy.search.beam import BeamSearch, BeamSizes
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, measure

SIZES = ("100-5-10", "20-2-5")
COMPOSITIONS = ("corrected", "buggy")


class Word(NamedTuple):
    """A word of a file `beams.*.txt.xz`."""

    sentence: int
    token: int
    counts: dict[str, int]
    beam: list[tuple[float, float, tuple[str, ...]]]
    """Score, log p(word | u), actions; best first."""


def read_beams(path):
    words = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("word "):
                _, sentence, token, *_ = line.split()
                counts = {name: int(n) for name, n in re.findall(r" (\w+)=(\d+)", line)}
                words.append(Word(int(sentence), int(token), counts, []))
            else:
                _, score, lexical, *actions = line.split()
                words[-1].beam.append((float(score), float(lexical), tuple(actions)))
    return words


def read_table(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def sentences(shared):
    return read_oracle(shared / "clab_reference" / "test.gen.oracle")


@pytest.fixture(scope="module", params=COMPOSITIONS)
def composition(request):
    return request.param


@pytest.fixture(scope="module")
def model(shared, composition):
    folder = shared / "clab_reference"
    train = read_oracle(folder / "train.gen.oracle")
    clusters = read_clusters(folder / "clusters.paths")
    return import_generator(folder / composition / "gen.params", train, clusters, composition)


def options_of(sizes, **others):
    beam, fast_track, word_beam = map(int, sizes.split("-"))
    return SearchOptions(beam=beam, fast_track=fast_track, word_beam=word_beam, **others)


@pytest.fixture(scope="module", params=SIZES)
def sizes(request):
    return request.param


@pytest.fixture(scope="module")
def like_reference(model, sentences, sizes):
    options = options_of(sizes, like_reference=True)
    return list(measure(model, [s.unkified for s in sentences], options))


def test_word_beams_agree(shared, composition, sizes, like_reference):
    folder = shared / "search_reference" / composition
    records = chain.from_iterable(found.records for found in like_reference)
    words = read_beams(folder / f"beams.{sizes}.txt.xz")
    for word, record in zip(words, records, strict=True):
        place = (word.sentence, word.token)
        assert (record.rounds, len(record.beam)) == (word.counts["rounds"], len(word.beam)), place
        assert [tuple(a.actions) for a in record.beam] == [a for *_, a in word.beam], place
        for analysis, (score, *_) in zip(record.beam, word.beam, strict=True):
            assert analysis.log_prob == pytest.approx(score, rel=1e-6), place


def test_surprisals_and_measures_agree(shared, composition, sizes, like_reference):
    folder = shared / "search_reference" / composition
    records = list(chain.from_iterable(found.records for found in like_reference))
    printed = read_table(folder / f"surprisals.{sizes}.tsv")
    for row, record in zip(printed, records, strict=True):
        place = (row["sentence_id"], row["token_id"])
        assert record.unk == row["token"], place
        assert record.surprisal == pytest.approx(float(row["surprisal"]), rel=1e-5, abs=1e-4), place
    for row, record in zip(read_table(folder / f"metrics.{sizes}.tsv"), records, strict=True):
        place = (row["sentence_id"], row["token_id"])
        assert (record.rounds, record.actions) == (int(row["rounds"]), int(row["actions"])), place
        for name in ("entropy", "entropy_delta", "syntactic", "lexical"):
            value = getattr(record, name)
            assert value == pytest.approx(float(row[name]), rel=1e-5, abs=1e-4), (*place, name)


def test_the_early_stop_finds_the_same_word_beams(
    model, sentences, sizes, like_reference, monkeypatch
):
    """SEARCH.md, section 2: with fewer rounds."""
    options = options_of(sizes)
    beam_sizes = BeamSizes(options.beam, options.fast_track, options.word_beam)
    search = BeamSearch(model.transitions, beam_sizes, like_reference=True)
    monkeypatch.setitem(SEARCHES, "beam", lambda *_: search)
    few = [s.unkified for s in sentences[:10]]
    found = list(measure(model, few))
    rounds = other_rounds = 0
    for mended, program in zip(found, like_reference, strict=False):
        for record, other in zip(mended.records, program.records, strict=True):
            assert [a.actions for a in record.beam] == [a.actions for a in other.beam]
            assert record.surprisal == pytest.approx(other.surprisal, abs=1e-4)
            rounds, other_rounds = rounds + record.rounds, other_rounds + other.rounds
    assert rounds < 0.9 * other_rounds
