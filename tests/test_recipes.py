"""docs/recipes.md: each recipe runs in an empty folder, and its results are there."""

from __future__ import annotations

import csv
import re

import pytest

from . import pages

PAGE = pages.CHECKOUT / "docs" / "recipes.md"
RECIPES = re.split(r"^## \d+\. ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
NEEDS_NLTK = "prepare --from nltk"


@pytest.mark.parametrize("recipe", RECIPES, ids=[text.partition("\n")[0] for text in RECIPES])
def test_the_recipe_runs_in_an_empty_folder(recipe, here, request):
    if NEEDS_NLTK in recipe:
        request.getfixturevalue("shared")
    page = here / "recipe.md"
    page.write_text(recipe, encoding="utf-8")
    printed = pages.run_commands(page)
    assert 2 <= len(printed) <= 12
    named = {name for line, _ in printed for name in re.findall(r" (?:-o|--effects) (\S+)", line)}
    for name in named:
        assert (here / name).stat().st_size > 100, name
    assert named or printed[-1][1]


def names_of(library, here):
    """Runs the first recipe that imports a library, if that is installed; gives its program's names."""
    pytest.importorskip(library)
    recipe, *_ = [t for t in RECIPES if re.search(rf"^(import|from) {library}\b", t, re.M)]
    page = here / "recipe.md"
    page.write_text(recipe, encoding="utf-8")
    pages.run_commands(page)
    [program] = [text for text in pages.blocks(page, "python") if library in text]
    names = {}
    exec(program, names)
    return names


def test_a_regressor_of_fmri_has_the_responses_to_the_words(here):
    names = names_of("nilearn", here)
    regressor, bits = names["regressor"][:, 0], names["words"]["surprisal"]
    # the canonical response is highest about five seconds after a word
    assert len(bits) == 10 and 5 <= names["scans"][regressor.argmax()] <= 9
    assert regressor[0] == pytest.approx(0, abs=1e-6)


def test_a_temporal_response_is_found_where_it_was_made(here):
    responses = names_of("mne", here)["trf"].coef_[:, 0]
    # 0.3 s after the word, from 0.1 s before it
    assert [abs(response).argmax() for response in responses] == [40, 40]
    assert responses[:, 40] == pytest.approx([0.5, -1.0], abs=0.01)


def test_data_frames_have_a_row_per_condition(here, capsys):
    names_of("pandas", here)
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert [line.split()[0] for line in lines] == ["ambiguous", "comma"]
    with (here / "regions.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["region"] for row in csv.DictReader(stream)] == ["1", "2", "3", "4"] * 2
