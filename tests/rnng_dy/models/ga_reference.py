"""Models of the gated-attention program and of the ablated ones."""

import lzma

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from rnng_dy.interop.clab import import_generator

SYSTEMS = {
    "ga-stack": ("gated-attention", "stack"),
    "ga": ("gated-attention", "full"),
    "stack": ("corrected", "stack"),
    "no-stack": ("corrected", "no-stack"),
    "no-history": ("corrected", "no-history"),
    "no-terms": ("corrected", "no-terms"),
}
"""Composition and state of each folder of reference data."""


def unpacked(shared, name, folder):
    """The archive of a system, unpacked into a folder."""
    path = folder / f"{name}.params"
    if not path.exists():
        path.write_bytes(
            lzma.decompress((shared / "ga_reference" / name / "gen.params.xz").read_bytes())
        )
    return path


def load(shared, name, folder, composition, state):
    reference = shared / "clab_reference"
    clusters = read_clusters(reference / "clusters.paths")
    sentences = read_oracle(reference / "train.gen.oracle")
    return import_generator(unpacked(shared, name, folder), sentences, clusters, composition, state)
