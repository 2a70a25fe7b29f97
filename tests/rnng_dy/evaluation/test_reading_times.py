"""Alignment, predictors, exclusions and held-out likelihoods on a table of our own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracle.errors import InputError, RnngError
from rnng_dy.evaluation.reading_tables import (
    Reading,
    Times,
    align,
    read_frequencies,
    read_surprisals,
    read_times,
    require_aligned,
)
from rnng_dy.evaluation.reading_times import least_squares, predictors, rows_used, run_study

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
    return read_times(str(folder / "times.csv"), columns)


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


def study_of(times, systems, spillover=2, **exclusions):
    rows, _ = rows_used(times, systems, spillover, **exclusions)
    return run_study(times, systems, rows, spillover)


def by_normal_equations(y, x):
    """Intercept and coefficients, their standard errors and the residual variance."""
    design = np.column_stack([np.ones(len(y)), x])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residuals = y - design @ coefficients
    variance = residuals @ residuals / (len(y) - design.shape[1])
    return coefficients, np.sqrt(np.diag(inverse) * variance), variance


def test_held_out_likelihoods_by_hand(made):
    times = times_of(made)
    systems = systems_of(made, times, "good")
    study = study_of(times, systems, 0)
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
    assert len(study.times) == n and set(study.folds) == set(range(ITEMS))
    assert system.log_likelihoods.mean() == pytest.approx(sums["with"] / n)
    assert system.without.mean() == pytest.approx(sums["without"] / n)
    assert system.deltas.mean() == pytest.approx((sums["with"] - sums["without"]) / n)
    assert study.items_better(system) == (ITEMS, ITEMS)
    whole, errors, _ = by_normal_equations(y, np.column_stack([bits, lengths, places]))
    assert system.regression.intercept == pytest.approx(whole[0])
    assert system.regression.coefficients == pytest.approx(whole[1:])
    assert system.regression.standard_errors == pytest.approx(errors[1:])


def test_spill_over_is_of_the_words_before_in_the_same_item(made):
    times = times_of(made, frequency="count")
    readings = systems_of(made, times, "good")["good"]
    found = predictors(times, readings, 2)
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
    values = predictors(times, readings, 1)
    assert np.isnan(values["surprisal_1"][-1]) and not np.isnan(values["surprisal_1"][-2])


@pytest.mark.parametrize(
    ("options", "per_item", "reason"),
    [
        ({}, 2, None),
        ({"exclude": ["first"]}, 3, "first word of a sentence"),
        ({"exclude": ["last"]}, 4, "last word of a sentence"),
        ({"exclude": ["punctuation"]}, 4, "a punctuation mark"),
        ({"exclude": ["unknown"]}, 3, "unknown to a model"),
    ],
)
def test_rows_are_left_out_for_reasons(made, options, per_item, reason):
    times = times_of(made)
    systems = systems_of(made, times, "good", "noise")
    kept, counts = rows_used(times, systems, 2, **options)
    assert len(kept) == ITEMS * (WORDS - per_item)
    assert counts["first words of an item, without words before them"] == 2 * ITEMS
    assert sum(counts.values()) == ITEMS * per_item
    assert reason is None or counts[reason] == ITEMS * (per_item - 2)


def test_a_system_that_explains_beats_one_that_does_not(made):
    times = times_of(made)
    study = study_of(times, systems_of(made, times, "good", "noise"))
    good, noise = study.systems
    assert good.p < 0.01 < noise.p
    [pair] = study.pairs
    assert (pair.first, pair.second) == ("good", "noise")
    assert pair.difference == pytest.approx((good.deltas - noise.deltas).mean())
    assert pair.p == pair.p_holm < 0.01
    again = study_of(times, systems_of(made, times, "good", "noise"))
    assert again.pairs == study.pairs


def test_folds_do_not_depend_on_the_order_of_rows(made):
    times = times_of(made)
    [found] = study_of(times, systems_of(made, times, "good")).systems
    header, *rows = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    (made / "times.csv").write_text("\n".join([header, *sorted(rows)]), encoding="utf-8")
    times = times_of(made)
    study = run_study(
        times, systems := systems_of(made, times, "good"), rows_used(times, systems)[0], folds=3
    )
    assert {(word.item, fold) for word, fold in zip(study.words, study.folds, strict=True)} == {
        ("1", 0), ("2", 1), ("3", 2), ("4", 0)
    }  # fmt: skip
    [again] = study_of(times, systems).systems
    assert again.deltas.mean() == pytest.approx(found.deltas.mean())


def test_rows_of_subjects_are_told_apart(made):
    header, *lines = (made / "times.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{reader}" for reader in ("ann", "bob") for line in lines]
    (made / "times.csv").write_text("\n".join([f"{header},reader", *rows]), encoding="utf-8")
    times = times_of(made, subject="reader")
    study = study_of(times, systems_of(made, times, "good"), 0)
    assert len(study.times) == 2 * ITEMS * WORDS and set(study.subjects) == {"ann", "bob"}


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
    _, counts = rows_used(times, {"good": found}, 1)
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
    times = read_times(str(made / "times.csv"), {}, counts)
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
        ("4,12,", '4,12,"', ":2: "),
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
        study_of(times, {"good": readings})
    with pytest.raises(RnngError, match=r"no row of .*times.csv is left: first words of an item"):
        study_of(times, {"good": readings}, times_between=(1.0, 2.0))


def test_a_constant_predictor_is_named(made):
    times = times_of(made)
    readings = [reading._replace(bits=2.5) for reading in read_surprisals(str(made / "good.tsv"))]
    with pytest.raises(RnngError, match="surprisal is the same in all rows"):
        study_of(times, {"good": readings})


def test_predictors_that_no_regression_takes_are_named():
    random = np.random.default_rng(2)
    x = random.normal(size=(20, 2))
    y = random.normal(size=20)
    for columns, says in (
        ([x[:, 0], x[:, 1], x[:, 0] - 2 * x[:, 1]], "c is a sum of multiples of a, b"),
        ([x[:, 0], np.full(20, 3.0)], "b is the same in all rows"),
    ):
        with pytest.raises(RnngError, match=says):
            least_squares(y, np.column_stack(columns), "abc")
    with pytest.raises(RnngError, match="3 rows are too few for 2 predictors: a, b"):
        least_squares(y[:3], x[:3], "ab")
    with pytest.raises(RnngError, match="explain all times exactly"):
        least_squares(2 * x[:, 0] + 5, x, "ab")


def test_long_texts_are_aligned_around_their_differences(made):
    """Words left out, added and changed, and a long gap: all others find their row."""
    times = times_of(made)
    words = [w._replace(text=f"{w.text}{i % 17}") for i, w in enumerate(times.words * 40)]
    times = Times("times", words, np.zeros(0), np.zeros(0, int), [])
    rows = [Reading(w.text, 1.0, True, False, False, i) for i, w in enumerate(words)]
    read = [*rows[:100], *rows[101:300], rows[5], *rows[300:500], *rows[800:]]
    found, reports = align(times, read, "table")
    assert len(reports) == 3
    assert all(row is None or row.text == w.text for row, w in zip(found, words, strict=True))
    assert sum(row is None for row in found) == 301
