"""A clustering run from corpus to clusters, which can resume from a saved state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import islice

import numpy as np

from clusters.bigrams import BigramCounter, Bigrams
from clusters.brown import BrownClustering, default_classes
from clusters.corpus import open_corpus
from clusters.files import ClusteredWord
from clusters.information import average_mutual_information
from clusters.state import COUNTS, MERGES, SavedState
from clusters.unseen import place_unseen, rules_of
from oracle.errors import placed
from oracle.files import file_hash
from oracle.unknown import RULES, unknown_classes

Keep = Callable[[Callable[[], None]], None]
"""Called after each step with a function that saves the state; it calls that function when a save is due."""


@dataclass(frozen=True)
class Options:
    """The options that decide the clusters of a corpus."""

    corpus_format: str | None = None
    """None: decided by the first line."""
    classes: int | None = None
    """Number of clusters; None: see `default_classes`."""
    min_count: int = 1
    within_sentences: bool = False
    unk: str | None = None
    """Rules of the unknown-word classes to place, or `none`; None: the rules that the corpus shows."""
    refine: bool = False


class Run:
    """A run that can be resumed, with its state in a folder; without a folder nothing is saved."""

    def __init__(self, corpus: str, options: Options, folder: str | None, resume: bool):
        """Unless `resume` is set, the saved state of an earlier run is removed."""
        self._corpus, self._options, self._resume, self.state = corpus, options, resume, None
        self._counts_are_saved = False
        if folder is not None:
            decides = repr((astuple(options), file_hash(corpus)))
            self.state = SavedState(folder, hashlib.sha256(decides.encode()).hexdigest())
            if not resume:
                self.state.remove()

    def count(self, keep: Keep, on_bytes: Callable[[int], None]) -> BigramCounter:
        """Count the corpus, resuming a saved run; `on_bytes` is called with the number of bytes read each time."""
        saved = self.state.load(COUNTS) if self._resume else None
        counter = BigramCounter.from_arrays(saved) if saved else BigramCounter()
        if saved and saved["complete"]:
            self._counts_are_saved = True
            return counter
        options = self._options
        rules = RULES[0] if options.unk in (None, "none") else options.unk
        with open_corpus(self._corpus, options.corpus_format, rules, on_bytes) as sentences:
            for sentence in islice(sentences, counter.sentences, None):
                counter.add(sentence)
                keep(lambda: self._save_counts(counter, complete=False))
        return counter

    def clustering(self, bigrams: Bigrams) -> BrownClustering:
        """Return the clustering, resuming a saved run. Raises InputError for a corpus without words to cluster."""
        options = self._options
        with placed(self._corpus):
            clustering = BrownClustering(
                bigrams,
                options.classes or default_classes(bigrams),
                min_count=options.min_count,
                within_sentences=options.within_sentences,
                refine=options.refine,
            )
        if self._resume and (saved := self.state.load(MERGES)):
            clustering.restore(saved)
        return clustering

    def cluster(
        self,
        clustering: BrownClustering,
        counter: BigramCounter,
        keep: Keep,
        on_step: Callable[[], None],
    ) -> None:
        """Take all remaining steps."""

        def save() -> None:
            if not self._counts_are_saved:
                self._save_counts(counter, complete=True)
            self.state.save(MERGES, clustering.arrays())

        while clustering.done < clustering.total:
            clustering.step()
            on_step()
            keep(save)

    def _save_counts(self, counter: BigramCounter, complete: bool) -> None:
        self.state.save(COUNTS, counter.arrays() | {"complete": np.array(complete)})
        self._counts_are_saved = complete

    def entries(self, clustering: BrownClustering, bigrams: Bigrams) -> list[ClusteredWord]:
        """Return the words with their clusters, including classes of unknown words that do not occur."""
        unk = self._options.unk
        placed = [] if unk == "none" else unknown_classes(unk or rules_of(bigrams.words))
        return place_unseen(clustering.entries(), placed)

    def report(
        self, clustering: BrownClustering, bigrams: Bigrams, entries: Sequence[ClusteredWord]
    ) -> dict[str, object]:
        """Return figures of the clusters; mutual information in nats."""
        return {
            "corpus": self._corpus,
            "sentences": bigrams.sentences,
            "tokens": bigrams.tokens,
            "types": len(bigrams.words),
            "classes": clustering.classes,
            "min_count": self._options.min_count,
            "within_sentences": self._options.within_sentences,
            "refine": self._options.refine,
            "average_mutual_information": average_mutual_information(bigrams, clustering.class_of),
            "unseen": [entry.word for entry in entries if not entry.count],
        }
