"""Alignment, predictors, exclusions and held-out likelihoods on a table of our own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracle.errors import InputError, RnngError
from rnng_dy.evaluation.reading_times.alignment import align, require_aligned
from rnng_dy.evaluation.reading_times.predictors import Exclusions, rows_used, terms
from rnng_dy.evaluation.reading_times.study import Options, binned, run_study
from rnng_dy.evaluation.reading_times.tables import (
    Columns,
    read_frequencies,
    read_surprisals,
    read_times,
)

from .test_regression import by_normal_equations

ITEMS = 4
WORDS = 12


@pytest.fixture
def made(tmp_path):
    """Times of four items of twelve words, of which every sixth ends a sentence; two systems, `good` and `noise`."""
    random = np.random.default_rng(7)
    bits = random.gamma(2.0, 3.0, size=(ITEMS, WORDS)).round(3)
    noise = random.gamma(2.0, 3.0, size=(ITEMS, WORDS)).round(3)
    lengths = random.integers(1, 9, size=(ITEMS, WORDS))
    counts = random.integers(1, 5000, size=(ITEMS, WORDS))
    times = 250 + 4 * bits + 3 * lengths + random.normal(size=(ITEMS, WORDS)) * 3
    rows, good, noisy = ["item,position,word,time,count"], [], []
    for i in range(ITEMS):
        for w in range(WORDS):
            word = "abcdefghi"[: lengths[i, w]] + ("." if w % 6 == 5 else "")
            rows.append(f"{i + 1},{w + 1},{word},{times[i, w]:.3f},{counts[i, w]}")
            place = f"{2 * i + w // 6 + 1}\t{w % 6 + 1}\t{word}\t{word}"
            good.append(f"{place}\t{int(w != 4)}\t{bits[i, w]}")
            noisy.append(f"{place}\t1\t{noise[i, w]}")
    header = "sentence_id\ttoken_id\ttoken\tunk\tknown\tsurprisal"
    # the order of the rows is of no account
    rows[1:] = rows[:0:-1]
    for name, lines in (
        ("times.csv", rows),
        ("good.tsv", [header, *good]),
        ("noise.tsv", [header, *noisy]),
    ):
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return tmp_path


def times_of(folder, **columns):
    return read_times(str(folder / "times.csv"), Columns(**columns))


def systems_of(folder, times, *names):
    found = {}
    for name in names:
        path = str(folder / f"{name}.tsv")
        found[name], reports = align(times, read_surprisals(path), path)
        require_aligned(reports)
    return found


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_held_out_likelihoods_by_hand(made):
    times = times_of(made)
    systems = systems_of(made, times, "good")
    study = run_study(times, systems, Options(spillover=0))
    y = np.array([t for _, t in sorted(zip(times.word_of, times.times, strict=True))])
    bits = np.array([reading.bits for reading in systems["good"]])
    lengths = np.array([len(word.text) for word in times.words])
    places = np.array([word.position for word in times.words])
    items = np.array([int(word.item) for word in times.words])
    sums = {}
    for name, x in (
        ("with", np.column_stack([bits, lengths, places])),
        ("without", np.column_stack([lengths, places])),
    ):
        sums[name] = 0.0
        for item in range(1, ITEMS + 1):
            rest, held = items != item, items == item
            coefficients, _, _ = by_normal_equations(y[rest], x[rest])
            squares = (y[rest] - coefficients[0] - x[rest] @ coefficients[1:]) ** 2
            variance = squares.mean()
            errors = y[held] - coefficients[0] - x[held] @ coefficients[1:]
            sums[name] += (-0.5 * (np.log(2 * np.pi * variance) + errors**2 / variance)).sum()
    [system] = study.systems
    n = ITEMS * WORDS
    assert len(study.times) == n and study.folds == ITEMS
    assert system.log_likelihoods.mean() == pytest.approx(sums["with"] / n)
    assert system.log_likelihoods_without.mean() == pytest.approx(sums["without"] / n)
    effect = system.effects[0]
    assert effect.delta == pytest.approx((sums["with"] - sums["without"]) / n)
    assert study.items_better(system) == (ITEMS, ITEMS)
    whole, errors, _ = by_normal_equations(y, np.column_stack([bits, lengths, places]))
    assert (effect.coefficient, effect.standard_error) == pytest.approx((whole[1], errors[1]))
    assert effect.interval[0] < 4 < effect.interval[1]


def test_spill_over_is_of_the_words_before_in_the_same_item(made):
    times = times_of(made, frequency="count")
    readings = systems_of(made, times, "good")["good"]
    found = {term.name: term.values for term in terms(times, readings, 2)}
    names = [f"{n}{d}" for n in ("surprisal", "log_frequency", "length") for d in ("", "_1", "_2")]
    assert [*found] == [*names, "position"]
    for name in ("surprisal", "log_frequency", "length"):
        for distance in (1, 2):
            for i in range(ITEMS):
                here, before = (found[n][i * WORDS :][:WORDS] for n in (f"{name}_{distance}", name))
                assert np.isnan(here[:distance]).all()
                assert (here[distance:] == before[:-distance]).all()
    counts = [word.count for word in times.words]
    assert found["log_frequency"] == pytest.approx([math.log2(count + 1) for count in counts])


def test_a_gap_in_the_positions_is_a_missing_word(made):
    change(made / "times.csv", "4,12,", "4,13,")
    times = times_of(made)
    readings = systems_of(made, times, "good")["good"]
    values = {term.name: term.values for term in terms(times, readings, 1)}
    assert np.isnan(values["surprisal_1"][-1]) and not np.isnan(values["surprisal_1"][-2])


@pytest.mark.parametrize(
    ("options", "per_item", "reason"),
    [
        ({}, 2, None),
        ({"first": True}, 3, "first word of a sentence"),
        ({"last": True}, 4, "last word of a sentence"),
        ({"marks": True}, 4, "a punctuation mark"),
        ({"unknown": True}, 3, "unknown to a model"),
        ({"times_between": (1.0, 2.0)}, WORDS, "time not between 1 and 2 ms"),
    ],
)
def test_rows_are_left_out_for_reasons(made, options, per_item, reason):
    times = times_of(made)
    systems = systems_of(made, times, "good", "noise")
    kept, counts = rows_used(times, systems, Exclusions(**options), 2)
    assert len(kept) == ITEMS * (WORDS - per_item)
    assert counts["first words of an item, without words before them"] == 2 * ITEMS
    assert sum(counts.values()) == ITEMS * per_item
    assert reason is None or counts[reason] == ITEMS * (per_item - 2)


def test_a_system_that_explains_beats_one_that_does_not(made):
    times = times_of(made)
    study = run_study(times, systems_of(made, times, "good", "noise"), Options(permutations=2000))
    good, noise = study.systems
    assert good.p < 0.01 < noise.p
    [pair] = study.pairs
    assert (pair.first, pair.second) == ("good", "noise")
    assert pair.difference == pytest.approx((good.deltas - noise.deltas).mean())
    assert pair.p == pair.p_holm < 0.01
    again = run_study(times, systems_of(made, times, "good", "noise"), Options(permutations=2000))
    assert again.pairs == study.pairs


def test_rows_of_subjects_and_intercepts_of_both(made):
    pytest.importorskip("scipy")
    lines = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{lines[0]},reader"]
    for n, reader in enumerate(("ann", "bob", "eve")):
        for line in lines[1:]:
            item, position, word, time, count = line.split(",")
            rows.append(f"{item},{position},{word},{float(time) + 40 * n},{count},{reader}")
    (made / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    times = times_of(made, subject="reader")
    systems = systems_of(made, times, "good")
    plain = run_study(times, systems, Options(spillover=0))
    mixed = run_study(times, systems, Options(spillover=0, mixed=True))
    assert len(mixed.times) == 3 * ITEMS * WORDS
    assert set(mixed.subjects) == {"ann", "bob", "eve"}
    # the readers differ by a constant, which intercepts explain
    assert mixed.systems[0].log_likelihoods.mean() > plain.systems[0].log_likelihoods.mean() + 1
    found, wider = mixed.systems[0].effects[0], plain.systems[0].effects[0]
    assert found.coefficient == pytest.approx(4, abs=0.5)
    assert found.standard_error < wider.standard_error / 3


def test_words_must_be_equal_and_differences_have_places(made):
    change(made / "good.tsv", "\n1\t3\t", "\n1\t3\tx")
    times = times_of(made)
    path = str(made / "good.tsv")
    readings = read_surprisals(path)
    found, reports = align(times, readings, path)
    assert [i for i, reading in enumerate(found) if reading is None] == [2]
    assert found[3].line == 5
    line = next(w.line for w in times.words if (w.item, w.position) == ("1", 3))
    word = times.words[2].text
    assert reports == [f"{times.path}:{line}: {word!r} against {path}:4: {'x' + word!r}"]
    with pytest.raises(InputError, match="1 differences in all"):
        require_aligned(reports)
    _, counts = rows_used(times, {"good": found}, Exclusions(), 1)
    assert counts["not in every table of surprisals"] == 1
    assert counts["no surprisal of the word or a word before it"] == 1
    # one more word of the table of surprisals
    found, reports = align(times, [readings[0], *readings], path)
    assert len(reports) == 2 and None in found


def test_words_are_found_in_a_table_of_frequencies(made):
    table = made / "f.tsv"
    table.write_text('word\tcount\nmid-day\t3\nThe\t4\nthe\t5\nThe\t6\n"\t1\n', encoding="utf-8")
    counts = read_frequencies(str(table))
    assert counts == {"mid-day": 3, "The": 10, "the": 5, '"': 1}
    (made / "times.csv").write_text(
        'item;position;word;time\na;1;"The";300\na;2;Mid-day,;310\na;3;THE.;290\nb;1;gone;280\n',
        encoding="utf-8",
    )
    times = read_times(str(made / "times.csv"), Columns(), counts)
    assert [word.count for word in times.words[:3]] == [10, 3, 5]
    assert math.isnan(times.words[3].count)
    assert [word.item for word in times.words] == ["a", "a", "a", "b"]


def test_ends_of_sentences_are_no_words_and_infinite_bits_are_none(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("token\tsurprisal\n</s>\t1\na\tinf\nNA\t2\n</s>\t3\n", encoding="utf-8")
    first, second = read_surprisals(str(path))
    assert math.isnan(first.bits) and first.is_known and first.is_first and not first.is_last
    assert (second.text, second.bits, second.line) == ("NA", 2, 4)


def test_a_frequency_is_a_count_and_no_logarithm(made):
    (made / "counts.tsv").write_text("word\tcount\nthe\t5\na\t-1.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"counts.tsv:3: column 'count': '-1.5' is no count"):
        read_frequencies(str(made / "counts.tsv"))
    lines = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    lines[4] = f"{lines[4].rpartition(',')[0]},-1"
    (made / "times.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=r"times.csv:5: column 'count': '-1' is no count"):
        times_of(made, frequency="count")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("item,position", "item,place", ":1: no column 'position'; the columns are: item, place"),
        ("word,time", "item,time", ":1: two columns are called 'item'"),
        ("\n4,12,", "\n4,twelve,", ":2: column 'position': 'twelve' is no number"),
        ("\n4,12,", "\n4,1.5,", ":2: column 'position': '1.5' is no whole number"),
        ("\n4,12,", "\n4,11,", "line 2 has"),
        ("\n4,12,", "\n4,12,more,", ":2: 6 columns, and the first line has 5"),
        ("4,12,", '4,12,"', ":2: no CSV: "),
    ],
)
def test_a_table_of_times_that_is_none(made, old, new, says):
    change(made / "times.csv", old, new)
    with pytest.raises(InputError, match=r"times.csv") as raised:
        times_of(made)
    assert says in str(raised.value)


def test_times_must_be_numbers_and_rows_must_differ(made):
    lines = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    item, position, word, _, count = lines[3].split(",")
    rows = [*lines[:3], f"{item},{position},{word},slow,{count}", *lines[4:]]
    (made / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"times.csv:4: column 'time': 'slow' is no number"):
        times_of(made)
    (made / "times.csv").write_text("\n".join([*lines, lines[3]]), encoding="utf-8")
    with pytest.raises(InputError, match="in line 4 as well: leave one out, or name the column"):
        times_of(made)
    (made / "times.csv").write_text(lines[0], encoding="utf-8")
    with pytest.raises(InputError, match="no reading times"):
        times_of(made)


def test_one_item_has_no_cross_validation(made):
    lines = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith(("item", "1,"))]
    (made / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    times = times_of(made)
    readings = read_surprisals(str(made / "good.tsv"))[:WORDS]
    with pytest.raises(RnngError, match="two items at least"):
        run_study(times, {"good": readings})
    none = Options(exclusions=Exclusions(times_between=(1.0, 2.0)))
    with pytest.raises(RnngError, match=r"no row of .*times.csv is left: first words of an item"):
        run_study(times, {"good": readings}, none)


def test_a_constant_predictor_is_named(made):
    times = times_of(made)
    readings = [reading._replace(bits=2.5) for reading in read_surprisals(str(made / "good.tsv"))]
    with pytest.raises(RnngError, match="surprisal is the same in all rows"):
        run_study(times, {"good": readings})


def test_bins_are_equally_large_and_have_their_means():
    bits, times = np.array([4.0, 1.0, 3.0, 2.0]), np.array([40.0, 10.0, 34.0, 20.0])
    assert [*binned(bits, times, 2)] == [(1.5, 15.0), (3.5, 37.0)]
