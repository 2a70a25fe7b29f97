"""`rnng-dy reading-times`: alignment, predictors, exclusions and likelihoods, on our tables."""

import csv
import itertools
import math
import os
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from oracle.common.errors import InputError, RnngError
from rnng_dy.evaluation.alignment import align
from rnng_dy.evaluation.reading_predictors import Design, predictors
from rnng_dy.evaluation.reading_tables import read_times
from rnng_dy.evaluation.reading_times import rows_used, run_study
from rnng_dy.evaluation.regression import least_squares
from rnng_dy.evaluation.study_reports import table
from rnng_dy.evaluation.token_tables import read_surprisals
from tests.commands import invoke, refused

ITEMS, WORDS = 8, 12
run = partial(invoke, "reading-times")


@pytest.fixture(autouse=True)
def made(here):
    """Times of eight items, each two sentences of six words; two systems, `good` and `noise`."""
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
    write("times.csv", rows)
    write("good.tsv", [header, *good])
    write("noise.tsv", [header, *noisy])


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def lines_of(name):
    return Path(name).read_text(encoding="utf-8").splitlines()


def change(name, old, new):
    text = Path(name).read_text(encoding="utf-8")
    assert old in text
    Path(name).write_text(text.replace(old, new, 1), encoding="utf-8")


def systems_of(times, *names):
    systems = {}
    for name in names:
        tokens = read_surprisals(f"{name}.tsv")
        systems[name] = align(times, tokens, f"{name}.tsv", allow_missing=False)[0]
    return systems


def study_of(times, systems, spillover=2, **options):
    design = Design(spillover)
    rows, _ = rows_used(times, systems, design, **options)
    return run_study(times, systems, rows, design)


def by_normal_equations(y, x):
    """Intercept and coefficients, and their standard errors."""
    design = np.column_stack([np.ones(len(y)), x])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residuals = y - design @ coefficients
    variance = residuals @ residuals / (len(y) - design.shape[1])
    return coefficients, np.sqrt(np.diag(inverse) * variance)


def test_held_out_likelihoods_by_hand():
    times = read_times("times.csv")
    systems = systems_of(times, "good")
    [(figures, columns)] = study_of(times, systems, 0).systems
    y = np.array([t for _, t in sorted(zip(times.word_of, times.times, strict=True))])
    bits = np.array([row.bits for row in systems["good"]])
    lengths = np.array([len(word.text) for word in times.words])
    places = np.array([word.position for word in times.words])
    items = np.array([int(word.item) for word in times.words])
    sums, all_x = {}, np.column_stack([bits, lengths, places])
    for name, x in (("with", all_x), ("without", all_x[:, 1:])):
        sums[name] = 0.0
        for item in range(1, ITEMS + 1):
            rest, held = items != item, items == item
            coefficients, _ = by_normal_equations(y[rest], x[rest])
            variance = ((y[rest] - coefficients[0] - x[rest] @ coefficients[1:]) ** 2).mean()
            errors = y[held] - coefficients[0] - x[held] @ coefficients[1:]
            sums[name] += (-0.5 * (np.log(2 * np.pi * variance) + errors**2 / variance)).sum()
    n = ITEMS * WORDS
    assert len(columns["time"]) == n and set(columns["fold"]) == set(range(ITEMS))
    assert figures["log_likelihood"] == pytest.approx(sums["with"] / n)
    assert figures["log_likelihood_without"] == pytest.approx(sums["without"] / n)
    assert figures["delta_log_likelihood"] == pytest.approx((sums["with"] - sums["without"]) / n)
    assert figures["items_better"] == figures["items"] == ITEMS
    whole, errors = by_normal_equations(y, all_x)
    found = figures["coefficients"]
    assert [of["coefficient"] for of in found] == pytest.approx(whole[1:])
    assert [of["standard_error"] for of in found] == pytest.approx(errors[1:])
    assert least_squares(y, all_x, "abc").intercept == pytest.approx(whole[0])


def test_spill_over_is_of_the_words_before_in_the_same_item():
    times = read_times("times.csv", {"frequency": "count"})
    found = predictors(times, systems_of(times, "good")["good"], Design())
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
def test_rows_are_left_out_for_reasons(options, per_item, reason):
    times = read_times("times.csv")
    kept, counts = rows_used(times, systems_of(times, "good", "noise"), Design(), **options)
    assert len(kept) == ITEMS * (WORDS - per_item)
    assert counts["first words of an item, without words before them"] == 2 * ITEMS
    assert sum(counts.values()) == ITEMS * per_item
    assert reason is None or counts[reason] == ITEMS * (per_item - 2)


def test_the_reason_names_a_measure_whose_name_ends_in_a_number():
    times = read_times("times.csv")
    good = systems_of(times, "good")["good"]
    for i, row in enumerate(good):
        good[i] = row._replace(measures={"surprisal_9": math.nan if i == 5 else 1.0})
    _, counts = rows_used(times, {"good": good}, Design(0, ["surprisal", "surprisal_9"]))
    assert counts == {"no surprisal_9 of the word or a word before it": 1}


def test_a_system_that_explains_beats_one_that_does_not():
    times = read_times("times.csv")
    study = study_of(times, systems_of(times, "good", "noise"))
    good, noise = (system.figures for system in study.systems)
    assert good["p"] < 0.01 < noise["p"]
    assert re.search(r"^noise .* -0\.\d+ +0\.\d+, worse$", table(study), re.M)
    [pair] = study.pairs
    assert (pair["first"], pair["second"]) == ("good", "noise")
    assert pair["difference"] == pytest.approx(good["log_likelihood"] - noise["log_likelihood"])
    assert pair["p"] == pair["p_holm"] < 0.01


def test_folds_are_of_items_whatever_the_order_of_rows():
    times = read_times("times.csv")
    systems = systems_of(times, "good")
    [three] = run_study(times, systems, rows_used(times, systems, Design())[0], Design(), 3).systems
    folds = zip(three.columns["item"], three.columns["fold"], strict=True)
    assert set(folds) == {(str(item), (item - 1) % 3) for item in range(1, ITEMS + 1)}
    [found] = study_of(times, systems).systems
    header, *rows = lines_of("times.csv")
    write("times.csv", [header, *sorted(rows)])
    [again] = study_of(read_times("times.csv"), systems).systems
    assert again.figures["log_likelihood"] == pytest.approx(found.figures["log_likelihood"])


def test_the_p_is_that_of_all_swaps_of_whole_items():
    """Eight items have 256 choices; the rows of an item count together."""
    times = read_times("times.csv")
    systems = systems_of(times, "noise", "good")
    systems["third"] = [word._replace(bits=word.bits / 3) for word in systems["noise"]]
    study = study_of(times, systems)
    noise, of_rows = study.systems[0], study.systems[0].columns
    gains = of_rows["log_likelihood"] - of_rows["log_likelihood_without"]
    items = gains.reshape(ITEMS, -1).sum(axis=1)
    choices = [abs(np.dot(s, items)) for s in itertools.product([1, -1], repeat=ITEMS)]
    assert 0 < noise.figures["p"] == np.mean(np.array(choices) >= choices[0] - 1e-9) < 1
    # by Holm, three pairs: the two of good have the least p, and equal regressions have none
    ps, by_holm = ([pair[name] for pair in study.pairs] for name in ("p", "p_holm"))
    assert ps == pytest.approx([2 / 256, math.nan, 2 / 256], nan_ok=True)
    assert by_holm == pytest.approx([4 / 256, math.nan, 4 / 256], nan_ok=True)


def test_intervals_of_coefficients_are_by_t():
    random = np.random.default_rng(5)
    x, y = random.normal(size=(7, 1)), random.normal(size=7)
    [found] = least_squares(y, x, "a").figures("a")
    # five degrees of freedom
    assert (found["high"] - found["low"]) / found["standard_error"] == pytest.approx(2 * 2.570582)


def test_a_predictor_that_is_constant_in_a_fold_is_left_out_and_constant_times_are_refused():
    times = read_times("times.csv")
    systems = systems_of(times, "good")
    # one item alone has words of different lengths
    words = [w._replace(text="a" * (1 + (w.item == "1") * i)) for i, w in enumerate(times.words)]
    [(figures, columns)] = study_of(times._replace(words=words), systems, 0).systems
    assert [of["predictor"] for of in figures["coefficients"]] == ["surprisal", "position"]
    assert "length" not in columns
    with pytest.raises(RnngError, match="the times are the same in all rows of a regression"):
        study_of(times._replace(times=0 * times.times + 300), systems)


def test_positions_have_steps_of_one_and_a_gap_begins_no_item():
    change("times.csv", "\n1,5,", "\n1,4.5,")
    times = read_times("times.csv")
    counts = rows_used(times, systems_of(times, "good"), Design())[1]
    assert counts["after a gap in the positions"] == 3
    assert counts["first words of an item, without words before them"] == 2 * ITEMS
    times = times._replace(words=[w._replace(position=10 * w.position) for w in times.words])
    with pytest.raises(RnngError, match=r"times.csv: positions 10, 20, 30: not in steps of 1"):
        rows_used(times, systems_of(times, "good"), Design())


def test_items_of_both_tables_are_the_same():
    write("some.csv", ["item,position,word,time", "b,1,We,300", "b,2,ran,300", "a,1,Go,"])
    for rows, bits in (("a,Go b,We b,ran", [2, 3, 1]), ("b,We a,ran a,Go", [1, None, 3])):
        cells = [f"{row},{i}" for i, row in enumerate(rows.split(), 1)]
        write("bits.csv", ["item,token,surprisal", *cells])
        found, _ = align(read_times("some.csv"), read_surprisals("bits.csv"), "bits.csv")
        assert [word and word.bits for word in found] == bits


def test_several_columns_may_make_an_item_and_regions_have_surprisals():
    rows = ["1,10,1,It ran,300", "1,9,1,We,300", "1,9,2,ran off,"]
    write("some.csv", ["Text,Sentence,Zone,word,RT", *rows])
    write("regions.tsv", ["sentence_id,content,surp", "1,We,1", "1,ran off,2", "2,It ran,3"])
    times = read_times("some.csv", {"item": "Text,Sentence"})
    assert [word.item for word in times.words] == ["1_9", "1_9", "1_10"]
    words, _ = align(times, read_surprisals("regions.tsv"), "regions.tsv", allow_missing=False)
    assert [word.bits for word in words] == [1, 2, 3]
    assert predictors(times, words, Design(0))["length"].tolist() == [2, 7, 6]
    change("some.csv", "1,9,1,We,", "1,9 ,1, We ,")
    assert read_times("some.csv", {"item": "Text,Sentence"}).words[0][:3] == ("1_9", 1, "We")


def test_rows_of_subjects_are_told_apart():
    header, *rows = lines_of("times.csv")
    of_both = [f"{row},{reader}" for reader in ("ann", "bob") for row in rows]
    write("times.csv", [f"{header},reader", *of_both])
    times = read_times("times.csv", {"subject": "reader"})
    [(figures, columns)] = study_of(times, systems_of(times, "good"), 0).systems
    assert figures["rows"] == 2 * ITEMS * WORDS and set(columns["subject"]) == {"ann", "bob"}


def test_words_must_be_equal_and_differences_have_places():
    change("good.tsv", "\n1\t3\t", "\n1\t3\tx")
    times = read_times("times.csv")
    found, reports = align(times, read_surprisals("good.tsv"), "good.tsv")
    assert [i for i, row in enumerate(found) if row is None] == [2]
    line, word = times.words[2].line, times.words[2].text
    assert reports == [f"times.csv:{line}: {word!r} against good.tsv:4: {'x' + word!r}"]
    with pytest.raises(InputError, match="1 differences in all"):
        systems_of(times, "good")
    _, counts = rows_used(times, {"good": found}, Design(1))
    assert counts["not in every table of surprisals"] == 1
    assert counts["no surprisal of the word or a word before it"] == 1


def test_letters_of_several_characters_are_those_of_one():
    """As macOS and PDF files write them, in the times, the surprisals or both; subwords, too."""
    write("bits.csv", ["token,surprisal", "café,1", "ca,1", "fe\u0301,2", "cafe,1", "\u0301,2"])
    for text in ("café", "cafe\u0301"):
        write("some.csv", ["item,position,word,time", *(f"1,{i},{text},300" for i in range(3))])
        times = read_times("some.csv")
        words, _ = align(times, read_surprisals("bits.csv"), "bits.csv", allow_missing=False)
        assert [word.bits for word in words] == [1, 3, 3]
        assert predictors(times, words, Design(0))["length"].tolist() == [4, 4, 4]


def test_words_may_be_equal_by_their_letters_alone():
    change("good.tsv", "\n1\t3\t", "\n1\t3\t“X,")
    change("times.csv", "\n1,3,", "\n1,3,x")
    times = read_times("times.csv")
    rows = read_surprisals("good.tsv")
    assert align(times, rows, "good.tsv", by_letters=True)[1] == []
    assert len(align(times, rows, "good.tsv")[1]) == 1
    for tokens, read, counts in (
        ("a dog -- a '' big '' ( one ) ran .", "A dog--a “big” (one) ran.", [1, 3, 3, 3, 2]),
        ("I <unk> . . . — —", "i ran ... ——", [1, 1, 3, 2]),
        ("a b c . g h i .", "A b c. D e f. G h i.", [1, 1, 2, 1, 1, 2]),
    ):
        write("m.tsv", ["token,surprisal", *(f"{token},1" for token in tokens.split())])
        rows = (f"1,{i},{word},300" for i, word in enumerate(read.split()))
        write("m.csv", ["item,position,word,time", *rows])
        found, _ = align(read_times("m.csv"), read_surprisals("m.tsv"), "m.tsv", by_letters=True)
        assert [word.bits for word in found if word] == counts


def test_a_missing_time_leaves_the_word_and_numbers_have_points_or_commas():
    whole = read_times("times.csv")
    header, first, second, *rows = lines_of("times.csv")
    cells = [line.split(",") for line in (first, second)]
    cells[0][3] = "NA"
    cells[1][3] = f'"{float(cells[1][3]):.1f}"'.replace(".", ",")
    write("times.csv", [header, *map(",".join, cells), *rows])
    times = read_times("times.csv")
    assert math.isnan(times.times[0]) and times.words == whole.words
    assert times.times[1:] == pytest.approx(whole.times[1:], abs=0.06)
    _, counts = rows_used(times, systems_of(times, "good"), Design(0))
    assert counts == {"without a time": 1}


def test_a_latin_square_over_item_and_condition():
    """Each subject reads one variant of an item; the surprisals have all, in another order."""
    texts = {"1,a": "It ran", "1,b": "They ran off", "2,a": "He slept", "2,b": "We slept"}
    times = ["subject,item,condition,position,word,time"]
    for subject, shown in (("x", "2,b"), ("x", "1,a"), ("y", "1,b"), ("y", "2,a")):
        words = enumerate(texts[shown].split(), 1)
        times += [f"{subject},{shown},{i},{word},{300 + i}" for i, word in words]
    bits = ["item,condition,sentence_id,token,surprisal"]
    for number, (variant, text) in enumerate(texts.items()):
        bits += [f"{variant},{number},{word},{number + 1}" for word in text.split()]
    write("square.csv", times)
    write("bits.csv", bits)
    found = read_times("square.csv", {"subject": "subject", "condition": "condition"})
    assert {f"{w.item},{w.condition}" for w in found.words} == {*texts}
    aligned, reports = align(found, read_surprisals("bits.csv"), "bits.csv")
    assert reports == []
    expected = [[*texts].index(f"{w.item},{w.condition}") + 1 for w in found.words]
    assert [row.bits for row in aligned] == expected


def test_sentences_may_be_numbered_in_each_item_anew():
    rows = [("a", "1"), ("b", "1"), ("a", "2"), ("b", "2")]
    bits = ["sentence_id,item,condition,token,surprisal"]
    write("bits.csv", bits + [f"1,{item},{c},{word},1" for item, c in rows for word in "xyz"])
    times = ["item,condition,position,word,time"]
    times += [f"{item},{c},{i},{word},300" for item, c in rows for i, word in enumerate("xyz")]
    write("square.csv", times)
    found = read_times("square.csv", {"condition": "condition"})
    words, _ = align(found, read_surprisals("bits.csv"), "bits.csv")
    assert [word.is_first for word in words] == [True, False, False] * 4
    assert [word.is_last for word in words] == [False, False, True] * 4


def test_one_position_of_each_item_is_enough():
    random = np.random.default_rng(1)
    times, bits = ["item,position,word,time"], ["token,surprisal"]
    for item, time, surprisal in zip(range(9), random.normal(300, 9, 9), range(9), strict=True):
        times += [f"{item},1,the,NA", f"{item},2,{'word'[: 1 + item % 4]},{time:.1f}"]
        bits += ["the,2", f"{'word'[: 1 + item % 4]},{surprisal}"]
    write("times.csv", times)
    write("good.tsv", bits)
    said = run("good.tsv", "--times", "times.csv", "--spillover", 0, "-o", "joined.csv").stderr
    assert "not a predictor, since it is constant or depends on others in a fold: position" in said


def test_names_of_systems_may_have_points_and_files_of_two_folders_one_name():
    for name in ("v1.2.tsv", "v1.3.tsv", "old/v1.3.tsv"):
        Path(name).parent.mkdir(exist_ok=True)
        write(name, lines_of("good.tsv"))
    table = run("v1.2.tsv", "v1.3.tsv", "--times", "times.csv").stdout
    assert re.findall(r"^v\S+", table, re.M)[:3] == ["v1.2", "v1.3", "v1.2"]
    table = run("v1.3.tsv", "old/v1.3.tsv", "--times", "times.csv").stdout
    assert re.findall(r"^\S*v\S+", table, re.M)[:3] == ["v1.3.tsv", "old/v1.3.tsv", "v1.3.tsv"]


OTHER_SENTENCES = {
    "another sentence shares `the`, `in` and the full stop": (
        "We ran . The dog slept in a house . = We ran . / Cows eat the grass in May . = 123-------"
    ),
    "a full stop is that of its sentence, though the next one is not in the table": (
        "We all saw itt . He slept . Go on . = We all saw it . / Go on . = 123-----123"
    ),
    "an abbreviation is no sentence": (
        "He saw it . Mr. Low ran . Go on . = He saw it . / Mr. Hall fell . / Go on . = 1234----123"
    ),
    "items have no full stops": (
        "We ran home now / They slept at home = We ran home noww / They slept at home = 123-1234"
    ),
    # without numbers of sentences, it may be one that ends with the item
    "a sentence is of the item that has most of it": (
        "We all saw the big / dog in town . = We all saw the big cat in town . "
        "= 12345---- = 12345-789"
    ),
    "a sentence is of one item": "We saw the / dog . = We saw the cat . / A dog ran . = 123--",
    "a word differs, and one was not timed": (
        "saw green cows today . = We saw grey cows today . = 2-456"
    ),
    "a word is no part of another": (
        "theology the big zoo is far = the ##ology thee big zoo is far = --4567"
    ),
    "subwords are added up, and a token of two words is of neither": (
        "It is n't un-seen / now or never = It isn't / un - seen / now or never = 1--6123"
    ),
}
"""Items of words, sentences of a table, bits of words; a sentence's tokens have 1, 2, 3, ..."""


@pytest.mark.parametrize("header", ["sentence_id,token,surprisal", "word,Surp"])
@pytest.mark.parametrize("case", OTHER_SENTENCES)
def test_no_word_has_the_bits_of_another_sentence(header, case):
    items, sentences, *bits = (part.split(" / ") for part in OTHER_SENTENCES[case].split(" = "))
    times, rows = ["item,position,word,time"], [header]
    for item, text in enumerate(items):
        times += [f"{item},{i},{word},300" for i, word in enumerate(text.split(), 1)]
    for sentence, text in enumerate(sentences):
        place = f"{sentence}," * (header.count(",") - 1)
        rows += [f"{place}{token},{i}" for i, token in enumerate(text.split(), 1)]
    write("some.csv", times)
    write("bits.csv", rows)
    words, reports = align(read_times("some.csv"), read_surprisals("bits.csv"), "bits.csv")
    found = "".join(f"{word.bits:g}" if word else "-" for word in words)
    assert [found] == bits[-(header == "word,Surp")] and reports


@pytest.mark.parametrize(
    ("known", "others"),
    [("known", "1 0 TRUE false 1.0 0.0 True False"), ("unknown", "0 1 0 2 0 1 0 9")],
)
def test_what_is_known_is_said_in_one_way(known, others):
    write("bits.csv", [f"content,surp,{known}", *(f"a,1,{cell}" for cell in others.split())])
    assert [token.is_known for token in read_surprisals("bits.csv")] == [True, False] * 4
    for cell in ("yes", "-1", ""):
        change("bits.csv", f"a,1,{others[0]}\n", f"a,1,{cell}\n")
        with pytest.raises(InputError, match=f"bits.csv:2: column '{known}': '{cell}' is n"):
            read_surprisals("bits.csv")
        change("bits.csv", f"a,1,{cell}\n", f"a,1,{others[0]}\n")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("token surp", "1: columns are separated by tabs, commas or semicolons; this line has b"),
        ("token,surp,llm_surp", "1: 'surp' and 'llm_surp' may both be the column 'surprisal'"),
        ("token,bits", "1: no column 'surprisal'; the columns are: token, bits"),
        ("token,surprisal\na,-3\nb,-4", "2: .* log probabilities need the other sign"),
    ],
)
def test_tables_that_are_none(header, says):
    write("bits.csv", [header])
    with pytest.raises(InputError, match=f"bits.csv:{says}"):
        read_surprisals("bits.csv")


def test_a_table_of_another_program_has_its_own_names_and_units():
    write("nats.tsv", ["id\tn\tword\tunk\tknown\tnats", *lines_of("good.tsv")[1:]])
    lows, in_nats = [], ["--column", "surprisal=nats", "--unit", "nats"]
    for path, options in (("good.tsv", []), ("nats.tsv", in_nats)):
        run(path, *options, "--times", "times.csv", "-o", "c.tsv")
        found = [*csv.DictReader(lines_of("c.tsv"), delimiter="\t")]
        assert [row["predictor"] for row in found[1:4]] == ["surprisal_1", "surprisal_2", "length"]
        lows.append(float(found[1]["low"]))
    assert lows[1] == pytest.approx(lows[0] * math.log(2))


@pytest.mark.parametrize(
    ("exclude", "column"), [("first", "sentence_id"), ("last", "sentence_id"), ("unknown", "known")]
)
def test_exclusions_need_their_columns(exclude, column):
    change("good.tsv", "sentence_id\ttoken_id\ttoken\tunk\tknown", "a\tb\ttoken\tc\td")
    times = read_times("times.csv")
    with pytest.raises(RnngError, match=f"{exclude} needs the column {column} in every table"):
        rows_used(times, systems_of(times, "noise", "good"), Design(), exclude=[exclude])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("item,position", "item,place", ":1: no column 'position'; the columns are: item, place"),
        ("time,count\n", "time,count\n9,1,x,3,1\n9,1,x,3,2\n", ":3: '2', but line 2 has '1' at"),
        ("time,count\n", "time,count\n9,1,x,3,1.5\n", "'1.5' is no count (a whole number, not its"),
        ("\n8,12,", "\n8,twelve,", ":2: column 'position': 'twelve' is no number"),
        ("\n8,12,", "\n8,nan,", ":2: column 'position': 'nan' is no number"),
        ("\n8,12,", "\n8,1_2,", ":2: column 'position': '1_2' is no number"),
        ("\n8,12,", "\n8,11,", "line 2 has"),
        ("\n8,12,", "\n,12,", "times.csv:2: no item in this row"),
        ("time,count\n", 'time,count\n1,1,a,"1,150",1\n', ":2: column 'time': '1,150' may have thousands"),
        ("\n4,12,", "\n1,1,", "at the same item and position"),
        ("time,count\n", "time,count\n4,12,x,slow,3\n", ":2: column 'time': 'slow' is no number"),
        ("time,count\n", "time,count\n4,12,x,inf,3\n", ":2: column 'time': 'inf' is no number"),
        ("time,count\n", "time,count\n4,12,x,3,-1\n", ":2: column 'count': '-1' is no count"),
        ("time,count\n", "time,count\n9,1,x,3,1\n9,1,x,3,1\n", ":3: item 9, position 1, is in a line before as well"),
    ],
)  # fmt: skip
def test_a_table_of_times_that_is_none(old, new, says):
    change("times.csv", old, new)
    with pytest.raises(InputError, match=r"times.csv") as raised:
        read_times("times.csv", {"frequency": "count"})
    assert says in str(raised.value)


def test_one_item_has_no_cross_validation():
    write("times.csv", [line for line in lines_of("times.csv") if line.startswith(("item", "1,"))])
    times, rows = read_times("times.csv"), read_surprisals("good.tsv")[:WORDS]
    with pytest.raises(RnngError, match="two items at least"):
        study_of(times, {"good": rows})
    with pytest.raises(RnngError, match=r"no row of times.csv is left: first words of an item"):
        study_of(times, {"good": rows}, times_between=(1.0, 2.0))
    write("times.csv", lines_of("times.csv")[:1])
    with pytest.raises(InputError, match="no reading times"):
        read_times("times.csv")


@pytest.mark.parametrize("third", [lambda x: x[:, 0] - 2 * x[:, 1], lambda x: 0 * x[:, 0] + 0.1])
def test_predictors_that_no_regression_takes_are_named(third):
    random = np.random.default_rng(2)
    x, y = random.normal(size=(20, 2)), random.normal(size=20)
    with pytest.raises(RnngError, match="the predictor c is the same in all rows of a"):
        least_squares(y, np.column_stack([x, third(x)]), "abc")
    with pytest.raises(RnngError, match="3 rows are too few for 2 predictors: a, b"):
        least_squares(y[:3], x[:3], "ab")


# --- the command


def test_figures_and_the_joined_table():
    given = "good.tsv noise.tsv --times times.csv --column frequency=count -o joined.csv -o mixed.R"
    result = run(*given.split())
    assert "|column:frequency=count|" in result.stderr
    used = ITEMS * (WORDS - 2)
    assert f"{used} of {ITEMS * WORDS} rows in {ITEMS} items, {ITEMS} folds" in result.stderr
    printed = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in printed if row][:5] == ["system", "good", "noise", "first", "good"]
    _, good, other, _, _, pair, _, _, surprisal, *_ = printed
    assert good[1:4] == [str(used), str(ITEMS), str(ITEMS)]
    bits, delta, _ = good[4:]
    assert surprisal[:2] == ["good", "surprisal"] and float(surprisal[3]) < 4 < float(surprisal[4])
    assert float(pair[2]) == pytest.approx(float(delta) - float(other[5]), abs=2e-6)
    rows = [*csv.DictReader(lines_of("joined.csv"))]
    assert len(rows) == 2 * used
    assert {row["condition"] for row in rows} == {""}
    of_good = [row for row in rows if row["system"] == "good"]

    def mean(name):
        return sum(float(row[name]) for row in of_good) / used

    assert mean("surprisal") == pytest.approx(float(bits), abs=1e-4)
    more = mean("log_likelihood") - mean("log_likelihood_without")
    assert more == pytest.approx(float(delta), abs=1e-6)
    assert {(row["item"], row["position"]) for row in rows} == {
        (str(item), str(place)) for item in range(1, ITEMS + 1) for place in range(3, WORDS + 1)
    }
    script = Path("mixed.R").read_text(encoding="utf-8")
    assert 'read.csv("joined.csv"' in script and "(1 | item)" in script
    assert '"surprisal" = c("`surprisal`", "`surprisal_1`", "`surprisal_2`")' in script
    assert "(1 | subject)" not in script
    change("good.tsv", "sentence_id", "condition")
    run("good.tsv", "--times", "times.csv", "-o", "joined.csv")
    assert {row["condition"] for row in csv.DictReader(lines_of("joined.csv"))} > {"1", "2"}


def test_words_that_differ_stop_the_command_or_are_reported():
    change("good.tsv", "\n1\t3\t", "\n1\t3\tx")
    arguments = ("good.tsv", "--times", "times.csv", "-o", "joined.csv")
    said = refused(Path(), "reading-times", *arguments)
    assert "good.tsv:4: 'x" in said and "times.csv:" in said and re.search("allow.missing", said)
    assert not os.path.exists("joined.csv")
    result = run(*arguments, "--allow-missing")
    assert "not aligned: times.csv:" in result.stderr
    assert "left out: 1, not in every table of surprisals" in result.stderr


def test_other_measures_alone_and_over_surprisal():
    """`gpt-2` is a column of the table of `good`, and is measured as if it were a system."""
    noise = [line.split("\t")[-1] for line in lines_of("noise.tsv")[1:]]
    header, *rows = lines_of("good.tsv")
    both = [f"{row}\t{bits}" for row, bits in zip(rows, noise, strict=True)]
    write("both.tsv", [f"{header}\tgpt-2", *both])
    arguments = ["both.tsv", "--times", "times.csv", "--measure", "surprisal,gpt-2"]
    table = run(*arguments, "-o", "alone.csv", "-o", "mixed.R", "--format", "txt", "-o", "a.txt")
    alone = [line.split() for line in lines_of("a.txt")]
    both = run("good.tsv", "noise.tsv", *arguments[1:3]).stdout
    systems = [line.split() for line in both.splitlines()]
    assert alone[0][:2] == ["system", "measure"] and not table.stdout
    assert [row[2:] for row in alone[1:3]] == [row[1:] for row in systems[1:3]]
    assert alone[5][:4] == ["both", "surprisal", "both", "gpt-2"]
    script = Path("mixed.R").read_text(encoding="utf-8")
    assert '"gpt-2" = c("`gpt-2`", "`gpt-2_1`", "`gpt-2_2`")' in script
    over = run(*arguments[:3], "--measure", "gpt-2", "--over", "surprisal", "-o", "c.tsv")
    assert "not a predictor" not in over.stderr
    rows = [*csv.DictReader(lines_of("c.tsv"), delimiter="\t")]
    assert {"gpt-2", "gpt-2_2", "surprisal", "surprisal_2"} <= {row["predictor"] for row in rows}
    by_name = {row["predictor"]: float(row["coefficient"]) for row in rows}
    assert abs(by_name["gpt-2"]) < 0.5 < 3 < by_name["surprisal"]
    said = refused(Path(), "reading-times", *arguments[:3], "--measure", "length")
    assert "no column 'length'" in said
    change("both.tsv", "\n1\t3\t", "\n1\t3\tx")
    incomplete = run(*arguments[:3], "--measure", "gpt-2", "--allow-missing").stderr
    assert "left out: 2, no gpt-2 of the word or a word before it" in incomplete


def test_several_columns_of_times_and_the_rows_of_one_value():
    header, *rows = lines_of("times.csv")
    rows = [f"{row},{2 * float(row.split(',')[3]):.3f},{int(row[0]) % 2}" for row in rows]
    write("times.csv", [f"{header},double,odd", *rows])
    arguments = ["good.tsv", "--times", "times.csv"]
    more = "--column time=time,double --spillover 0 -o j.csv -o c.tsv"
    columns = [*arguments, *more.split()]
    said = run(*columns, "--where", "odd=1", "--where", "token_id=4").stderr
    assert f"left out: {ITEMS * WORDS // 2}, not odd=1" in said
    assert f"{ITEMS} of {ITEMS * WORDS} rows in {ITEMS // 2} items" in said
    joined = [*csv.DictReader(lines_of("j.csv"))]
    assert [row["times"] for row in joined] == ["time"] * ITEMS + ["double"] * ITEMS
    assert {(row["odd"], row["token_id"], row["known"]) for row in joined} == {("1", "4", "1")}
    slopes = {"time": [], "double": []}
    for row in csv.DictReader(lines_of("c.tsv"), delimiter="\t"):
        slopes[row["times"]].append(float(row["coefficient"]))
    assert slopes["double"] == pytest.approx([2 * x for x in slopes["time"]], rel=1e-4, abs=1e-3)
    said = refused(Path(), "reading-times", *arguments, "--where", "region=3")
    assert "no column 'region' in the table of times, nor in those of surprisals" in said
    said = refused(Path(), "reading-times", "noise.tsv", *arguments, "--where", "known=0")
    assert "no row of times.csv is left: not known=0: 96" in said


@pytest.mark.parametrize("more", [("--measure", "surprisal,surprisal_1"), ("--over", "length_2")])
def test_predictors_of_one_name_are_refused(more):
    name = more[1].rpartition(",")[2]
    rows = [f"{row}\t1" for row in lines_of("good.tsv")[1:]]
    write("good.tsv", [f"sentence_id\ttoken_id\ttoken\tunk\tknown\tsurprisal\t{name}", *rows])
    said = refused(Path(), "reading-times", "good.tsv", "--times", "times.csv", *more)
    assert f"'{name}' would be the name of two predictors" in said


def test_items_and_conditions_have_the_same_names_in_both_tables():
    rows = [line.split("\t") for line in lines_of("good.tsv")[1:]]
    # in the order of another reader
    named = [f"{(int(row[0]) + 1) // 2}\t{row[2]}\t{row[5]}" for row in rows]
    named.sort(key=lambda line: -int(line.split("\t")[0]))
    write("named.tsv", ["Satz\ttoken\tsurprisal", *named])
    change("times.csv", "item,", "Satz,")
    arguments = ["--times", "times.csv", "--column", "item=Satz", "-o", "c.tsv"]
    found = []
    for name in ("good", "named"):
        run(f"{name}.tsv", *arguments)
        found.append([line.split("\t")[2:] for line in lines_of("c.tsv")])
    assert found[0] == found[1]
    change("named.tsv", "Satz", "Item No.")
    run("named.tsv", *arguments)
    assert found[0] == [line.split("\t")[2:] for line in lines_of("c.tsv")]
    said = refused(Path(), "reading-times", "named.tsv", *arguments, "--exclude", "last")
    assert "last needs the column sentence_id in every table" in said


def test_a_regression_predicts_times_of_other_texts():
    items = ["item", "condition", "region_name", "region", "word_id", "token", "surprisal"]
    texts = [("noun", 1, "the"), ("noun", 1, "dog"), ("verb", 2, "ran"), ("verb", 2, "off")]
    rows = [
        ("1", condition, name, number, i, word, bits)
        for condition, bits in (("a", 2), ("b", 5))
        for i, (name, number, word) in enumerate(texts, 1)
    ]
    write("items.tsv", ["\t".join(map(str, row)) for row in (items, *rows)])
    arguments = ["good.tsv", "--times", "times.csv", "--spillover", "1", "-o", "c.tsv"]
    formula = "(verb;%b%) > (verb;%a%)"
    run(*arguments, "--predict", "items.tsv", "--effects", "e.csv", "--prediction", formula)
    rows = csv.DictReader(lines_of("c.tsv"), delimiter="\t")
    slope, before, *_ = (float(row["coefficient"]) for row in rows)
    effects = {(row["effect"], row["name"]): row for row in csv.DictReader(lines_of("e.csv"))}
    assert float(effects["b", "verb"]["mean"]) == pytest.approx(2 * 5 * (slope + before), rel=1e-5)
    assert float(effects[formula, ""]["mean"]) == pytest.approx(2 * 3 * (slope + before), rel=1e-5)
    # the first word has none before it
    assert effects["a", "noun"]["items"] == "0"
    # in another order, and without a word, which is not passed over, or without a region
    header, *rows = lines_of("items.tsv")
    more = [f"2{row[1:]}" for row in rows if "a\tverb" not in row]
    kept = [row for row in rows if "\t2\tdog" not in row]
    for some, end in (rows[::-1] + more, lines_of("e.csv")[1][-20:]), (kept, ",0,nan,nan,nan"):
        write("items.tsv", [header, *some])
        run(*arguments, "--predict", "items.tsv", "--effects", "g.csv", "--prediction", formula)
        assert lines_of("g.csv")[1].endswith(end)
    write("items.tsv", [header, *rows])
    change("items.tsv", "b\tverb\t2", "b\tverb\t3")
    arguments += ["--predict", "items.tsv", "--effects", "f.csv"]
    said = refused(Path(), "reading-times", *arguments, "--prediction", formula)
    assert "'verb' names no region, or regions" in said
    for old, new, says in (
        ("2\t4\toff", "2\t3\toff", "2: item 1: several rows of one word_id"),
        ("1\t2\tdog", "1\tx\tdog", "3: could not convert string to float: 'x'"),
        ("word_id", "position", "1: no column 'word_id'"),
    ):
        change("items.tsv", old, new)
        assert f"items.tsv:{says}" in refused(Path(), "reading-times", *arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--predict", "good.tsv"], "--predict and --effects go together"),
        (["--predict", "b", "--effects", "e.json"], "e.json: name a file in .tsv or .csv"),
        (["--where", "item"], "'item' is no NAME=VALUE"),
        (["good.tsv"], "the same file twice among the systems"),
        (["--column", "colour=x"], "with one of item, position"),
        (["-o", "x.R"], "reads the joined table: add -o FILE.csv"),
        (["--over", "surprisal"], "--over is the only --measure"),
    ],
)
def test_arguments_that_do_not_fit(arguments, says):
    os.mkdir("b")
    write("b/good.tsv", lines_of("good.tsv"))
    said = refused(Path(), "reading-times", "good.tsv", *arguments, "--times", "times.csv")
    assert says in " ".join(said.split())
