"""The patches of the DyNet recipe, and the strict way in which they are applied."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from scripts.dynet import build
from scripts.dynet.build import apply_patch
from scripts.dynet.target import BuildError

CHECKOUT = Path(__file__).resolve().parent.parent
DIFF = """\
Say why.
--- a/words
+++ b/words
@@ -1,3 +1,3 @@
 the
-hungry
+angry
 cat
"""


def test_a_patch_that_fits_is_applied(tmp_path):
    (tmp_path / "words").write_text("the\nhungry\ncat\nmeows\n")
    (tmp_path / "x.diff").write_text(DIFF)
    apply_patch(tmp_path / "x.diff", tmp_path)
    assert (tmp_path / "words").read_text() == "the\nangry\ncat\nmeows\n"


@pytest.mark.parametrize(
    ("text", "diff", "says"),
    [
        ("a\nthe\nhungry\ncat\n", DIFF, "does not fit words at line 1"),
        ("the\nhungry\ndog\n", DIFF, "does not fit words at line 1"),
        ("the\nhungry\n", DIFF, "does not fit words at line 1"),
        ("the\nhungry\ncat\n", DIFF[:-5], "is cut short"),
        ("the\nhungry\ncat\n", "nothing\n", "no unified diff"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(tmp_path, text, diff, says):
    (tmp_path / "words").write_text(text)
    (tmp_path / "x.diff").write_text(diff)
    with pytest.raises(BuildError, match=rf"x\.diff: .*{says}"):
        apply_patch(tmp_path / "x.diff", tmp_path)
    assert (tmp_path / "words").read_text() == text


def test_the_patches_apply_in_order_to_the_sdist(tmp_path):
    sdists = list((build.cache_folder() / "sdist").glob("*.tar.gz"))
    if not sdists:
        pytest.skip("no DyNet sdist in the cache: `make setup` brings it when it builds the wheel")
    checksum = hashlib.sha256(sdists[0].read_bytes()).hexdigest()
    assert checksum in (build.RECIPE / "sdist.txt").read_text()
    tree = build.unpack(sdists[0], tmp_path)
    assert "minus_const, elu" in (tree / "dynet" / "sig.h").read_text()
    assert (tree / "setup.py").read_text() == (build.RECIPE / "setup.py").read_text()


def named_tests(text: str) -> list[str]:
    """The tests that a text names as FILE::NAME. Fails where one of them does not exist."""
    named = re.findall(r"(tests/\S+\.py)::(\w+)", text)
    for file, name in named:
        assert f"\ndef {name}(" in (CHECKOUT / file).read_text(), (file, name)
    return [name for _, name in named]


def test_there_is_one_patch_a_theme():
    assert len(build.patches()) <= 9


@pytest.mark.parametrize("patch", build.patches(), ids=lambda path: path.stem)
def test_a_patch_says_what_it_changes_and_why_and_names_tests(patch):
    head, *_ = patch.read_text().partition("\n--- a/")
    assert "\n\nWhy: " in head
    assert named_tests(head)


@pytest.mark.parametrize("source", build.sources(), ids=lambda path: path.name)
def test_a_source_says_why_it_is_there_and_names_a_test(source):
    head = re.search(r"(?:^(?://|#) .*\n)+", source.read_text(), re.MULTILINE)[0]
    elsewhere = re.search(r"(\S+) says why\.\n$", head)
    if elsewhere:
        assert (source.parent / elsewhere[1]).is_file()
    else:
        assert " Why: " in head
        assert named_tests(head) or "Test: none without a GPU" in head
