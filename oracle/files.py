"""All file formats that the models and commands read and write, except trees and clusters.

Each has a module: oracles in `blocks`, samples and likelihoods in `samples`, sentences to parse in
`sentences`, opening files in `streams`. Callers import from here.
"""

from oracle.blocks import (
    OracleSentence,
    make_oracle,
    read_oracle,
    write_oracle,
)
from oracle.samples import (
    Sample,
    format_likelihood,
    format_sample,
    is_samples_file,
    read_likelihoods,
    read_samples,
    read_scored_samples,
)
from oracle.sentences import SourceSentence, read_sentence, read_sentences
from oracle.streams import open_input, open_output

__all__ = [
    "OracleSentence",
    "Sample",
    "SourceSentence",
    "format_likelihood",
    "format_sample",
    "is_samples_file",
    "make_oracle",
    "open_input",
    "open_output",
    "read_likelihoods",
    "read_oracle",
    "read_samples",
    "read_scored_samples",
    "read_sentence",
    "read_sentences",
    "write_oracle",
]
