"""What tests of several ranks share."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from ...conftest import absent


@pytest.fixture(scope="module")
def mpirun() -> str:
    """What starts ranks."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return shutil.which("mpirun", path=path) or absent("no mpirun: pip install mpich")
