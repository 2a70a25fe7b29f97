"""The products of sources/products.h, of any size and instruction set, against plain sums."""

from __future__ import annotations

import subprocess

import pytest

from rnng_dy.engine import cpu_level, lower_levels

from .installing import compiled


@pytest.mark.parametrize("march", lower_levels(cpu_level()))
def test_products_are_sums_of_products(march, tmp_path):
    program = compiled("products", tmp_path, *([f"-march={march}"] if march else []))
    found = subprocess.run([program], check=True, capture_output=True, text=True)
    assert float(found.stdout) < 2e-4
