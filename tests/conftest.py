"""What all tests have: this checkout in their processes, and the reference data."""

from __future__ import annotations

import lzma
import os
import signal
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

from rnng_dy import engine
from rnng_dy.kinds import ModelFolder
from rnng_dy.model_folder import SHIPPED, located

CHECKOUT = Path(__file__).resolve().parent.parent
DATA = CHECKOUT / "tests" / "data"
TINY = CHECKOUT / "oracle" / "data" / "tiny.trees"
SHARED = Path(os.environ.get("RNNG_DY_SHARED", CHECKOUT.parent / "shared"))
# tests/data/README.md: which lines of tiny.trees the original programs had as what
TINY_PARTS = {"train": (0, 500), "dev": (500, 550), "test": (550, 600)}


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="this system does not report memory"
)

# processes that tests start run this checkout, whichever is installed
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# a busy machine is no fault of a test
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# NLTK reads it when it is imported, which is once in a process
os.environ.setdefault("NLTK_DATA", str(SHARED / "nltk_data"))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # so has a shell its processes in the background, and the commands that tests start would have
    # it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Let the models of the tests compute on $RNNG_DY_TEST_DEVICE: `make test-cuda-emulated` says cuda."""
    if os.environ.get("RNNG_DY_TEST_DEVICE"):
        engine.start(os.environ["RNNG_DY_TEST_DEVICE"], memory=16)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Reports of other processes are sent as UTF-8, and messages may name bytes that are not."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the reference data, before `-m` chooses."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.reference)


def tiny_trees(begin: int = 0, end: int | None = None) -> str:
    """Lines of tiny.trees."""
    return "".join(TINY.read_text(encoding="utf-8").splitlines(keepends=True)[begin:end])


def absent(reason: str) -> NoReturn:
    """Skip what lacks something, a test or a module; where all must be tested, fail."""
    if os.environ.get("RNNG_DY_REQUIRE_SHARED"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="session", autouse=True)
def package_models():
    """Commands in this process open each model of the package once, as `rnng_dy.parse` does."""
    opening = ModelFolder.open
    once = cache(lambda model, place: opening(model))

    def opened(model):
        place = str(located(model.folder))
        return once(model, place) if place.startswith(str(SHIPPED)) else opening(model)

    ModelFolder.open = opened


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data: $RNNG_DY_SHARED, or `shared` beside the checkout."""
    if not (SHARED / "clab_reference").is_dir():
        absent(f"no reference data at {SHARED} (set RNNG_DY_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def tiny_reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the original programs gave on tiny.trees, unpacked, and the parts of tiny.trees themselves."""
    folder = tmp_path_factory.mktemp("tiny_reference")
    packed_folder = DATA / "tiny_reference"
    for packed in packed_folder.rglob("*.xz"):
        path = folder / packed.relative_to(packed_folder).with_suffix("")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    for name, part in TINY_PARTS.items():
        (folder / f"{name}.trees").write_text(tiny_trees(*part), encoding="utf-8")
    return folder
