"""`--tags`: which POS tags a parser reads its input with, and the line that says which they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from oracle.errors import RnngError
from oracle.sentences import SourceSentence
from rnng_dy import registry
from rnng_dy.cli.quiet import say

AUTO, GIVEN, OWN = "auto", "given", "own"

tags_option = click.option(
    "--tags",
    "tags_from",
    type=click.Choice([AUTO, GIVEN, OWN]),
    default=AUTO,
    show_default=True,
    help="POS tags that the parser reads: those given in INPUT, those of the parser's own tagger whatever INPUT has, "
    "or given ones where there are some and its own where not.",
)


class TagChoice:
    """Gives sentences the tags that a model reads them with, and counts whose they were."""

    def __init__(self, model, tags_from: str):
        """`tags_from` is what --tags says. Raises RnngError where the model has no tags of its own to give."""
        is_parser = not registry.kind(model.kind).generates_words
        reads_tags = is_parser and model.vocabulary.tags is not None
        if tags_from == OWN and not reads_tags:
            raise RnngError("--tags own: this model reads no POS tags, it has no tagger")
        self._model, self._from, self._reads_tags = model, tags_from, reads_tags
        self._sentences = self._own = 0

    def tagged(self, sentence: SourceSentence) -> SourceSentence:
        """The sentence with the tags that the model reads. Raises RnngError where it needs some and has none."""
        if not self._reads_tags:
            return sentence
        tags = self._tags(sentence)
        self._sentences += 1
        self._own += tags is not sentence.tags
        return replace(sentence, tags=tuple(tags))

    def _tags(self, sentence: SourceSentence) -> Sequence[str]:
        if self._from == OWN:
            return self._model.tags_for(sentence.tokens)
        if self._from == AUTO:
            return self._model.tags_read(sentence.tokens, sentence.tags)
        if sentence.tags is None:
            raise RnngError("no POS tags, which --tags given asks for: see to --tags auto")
        return sentence.tags

    def report(self) -> None:
        """Say which sentences have other tags than were given."""
        if self._own == self._sentences > 0:
            say("tags: by the model's own tagger")
        elif self._own:
            say(f"tags: by the model's own tagger in {self._own} of {self._sentences} sentences")
