"""`rnng-dy score`: what does not fit."""

from __future__ import annotations

from itertools import islice

from rnng_dy.search import scoring
from tests.commands import invoke

from ..conftest import TINY


def test_what_does_not_fit_into_memory_has_p_0_and_is_named(generator, tmp_path, monkeypatch):
    log_probs, lengths = scoring.tree_log_probs, []

    def full(model, words, actions):
        lengths.append(len(words))
        if lengths[0] == len(words):
            raise MemoryError
        return log_probs(model, words, actions)

    monkeypatch.setattr(scoring, "tree_log_probs", full)
    generator.save(tmp_path / "m")
    with TINY.open(encoding="utf-8") as stream:
        first, second = islice(stream, 2)
    unknown = second.replace("it)", "zorbed)")
    assert unknown != second
    (tmp_path / "t.trees").write_text(first.replace(".)", "zork)") + unknown)
    result = invoke("score", "--model", tmp_path / "m", tmp_path / "t.trees")
    assert "p = 0 because memory ran out: all trees of sentences 1\n" in result.stderr
    first, second = result.stdout.splitlines()
    assert first == f"{lengths[0]}\tinf" != second
    # the words of the first sentence are not counted
    count = f"1 of {lengths[-1]}, zorbed (1)\n"
    assert f"words outside the model's vocabulary: {count}" in result.stderr
