"""Equal to the published search program in every word of its output (SEARCH.md, 3 and 4)."""

import csv
import lzma
import re
from typing import NamedTuple

import numpy as np
import pytest

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from rnng_dy.interop.clab import import_generator
from rnng_dy.search.surprisal import SearchOptions, measure

pytestmark = pytest.mark.slow

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


def load_model(shared, composition):
    folder = shared / "clab_reference"
    train = read_oracle(folder / "train.gen.oracle")
    clusters = read_clusters(folder / "clusters.paths")
    return import_generator(folder / composition / "gen.params", train, clusters, composition)


def read_sentences(shared):
    return [s.unkified for s in read_oracle(shared / "clab_reference" / "test.gen.oracle")]


def options_of(sizes, **others):
    beam, fast_track, word_beam = map(int, sizes.split("-"))
    return SearchOptions(beam=beam, fast_track=fast_track, word_beam=word_beam, **others)


def records_like_reference(shared, model, sizes):
    """Of all words of all sentences, one after another."""
    found = measure(model, read_sentences(shared), options_of(sizes, like_reference=True))
    return [record for sentence in found for record in sentence.records]


def equal_beams(shared, composition, sizes, records):
    """For each word, whether its beam has the program's actions, order and scores (1e-6)."""
    words = read_beams(shared / "search_reference" / composition / f"beams.{sizes}.txt.xz")
    for word, record in zip(words, records, strict=True):
        ours = [tuple(analysis.actions) for analysis in record.beam]
        scores = [analysis.log_prob for analysis in record.beam]
        yield (
            record.rounds == word.counts["rounds"]
            and ours == [actions for *_, actions in word.beam]
            and np.allclose(scores, [score for score, *_ in word.beam], rtol=1e-6, atol=0)
        )


def surprisal_differences(shared, composition, sizes, records):
    """|ours - printed| in bits of each word."""
    folder = shared / "search_reference" / composition
    printed = [float(row["surprisal"]) for row in read_table(folder / f"surprisals.{sizes}.tsv")]
    return np.abs(np.array([record.surprisal for record in records]) - printed)


@pytest.fixture(scope="module", params=COMPOSITIONS)
def composition(request):
    return request.param


@pytest.fixture(scope="module")
def model(shared, composition):
    return load_model(shared, composition)


@pytest.fixture(scope="module", params=SIZES)
def sizes(request):
    return request.param


@pytest.fixture(scope="module")
def records(shared, model, sizes):
    return records_like_reference(shared, model, sizes)


def test_word_beams_agree(shared, composition, sizes, records):
    """For each word, the beam has the program's actions, order and scores (1e-6 relative)."""
    found = list(equal_beams(shared, composition, sizes, records))
    assert len(found) == 1007 and all(found)


def test_surprisals_and_measures_agree(shared, composition, sizes, records):
    folder = shared / "search_reference" / composition
    for row, record in zip(read_table(folder / f"surprisals.{sizes}.tsv"), records, strict=True):
        place = (row["sentence_id"], row["token_id"])
        assert record.unk == row["token"], place
        assert record.surprisal == pytest.approx(float(row["surprisal"]), rel=1e-5, abs=1e-4), place
    for row, record in zip(read_table(folder / f"metrics.{sizes}.tsv"), records, strict=True):
        place = (row["sentence_id"], row["token_id"])
        assert (record.rounds, record.distance) == (int(row["rounds"]), int(row["actions"])), place
        for name in ("entropy", "entropy_delta"):
            value = getattr(record, name)
            assert value == pytest.approx(float(row[name]), rel=1e-5, abs=1e-4), (*place, name)


def test_particles_meet_those_of_the_reference(shared):
    """SEARCH.md, section 4: -log2 p after each word of test sentence 18, of 6 runs of 20,000."""
    options = SearchOptions("particles", particles=120000)
    [found] = measure(load_model(shared, "corrected"), [read_sentences(shared)[17]], options)
    bits = np.cumsum([record.surprisal for record in found.records])
    assert bits == pytest.approx([6.4257, 12.5526, 19.1303, 22.2944, 27.7142], abs=4 * 0.032)


@pytest.mark.parametrize(("sizes", "stuck"), [("1-0-1", 19), ("2-1-1", 0)])
def test_where_the_program_never_ends_the_search_does(shared, sizes, stuck):
    """SEARCH.md, section 2: with 1/0/1, in 19 sentences, no analysis is left to expand."""
    model, options = load_model(shared, "corrected"), options_of(sizes, like_reference=True)
    problems = [found.problem for found in measure(model, read_sentences(shared), options)]
    assert sum("word" in problem for problem in problems if problem) == stuck
    assert len([problem for problem in problems if problem]) == stuck
