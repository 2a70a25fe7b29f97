"""Where the reference data is, and how its absence is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data: $RNNG_DY_SHARED, or `shared` beside the checkout."""
    folder = Path(os.environ.get("RNNG_DY_SHARED", CHECKOUT.parent / "shared"))
    if not (folder / "clab_reference").is_dir():
        reason = f"no reference data at {folder} (set RNNG_DY_SHARED)"
        if os.environ.get("RNNG_DY_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
