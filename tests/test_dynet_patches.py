"""The patches of the DyNet recipe, and the strict way in which they are applied."""

from __future__ import annotations

import hashlib

import pytest

from oracle.errors import InputError
from scripts.dynet.installer import build, cache
from scripts.dynet.installer.patching import apply_patch

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
    assert apply_patch(tmp_path / "x.diff", tmp_path) == ["words"]
    assert (tmp_path / "words").read_text() == "the\nangry\ncat\nmeows\n"


@pytest.mark.parametrize(
    ("text", "diff", "line"),
    [
        ("a\nthe\nhungry\ncat\n", DIFF, 5),
        ("the\nhungry\ndog\n", DIFF, 8),
        ("the\nhungry\n", DIFF, 8),
        ("the\nhungry\ncat\n", DIFF + "end\n", 9),
        ("the\nhungry\ncat\n", DIFF[:-5], None),
        ("the\nhungry\ncat\n", "nothing\n", None),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(tmp_path, text, diff, line):
    (tmp_path / "words").write_text(text)
    (tmp_path / "x.diff").write_text(diff)
    with pytest.raises(InputError) as raised:
        apply_patch(tmp_path / "x.diff", tmp_path)
    assert (raised.value.path, raised.value.line) == (tmp_path / "x.diff", line)
    assert (tmp_path / "words").read_text() == text


def test_the_patches_apply_in_order_to_the_sdist(tmp_path):
    sdists = list((cache.cache_folder() / "sdist").glob("*.tar.gz"))
    if not sdists:
        pytest.skip("no DyNet sdist in the cache: `make setup` brings it when it builds the wheel")
    assert hashlib.sha256(sdists[0].read_bytes()).hexdigest() == build.checksum()
    tree = build.unpack(sdists[0], tmp_path)
    assert "minus_const, elu" in (tree / "dynet" / "sig.h").read_text()
    assert (tree / "setup.py").read_text() == (cache.RECIPE / "setup.py").read_text()
