"""Whatever bytes a file has, a reader returns or raises InputError that names it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clusters.corpus import read_corpus
from clusters.files import read_clusters
from oracle.blocks import read_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.common.tables import read_columns
from oracle.samples import read_likelihoods, read_samples
from oracle.sentences import read_sentences

READERS = {
    "trees": read_trees,
    "oracle": read_oracle,
    "samples": read_samples,
    "likelihoods": read_likelihoods,
    "sentences": read_sentences,
    "tagged": lambda path: read_sentences(path, tagged=True),
    "table": lambda path: read_columns(path, ["item"]),
    "clusters": read_clusters,
    "corpus": read_corpus,
}
PARTS = [
    *("(S (NP it) (VP ran))", "(S (NN a))", "(", ")", "# ", "NN", "NT(S)", "SHIFT", "REDUCE"),
    *("0 ||| -1.5 ||| ", "|||", "3\t", "inf", "1e999", "9" * 5000, "item", ",", ";", "\t", '"'),
    *("01\tthe\t9", "the_DT", "\ufeff", "\udce9", "\0", "\r", " ", "\n", "\n", "\n"),
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=12).map(
    lambda parts: "".join(parts).encode("utf-8", "surrogateescape")
)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=TEXTS | st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path, reader, ending, content):
    path = tmp_path / f"file{ending}"
    path.write_bytes(content)
    try:
        list(reader(str(path)))
    except InputError as error:
        assert str(error).startswith(str(path))
