"""The evalb command and its parameter files; EVALB's own output on reference data."""

import json
import re
from functools import partial

import pytest

from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.evaluation.evalb_params import BUILT_IN, Params
from tests.commands import invoke, messages

GOLD = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))"

run = partial(invoke, "evalb")


def figures(*arguments):
    return json.loads(run(*arguments, "--format", "json").stdout)["figures"]["all"]


def write(path, *lines: str):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --- EVALB's own output


@pytest.mark.parametrize("corpus", ["gum", "ptb"])
@pytest.mark.parametrize("rules", ["COLLINS", "new"])
def test_evalb_format_is_evalbs_output_byte_for_byte(shared, corpus, rules):
    folder = shared / "evalb_reference"
    params = folder / f"{rules}.prm"
    gold, system = folder / f"{corpus}.gold", folder / f"{corpus}.sys"
    result = run(gold, system, "--params", params, "--format", "evalb")
    assert result.stdout_bytes == (folder / f"{corpus}.{rules}.out").read_bytes()
    assert messages(result) == (folder / f"{corpus}.{rules}.err").read_text()


@pytest.mark.parametrize("name", ["COLLINS", "new"])
def test_built_in_rules_are_those_of_the_parameter_files(shared, name):
    assert Params.read(shared / "evalb_reference" / f"{name}.prm") == BUILT_IN[name.lower()]


# --- parameter files

STATEMENTS = """
# a comment
DEBUG 1
MAX_ERROR   3
CUTOFF_LEN\t20
LABELED 0
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL POS
EQ_LABEL ADVP PRT
EQ_WORD colour color
"""


def test_every_statement_of_a_parameter_file(tmp_path):
    assert Params.read(write(tmp_path / "a.prm", STATEMENTS)) == Params(
        delete_label=frozenset(["TOP", "-NONE-"]),
        delete_label_for_length=frozenset(["-NONE-"]),
        quote_label=frozenset(["POS"]),
        eq_label=frozenset([("ADVP", "PRT")]),
        eq_word=frozenset([("colour", "color")]),
        cutoff_len=20,
        labeled=False,
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE_LABEL", "DELETE_LABEL takes 1 word, not 0"),
        ("EQ_LABEL A", "EQ_LABEL takes 2 words, not 1"),
        ("CUTOFF_LEN many", "invalid literal for int"),
        ("DELETE_LABELS A", "unknown statement `DELETE_LABELS`"),
    ],
)
def test_bad_statements_name_their_line(tmp_path, statement, message):
    prm = write(tmp_path / "bad.prm", "# rules", "", statement)
    gold = write(tmp_path / "gold", GOLD)
    said = run(gold, gold, "--params", prm, code=2).stderr
    assert said.startswith(f"Error: {prm}:3: {message}")


# --- the command


def test_table_names_every_sentence_that_is_not_scored(tmp_path):
    gold = write(tmp_path / "gold", GOLD, "(S (NN a))", "(S (NN a))")
    system = write(tmp_path / "sys", GOLD, "", "(S (NN b))")
    result = run(gold, system)
    rows = dict(line.rsplit(maxsplit=2)[:2] for line in result.stdout.splitlines()[1:13])
    assert rows["Sentences"] == "3" and rows["Valid"] == "1" and rows["F1"] == "100.00"
    assert "sentence 2: skipped, No words in the system's tree" in result.stdout
    assert "sentence 3: error, Words unmatch (a|b)" in result.stdout


def test_json_from_standard_input(tmp_path):
    gold = write(tmp_path / "gold", GOLD, "(S (NN a))")
    result = run(gold, "-", "--format", "json", input=f"{GOLD.replace('VP', 'X')}\n\n")
    report = json.loads(result.stdout)
    assert report["figures"]["all"]["recall"] == pytest.approx(200 / 3)
    assert report["figures"]["all"]["matched_brackets"] == 2
    assert report["figures"]["len<=40"]["sentences"] == 2
    problem = "No words in the system's tree"
    [[found]] = report["not_scored"].values()
    assert found == {"sentence": 2, "status": "skipped", "problem": problem}


@pytest.mark.parametrize(
    ("gold", "system", "where", "message"),
    [
        ([GOLD, GOLD], [GOLD], "system:2", "there is no tree here, and"),
        ([], [GOLD], "gold:1", "the file is empty"),
        ([GOLD, "(S (NN a)))"], [GOLD, GOLD], "gold:2", ""),
        ([GOLD], ["(S (NP the cat) (VP sleeps) .)"], "system:1", "has no tag"),
        ([f"{GOLD} {GOLD}"], [GOLD], "gold:1", ""),
    ],
)
def test_files_that_do_not_fit_are_refused_with_their_line(tmp_path, gold, system, where, message):
    files = write(tmp_path / "gold", *gold), write(tmp_path / "system", *system)
    said = run(*files, code=2).stderr
    assert said.count("\n") == 1
    assert said.startswith(f"Error: {tmp_path / where}: ")
    assert message in said


@pytest.mark.parametrize("line", ["", " \t", "()", "(())", "(TOP)", "( (S (NP ) ) )"])
def test_a_line_without_a_parse_is_a_skipped_sentence(tmp_path, line):
    gold = write(tmp_path / "gold", GOLD, GOLD)
    system = write(tmp_path / "sys", line, GOLD)
    found = figures(gold, system)
    assert (found["skipped"], found["valid"], found["f1"]) == (1, 1, 100.0)
    # `prepare` leaves it out, and counts it
    prepared = invoke("prepare", "--from", "trees", system)
    assert prepared.stdout == f"{GOLD}\n"
    assert f"{1 + ('(' in line)} trees read, {int('(' in line)} emptied" in prepared.stderr


def test_no_sentence_that_can_be_scored_is_no_f1_of_0(tmp_path):
    gold, system = write(tmp_path / "gold", GOLD), write(tmp_path / "sys", "(TOP)")
    result = run(gold, system, "-o", "-", "-o", tmp_path / "x.json", code=1)
    assert "No sentence can be scored" in result.stdout and "F1" not in result.stdout
    assert json.loads((tmp_path / "x.json").read_text())["figures"] == {}


def test_a_file_of_parameters_may_ignore_labels(tmp_path):
    """The system's NP and VP are called X; its last bracket is a word too long."""
    gold = write(tmp_path / "gold", "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps) (ADVP (RB well))))")
    system = write(tmp_path / "sys", "(S (X (DT the) (NN cat)) (X (X (VBZ sleeps) (RB well))))")
    rules = write(tmp_path / "rules.prm", "LABELED 0")
    for params, f1 in (("collins", 25), (rules, 75)):
        assert figures(gold, system, "--params", params)["f1"] == pytest.approx(f1)


# --- several systems

PP = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog) (PP (P in) (NP (N parks))))))"
FLAT = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (N parks)))))"
POOR = "(S (NP (D the)) (VP (N cat) (V saw) (D a) (N dog) (P in) (N parks)))"
OTHER = "(S (NP (N dogs)) (VP (V bark)))"


def test_the_command_compares_what_every_system_has_and_says_what_is_left_out(tmp_path):
    """A sentence that one system lacks does not count for the other, whose worst it is."""
    gold = write(tmp_path / "gold", PP, OTHER, OTHER)
    few = write(tmp_path / "few", "()", OTHER, OTHER)
    every = write(tmp_path / "all", POOR, OTHER, OTHER)
    result = run(gold, few, every)
    assert result.stdout.startswith("Figures are of the 2 of 3 sentences that all systems have\n")
    assert "\nF1                    100.00  100.00\n" in result.stdout
    too_few = "no interval, no p: the systems differ in fewer than 6 sentences"
    assert f"F1 of all less few: +0.00 ({too_few})\n" in result.stdout
    assert "Not scored of few (1 of 3):\n  sentence 1: skipped" in result.stdout
    found = json.loads(run(gold, few, every, "--format", "json").stdout)
    assert found["not_scored"]["few"][0]["sentence"] == 1
    assert found["figures"]["all"]["valid"] == 2
    none = write(tmp_path / "none", "()", "()", "()")
    assert "no sentence can be scored for every system" in run(gold, none, every, code=2).stderr


def test_any_number_of_systems_all_pairs_with_holms_correction(tmp_path):
    many = 40
    trees = {"gold": [PP], "poor": [POOR], "flat": [FLAT], "same": [FLAT]}
    files = [write(tmp_path / name, *(many - 1) * of, *of) for name, of in trees.items()]
    write(files[3], *(many - 1) * [FLAT], PP)
    result = run(*files)
    f1 = [found.f1 for found in score_systems(*map(str, files[:1]), map(str, files[1:]))]
    [shown] = [line.split()[1:] for line in result.stdout.splitlines() if line.startswith("F1  ")]
    assert shown == [f"{value:.2f}" for value in f1]
    lines = [line for line in result.stdout.splitlines() if line.startswith("F1 of ")]
    pairs = ["flat less poor", "same less poor", "same less flat"]
    assert [line.split(":")[0] for line in lines] == [f"F1 of {pair}" for pair in pairs]
    # the least p there is from 10,000 permutations is taken twice
    assert lines[0].endswith("p = 0.0001, by Holm 0.0002)")
    assert lines[1].endswith("p = 0.0001, by Holm 0.0002)")
    # one sentence alone differs
    assert re.search(r"\(95 %: .*, no p: the systems differ in fewer than 6", lines[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Missing argument"),
        (["gold", "gold"], "the same file twice"),
        (["gold", "./gold", "--format", "evalb"], "the listing of EVALB is of one system"),
    ],
)
def test_what_cannot_be_compared_is_refused(here, options, message):
    write(here / "gold", GOLD)
    assert message in run("gold", *options, code=2).stderr


# --- tags


def test_gold_tags_decide_what_is_deleted_of_both_trees(tmp_path):
    """Collins' rules delete the full stop by its tag, which the parser gave to a noun here."""
    gold = write(tmp_path / "gold", GOLD, GOLD, GOLD)
    worse = "(S (NP (DT the)) (VP (. cat) (VBZ sleeps) (. .)))"
    system = write(tmp_path / "sys", GOLD.replace("(. .)", "(NN .)"), worse, GOLD)
    own, by_gold = figures(gold, system), figures(gold, system, "--gold-tags")
    assert (own["errors"], own["valid"]) == (2, 1)
    assert (by_gold["errors"], by_gold["valid"]) == (0, 3)
    assert own["f1"] == 100
    # of nine brackets two of the second tree are wrong: NP and VP
    assert by_gold["f1"] == pytest.approx(100 * 7 / 9)
    assert "2 with other words than gold: --gold-tags scores them" in run(gold, system).stderr
    for quiet in (run(gold, system, "--gold-tags"), run(gold, gold)):
        assert messages(quiet) == ""


def test_other_words_stay_errors_with_gold_tags(tmp_path):
    gold = write(tmp_path / "gold", GOLD, GOLD, GOLD)
    system = write(tmp_path / "sys", GOLD.replace("cat", "dog"), GOLD.replace(" (. .)", ""), "()")
    found = run(gold, system, "--gold-tags").stdout
    assert "sentence 1: error, Words unmatch (cat|dog)" in found
    assert "sentence 3: skipped" in found
    # without its full stop, which EVALB deletes in any case
    assert figures(gold, system, "--gold-tags")["valid"] == 1


@pytest.mark.parametrize(
    ("gold", "system", "matched"),
    [
        # the words of the second tree are only children, as if NP and VP were tags
        ([GOLD, "(S (NP (PRP He)) (VP (VBD ran)))"], ["(S (NP UNK UNK) (VP UNK) UNK)", "(S (NP UNK) (VP UNK))"], 6),
        (["(S (NP (PRP He)) (VP (VBD ran)))"] * 2, ["(S (NP UNK) (VP UNK))"] * 2, 6),
        ([GOLD, GOLD], ["(S (NP UNK-LC UNK-LC-s) sleeps UNK)", ""], 2),
        ([GOLD, GOLD], ["(S (NP (XX UNK) (XX UNK)) (XX sleeps) (XX UNK))", ""], 2),
    ],
)  # fmt: skip
def test_an_oracle_gives_back_the_words(tmp_path, gold, system, matched):
    gold, system = write(tmp_path / "gold", *gold), write(tmp_path / "system", *system)
    oracle = tmp_path / "oracle"
    invoke("oracle", "--train", gold, gold, "-o", oracle)
    found = figures(gold, system, "--oracle", oracle)
    assert (found["matched_brackets"], found["precision"]) == (matched, 100)
    write(system, "(S (NP UNK-LC cat) snores .)", "")
    assert "system:1: not the words" in run(gold, system, "--oracle", oracle, code=2).stderr
    write(system, "(S (NP UNK-LC UNK-LC-s) sleeps UNK)")
    refused = run(gold, system, "--oracle", oracle, code=2).stderr
    assert "system: 1 trees for the 2 of the oracle" in refused
