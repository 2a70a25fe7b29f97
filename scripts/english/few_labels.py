"""A model with fewer nonterminals, which continues to train on trees with these alone."""

from collections.abc import Collection
from dataclasses import replace

from rnng_dy import GenerativeModel


def with_labels(model: GenerativeModel, labels: Collection[str]) -> GenerativeModel:
    """Return the model without the other nonterminals; each kept one has its parameters."""
    v, config = model.vocabulary, model.config()
    kept = tuple(label for label in v.nonterminals if label in labels)
    network = {name: config[name] for name in model.config_defaults if name in config}
    smaller = type(model)(replace(v, nonterminals=kept), model.sizes, **network)
    rows = {}
    for names, fewer in (
        (v.nonterminals, kept),
        (model.transitions.names, smaller.transitions.names),
    ):
        rows[len(names)] = [names.index(name) for name in fewer]
    arrays = smaller.store.arrays()
    for name, values in model.store.arrays().items():
        is_smaller = len(arrays[name]) < len(values)
        arrays[name] = values[rows[len(values)]] if is_smaller else values
    smaller.store.load(arrays)
    smaller.updates, smaller.about = model.updates, model.about
    smaller.segmenter, smaller.spelling = model.segmenter, model.spelling
    return smaller
