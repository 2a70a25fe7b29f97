"""Import of models of the original program clab/rnng: text archives of Boost.

A checkpoint holds no dictionaries. Ids come from reading the training oracle (and the clusters
file) in the order of the original.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clusters.files import ClusteredWord
from oracle.blocks import OracleSentence
from oracle.common.errors import InputError
from oracle.common.files import FileName, reading
from rnng_dy.engine import dy, one_graph
from rnng_dy.generator import GenerativeModel
from rnng_dy.models.composition import COMPOSITIONS, GatedAttention
from rnng_dy.models.discriminative import ParserSizes
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.parameters import LSTM_WEIGHTS
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.settings import Sizes
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

CHECKED = 100
"""The most sentences of the training oracle whose actions are compared with a model's."""
GATED = ["query_weights", "query_bias", "gate_label", "gate_children", "gate_bias"]
"""Our names of the additional parameters of the program with gated attention."""
_log = logging.getLogger(__name__)


class ClabCheckpoint(NamedTuple):
    """The arrays of a checkpoint, float32, in the order in which the original made them."""

    dense: list[np.ndarray]
    lookups: list[np.ndarray]


class _Archive:
    """A cursor over the tokens of an archive; raises ValueError for other content."""

    def __init__(self, tokens: Sequence[bytes]):
        self.tokens, self.next = tokens, 3
        self._seen: set[str] = set()

    def _take(self, n: int) -> Sequence[bytes]:
        taken = self.tokens[self.next : self.next + n]
        self.next += len(taken)
        if len(taken) < n:
            raise ValueError("the checkpoint is cut short")
        return taken

    def integer(self) -> int:
        return int(self._take(1)[0])

    def enter(self, class_name: str) -> None:
        """Skip tracking level and version, which stand before the first object of a class."""
        if class_name not in self._seen:
            self._seen.add(class_name)
            self._take(2)

    def dim(self) -> tuple[int, ...]:
        self.enter("Dim")
        count, _capacity = self.integer(), self.integer()
        return tuple([self.integer() for _ in range(7)][:count])

    def tensor(self) -> np.ndarray:
        self.enter("Tensor")
        shape = self.dim()
        values = np.array(self._take(math.prod(shape)), np.float64)
        return values.astype(np.float32).reshape(shape, order="F")


def read_checkpoint(path: str | Path) -> ClabCheckpoint:
    """Read a checkpoint. Raises InputError if the file is no complete archive."""
    checkpoint = ClabCheckpoint([], [])
    with reading(path):
        archive = _Archive(Path(path).read_bytes().split())
        if archive.tokens[1:2] != [b"serialization::archive"]:
            raise ValueError("not a Boost text archive, as the original program writes")
        archive.enter("Model")
        parameters, lookups = archive.integer(), archive.integer()
        for _ in range(parameters):
            archive.enter("Parameters")
            archive.dim()
            checkpoint.dense.append(archive.tensor())
        for _ in range(lookups):
            archive.enter("LookupParameters")
            archive.dim()
            rows = [archive.tensor() for _ in range(archive.integer())]
            checkpoint.lookups.append(np.stack(rows))
        if archive.next < len(archive.tokens):
            raise ValueError("the model ends, but the file does not")
    return checkpoint


Oracle = Sequence[OracleSentence]
"""The training oracle of a checkpoint, in the order of its training."""
Made = Callable[..., Any]
"""A function from a checkpoint's common sizes and arrays to an untrained model."""
Names = tuple[list[str], list[str | None]]
"""Our names of a checkpoint's parameters and tables, in its order; None for an unused table."""


def _lstms(layers: int, *names: str) -> Iterator[str]:
    return (f"{lstm}.{i}.{gate}" for lstm in names for i in range(layers) for gate in LSTM_WEIGHTS)


def parser_names(layers: int, tags: bool, vectors: bool) -> Names:
    """Return our names of a discriminative checkpoint's parameters and tables."""
    dense = [
        *_lstms(layers, "stack", "action", "compose_forward", "compose_backward"),
        *["hidden_bias", "hidden_action", "hidden_context", "hidden_stack", "input_word"],
        *["input_bias", "compose_bias", "action_weights", "action_start", "action_bias"],
        *["buffer_guard", "stack_guard", "compose_weights"],
        *["input_tag"] * tags,
        *_lstms(layers, "buffer"),
        *["input_vector"] * vectors,
    ]
    lookups = ["word", None, "open_nonterminal", "nonterminal", "action"]
    return dense, lookups + ["tag"] * tags + ["pretrained"] * vectors


def generator_names(layers: int, clusters: list[int], gated: bool) -> Names:
    """Return our names of a generative checkpoint's parameters and tables.

    `clusters` are the clusters of at least two words; `gated` is for the program with gated
    attention.
    """
    dense = [
        *["class_weights", "class_bias"],
        *(f"word_{part}.{k}" for k in clusters for part in ("weights", "bias")),
        *_lstms(layers, "stack", "terms", "action"),
        # the two LSTMs of the composition always have one layer
        *_lstms(1, "compose_forward", "compose_backward"),
        *["hidden_bias", "hidden_action", "hidden_stack", "hidden_context", "compose_bias"],
        *["action_weights", "action_start", "action_bias", "stack_guard"],
        *GATED * gated,
        "compose_weights",
    ]
    query = ["query_nonterminal"] * gated
    return dense, ["word", None, "open_nonterminal", *query, "nonterminal", "action"]


def import_parser(
    path: str | Path,
    sentences: Sequence[OracleSentence],
    use_tags: bool,
    composition: str,
    pretrained: tuple[Sequence[str], np.ndarray] | None = None,
    state: str = PARSER_STATES.default,
) -> DiscriminativeParser:
    """Import the parser of a discriminative checkpoint that was trained on the oracle `sentences`.

    `pretrained` are the words and vectors of the embedding file it was trained with. Raises
    InputError if the file is no complete checkpoint, or does not fit the dictionaries; it then
    names the parameter and both shapes.
    """
    words, vectors = pretrained or (None, None)
    vocabulary = ParserVocabulary.from_oracle(sentences, use_tags, words, words or ())

    def made(common: Sequence[int], arrays: dict[str, np.ndarray]) -> DiscriminativeParser:
        tag = arrays["tag"].shape[1] if use_tags else ParserSizes().tag
        sizes = ParserSizes(*common, arrays["word"].shape[1], tag)
        trained = arrays.pop("pretrained", vectors)
        if not (pretrained is None or np.allclose(trained[vocabulary.word_ids(words)], vectors)):
            raise ValueError("the word vectors are not those of the checkpoint")
        parts = {"composition": composition, "state": state}
        return DiscriminativeParser(vocabulary, sizes, vectors=vectors, **parts)

    names = partial(parser_names, tags=use_tags, vectors=pretrained is not None)
    return _loaded(path, sentences, names, made)


def import_generator(
    path: str | Path,
    sentences: Sequence[OracleSentence],
    clusters: Sequence[ClusteredWord],
    composition: str = COMPOSITIONS.default,
    state: str | None = None,
) -> GenerativeModel:
    """Import a generative checkpoint that was trained on the oracle with these clusters.

    The file does not say the composition and the parser state. A state of None means the full one,
    and is not allowed with gated attention. Raises InputError as `import_parser` does, and for a
    missing state.
    """
    gated = composition == GatedAttention.name
    if gated and state is None:
        how = "say by --state what its parser state is (in the published program `stack`)"
        raise InputError(f"a model with gated attention: {how}", path)
    vocabulary = GeneratorVocabulary.build(clusters, sentences)
    several = [k for k, words in enumerate(vocabulary.clusters) if len(words) > 1]

    def made(common: Sequence[int], arrays: dict[str, np.ndarray]) -> GenerativeModel:
        sizes, of_state = Sizes(*common), state or GENERATOR_STATES.default
        return GenerativeModel(vocabulary, sizes, composition=composition, state=of_state)

    return _loaded(path, sentences, partial(generator_names, clusters=several, gated=gated), made)


@one_graph
def _check_order(path: FileName, model: Any, sentences: Oracle) -> None:
    """Warn of a model that predicts actions worse than the preceding actions do.

    These are the actions of its training sentences. In another order of the sentences, labels have
    other ids. A model that was hardly trained predicts them no better.
    """
    dy.renew_cg(derivatives=False)
    losses, *_ = model.network.example_losses([*map(model.encode_training, sentences)], 0.0)
    pairs = Counter(chain.from_iterable(pairwise(["", *s.actions]) for s in sentences))
    before = Counter(action for action, _ in pairs.elements())
    log_ps = sum(n * math.log(n / before[action]) for (action, _), n in pairs.items())
    if -losses[0].npvalue().mean() < log_ps / pairs.total():
        how = "is this the oracle it was trained on, in its order?"
        _log.warning(f"{path}: actions are less probable than by their frequencies: {how}")


def _loaded(path: FileName, sentences: Oracle, names_of: Callable[[int], Names], made: Made) -> Any:
    """Return the model that `made` makes of the common sizes and arrays of a checkpoint.

    The number of LSTM layers follows from the number of parameters.
    """
    checkpoint = read_checkpoint(path)
    fixed, one_layer = (len(names_of(layers)[0]) for layers in (0, 1))
    layers, rest = divmod(len(checkpoint.dense) - fixed, one_layer - fixed)
    dense, lookups = names_of(layers)
    if layers < 1 or rest or len(lookups) != len(checkpoint.lookups):
        what = f"{len(checkpoint.dense)} parameters and {len(checkpoint.lookups)} lookup tables"
        how = "see to --pos, --pretrained, --clusters and --composition"
        raise InputError(f"{what} are not those of a model of this kind: {how}", path)
    arrays = dict(zip(dense, checkpoint.dense, strict=True))
    arrays |= {n: a for n, a in zip(lookups, checkpoint.lookups, strict=True) if n}
    with reading(path, remedy="is this the oracle it was trained on?"):
        hidden, lstm_input = arrays["stack.0.x2i"].shape
        model = made((layers, lstm_input, hidden, arrays["action"].shape[1]), arrays)
        model.store.load(arrays)
        # callers say which other transitions the sentences have
        if {sentence.transitions for sentence in sentences} == {model.transitions.name}:
            _check_order(path, model, sentences[:: -(-len(sentences) // CHECKED)])
    # the archive does not record it
    model.updates = None
    return model
