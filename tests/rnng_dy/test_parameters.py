"""A model's parameters: tables that are not trained, and bounds on what a model may take."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.errors import RnngError
from rnng_dy.parameters import ParameterStore


@pytest.fixture
def store():
    return ParameterStore(1)


def test_a_blank_row_comes_after_the_rows_of_a_constant_table(store):
    vectors = np.arange(1.0, 7.0).reshape(2, 3)
    assert store.constant(vectors).as_array().tolist() == [[1, 2, 3], [4, 5, 6]]
    blank = store.constant(vectors, 2, blank=True)
    assert blank.as_array().tolist() == [[1, 2, 3], [4, 5, 6], [0, 0, 0]]


def test_two_parameters_of_one_name_are_refused(store):
    """One would be saved in place of the other."""
    store.matrix("weights", 2, 3)
    for make in (lambda: store.vector("weights", 2), lambda: store.lookup("weights", 2, 3)):
        with pytest.raises(RnngError, match="two parameters are called weights"):
            make()
