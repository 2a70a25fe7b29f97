"""The bundle for a machine with a GPU and without network, to check the CUDA backend and fix it there."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scripts.dynet.build import build_wheel, cache_folder, inputs, key, locked
from scripts.dynet.command import modules_of
from scripts.dynet.target import CHECKOUT, BuildError, Compiler, Cuda, Toolchain
from scripts.gpu.relinking import write_relinking

LARGEST = 60_000_000
"""Upper limit of a bundle's bytes."""
# the machine itself has the rest of CUDA's libraries and the driver
PACKAGES = ("numpy", "nltk", "click", "ninja")
NAME = "rnng-dy-gpu"
TREEBANK = "corpora/treebank"
DESCRIPTION = (
    "Pack DyNet's wheel with the CUDA backend, the Python packages that it and the project need, the project, data, "
    "references made on the CPU, and the object files with a ninja file, so that a changed source is linked again in a "
    "minute. CUDA's libraries and its compiler are the other machine's. There, `sh run.sh` sets up and runs the check."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bundle`."""
    add = parser.add_argument
    add("-o", "--output", type=Path, default=Path(f"{NAME}.tar.xz"), help="[default: %(default)s]")
    add("--python", default=sys.executable, help="the other machine's version [default: this one]")
    add("--cuda-arch", default="90", metavar="80,90", help="GPU architectures [default: 90]")
    add("--march", default="x86-64-v3", help="its processor [default: %(default)s]")


def main(options: argparse.Namespace) -> None:
    """Build and pack the bundle and print its path; an error is one line and exit code 2."""
    try:
        size = bundle(options)
    except (BuildError, OSError) as error:
        print(f"gpu bundle: error: {error}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as error:
        sys.exit(f"gpu bundle: error: {' '.join(map(str, error.cmd))} failed")
    print(f"{options.output}: {size / 1e6:.1f} MB")
    if size > LARGEST:
        sys.exit(f"gpu bundle: error: over {LARGEST / 1e6:.0f} MB")


def bundle(options: argparse.Namespace) -> int:
    """Write the bundle and return its bytes. Raises BuildError, OSError, CalledProcessError."""
    compiler = replace(Compiler.find(), march=options.march)
    chain = Toolchain(compiler, Cuda.find(options.cuda_arch))
    cache = cache_folder()
    tree, wheel = built(chain, cache)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        top = Path(folder) / NAME
        write_relinking(tree, chain, top / "build")
        (top / "wheels").mkdir()
        download(options.python, top / "wheels")
        copy_tracked(top / "project")
        # the check needs no English model, and they are large
        shutil.rmtree(top / "project" / "rnng_dy" / "shipped")
        for name, data in modules_of(wheel, options.march).items():
            (top / "project" / name).parent.mkdir(parents=True, exist_ok=True)
            (top / "project" / name).write_bytes(data)
        copy_data(top / "nltk_data")
        check = [sys.executable, "-m", "scripts.gpu", "check", "--device", "cpu"]
        references = str(top / "references.npz")
        subprocess.run([*check, "--make-references", references], check=True)
        shutil.copy(Path(__file__).with_name("run.sh"), top)
        new = options.output.with_name(options.output.name + ".new")
        with tarfile.open(new, "w:xz") as archive:
            archive.add(top, NAME)
        new.replace(options.output)
    return options.output.stat().st_size


def built(chain: Toolchain, cache: Path) -> tuple[Path, Path]:
    """Return DyNet's tree with its object files, and the wheel; both are cached, so a second bundle takes seconds."""
    folder = cache / f"gpu-{key(inputs(chain))}"
    with locked(folder.with_suffix(".lock")):
        out = folder / "out"
        if not [*out.glob("*.whl")]:
            shutil.rmtree(folder, ignore_errors=True)
            out.mkdir(parents=True)
            build_wheel(chain, cache, folder, out)
        tree = next(path for path in folder.iterdir() if (path / "PKG-INFO").exists())
        return tree, next(out.glob("*.whl"))


def download(python: str, folder: Path) -> None:
    """Download wheels of the Python packages for that Python."""
    command = [python, "-m", "pip", "download", "--quiet", "--only-binary", ":all:"]
    subprocess.run([*command, "-d", str(folder), *PACKAGES], check=True)


def copy_tracked(folder: Path) -> None:
    """Copy the files of this checkout that are under version control, as they are now."""
    listed = ["git", "-C", str(CHECKOUT), "ls-files", "-z"]
    for name in subprocess.check_output(listed, text=True).split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(CHECKOUT / name, folder / name)


def copy_data(folder: Path) -> None:
    """Copy NLTK's treebank sample if it is installed; without it the check takes the package's own trees."""
    for place in filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep)):
        if (Path(place) / TREEBANK).is_dir():
            shutil.copytree(Path(place) / TREEBANK, folder / TREEBANK)
            return
