"""What REDUCE makes of stacks: constituents, those with as many children composed together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from oracle.transitions import TransitionSystem
from rnng_dy.engine import dy
from rnng_dy.models.composition import Composition, Parts, Reduction
from rnng_dy.models.configurations import Configuration, Push
from rnng_dy.models.derivations import Constituent, Derivations
from rnng_dy.rows import Block, Row, as_rows, numbered, rows_of_block


class Constituents:
    """Makes them by a composition, each once where it depends on nothing but its label and children."""

    def __init__(
        self, transitions: TransitionSystem, compose: Composition, labels: dy.LookupParameters
    ):
        """`labels` are the labels' vectors for the composition."""
        self._transitions, self._compose, self._labels = transitions, compose, labels

    def reduce(
        self, configurations: Sequence[Configuration], members: Sequence[int], dropout: float
    ) -> list[Push]:
        """The constituents that REDUCE makes of the stacks of some configurations."""
        found, fresh, own = [], {}, {}
        for i in members:
            c = configurations[i]
            opened, children, below = self._transitions.constituent(c.stack)
            known, key = c.graph.constituents, (opened.label, *[child.name for child in children])
            if self._compose.depends_on_state:
                # this configuration's own, of no use to others
                known, key = own, i
            found.append((i, below, known, key))
            if key not in known or not known[key][1].is_usable:
                fresh[c.graph, key] = (known, (opened, children, c.u))
        keys = list(fresh)
        for group, composed in self._composed([parts for _, parts in fresh.values()], dropout):
            block = Block([composed], len(group))
            for k, (graph, key) in enumerate(keys[i] for i in group):
                known, _ = fresh[graph, key]
                known[key] = (graph.new_name(), Row(block, k))
        return [
            Push(i, below, known[key][1], None, known[key][0]) for i, below, known, key in found
        ]

    def known(
        self, known: Derivations, vectors: Mapping[int, Row], dropout: float
    ) -> dict[int, Row]:
        """The constituents of trees that are known in advance, by number, from `vectors` of words and opened ones."""
        found = dict(vectors)
        if known.labels:
            labels = dy.lookup_batch(self._labels, [*known.labels])
            found |= numbered(known.labels.values(), labels)
        for of_height in known.constituents:
            composed = self._compose.together(of_height.values(), found, dropout)
            found |= numbered(of_height, composed)
        return found

    def weights(self, configurations: Sequence[Configuration]) -> list[tuple[str, np.ndarray]]:
        """Of the constituent that REDUCE makes of each stack, the label and how much of each child goes in.

        Weights have shape (children,); reading them runs the graph.
        """
        parts = [(*self._transitions.constituent(c.stack)[:2], c.u) for c in configurations]
        found = {}
        for group, reduction in self._reductions(parts):
            found.update(zip(group, as_rows(self._compose.weights(reduction)), strict=True))
        labels = (self._transitions.nonterminals[opened.label] for opened, *_ in parts)
        return [(label, found[i]) for i, label in enumerate(labels)]

    def _composed(
        self, parts: Sequence[Parts], dropout: float
    ) -> Iterator[tuple[list[int], dy.Expression]]:
        """Vectors of constituents, and which each expression has."""
        if not parts:
            return
        if self._compose.together:
            yield list(range(len(parts))), self._together(parts, dropout)
            return
        found = list(self._reductions(parts))
        if self._compose.mixed:
            reductions = [reduction for _, reduction in found]
            yield [i for group, _ in found for i in group], self._compose.mixed(reductions, dropout)
            return
        for group, reduction in found:
            yield group, self._compose(reduction, dropout)

    def _together(self, parts: Sequence[Parts], dropout: float) -> dy.Expression:
        """Vectors of constituents that depend on nothing but label and children."""
        labels = {label: k for k, label in enumerate(dict.fromkeys(p[0].label for p in parts))}
        rows = rows_of_block([dy.lookup_batch(self._labels, [*labels])], len(labels))
        constituents = []
        for opened, children, _ in parts:
            first = len(rows)
            rows += [opened.vector, *(child.vector for child in children)]
            numbers = tuple(range(first + 1, len(rows)))
            constituents.append(Constituent(labels[opened.label], first, numbers))
        return self._compose.together(constituents, dict(enumerate(rows)), dropout)

    def _reductions(self, parts: Sequence[Parts]) -> Iterator[tuple[list[int], Reduction]]:
        """Groups of constituents, as their indices and what a composition sees of them."""
        of_size: dict[int, list[int]] = defaultdict(list)
        for i, (_, children, _) in enumerate(parts):
            of_size[len(children)].append(i)
        for group in of_size.values():
            yield group, Reduction(self._labels, [parts[i] for i in group])
