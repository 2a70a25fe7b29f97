"""A model's parameters: tables that are not trained, and bounds on what a model may take."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.errors import RnngError
from rnng_dy import parameters
from rnng_dy.parameters import ParameterStore


@pytest.fixture
def store():
    return ParameterStore(1)


def test_a_blank_row_comes_after_the_rows_of_a_constant_table(store):
    vectors = np.arange(1.0, 7.0).reshape(2, 3)
    assert store.constant(vectors).as_array().tolist() == [[1, 2, 3], [4, 5, 6]]
    blank = store.constant(vectors, 2, blank=True)
    assert blank.as_array().tolist() == [[1, 2, 3], [4, 5, 6], [0, 0, 0]]


def test_tables_and_matrices_together_are_not_too_many(store, monkeypatch):
    monkeypatch.setattr(parameters, "MAX_PARAMETERS", 4)
    store.lookup("a", 2, 3), store.matrix("b", 2, 3), store.vector("c", 2), store.lookup("d", 1, 1)
    for add in (lambda: store.lookup("e", 1, 1), lambda: store.vector("e", 1)):
        with pytest.raises(RnngError, match="over 4 matrices and vectors"):
            add()


def test_there_must_be_memory_for_each_value_and_its_gradient(store, monkeypatch):
    asked = []
    monkeypatch.setattr(parameters, "CHECKED_FROM", 0)
    monkeypatch.setattr(parameters, "require_memory", lambda size, *_: asked.append(size))
    store.matrix("a", 10, 20), store.lookup("b", 30, 5)
    # float32
    assert asked == [2 * 4 * 200, 2 * 4 * (200 + 150)]


def test_two_parameters_of_one_name_are_refused(store):
    """One would be saved in place of the other."""
    store.matrix("weights", 2, 3)
    for make in (lambda: store.vector("weights", 2), lambda: store.lookup("weights", 2, 3)):
        with pytest.raises(RnngError, match="two parameters are called weights"):
            make()
