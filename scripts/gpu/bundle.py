"""The bundle to check and fix the CUDA backend on a machine with a GPU and without network."""

import argparse
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path

from nltk.corpus import treebank

from oracle.common.errors import RnngError
from oracle.corpora import NltkSample
from scripts.dynet.build import build_wheel, cache_folder, inputs, key, locked
from scripts.dynet.command import FOLDER, modules_of
from scripts.dynet.target import BuildError, Compiler, Cuda, Toolchain
from scripts.gpu.relinking import write_relinking

# the machine itself has numpy, ninja, the other libraries of CUDA and the driver; pip adds
# dependencies of these
PACKAGES = ("nltk", "filelock")
PLATFORMS = ("--platform=manylinux_2_28_x86_64", "--platform=manylinux2014_x86_64")
NAME = "rnng-dy-gpu"
# the window holds the whole bundle, because the library repeats the bytes of the objects
XZ = {"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 27}
DESCRIPTION = (
    "Pack what a checkout lacks on a machine with a GPU and without network: DyNet with the CUDA "
    "backend, the Python packages that it and the project need, NLTK's treebank sample, references "
    "made on the CPU, and DyNet's sources and object files with a ninja file, so that a changed "
    "source is linked again in a minute. There, copy the bundle into the checkout and run "
    "`sh scripts/gpu/run.sh`."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bundle`."""
    add = parser.add_argument
    add("--python", default="3.12", help="the other machine's version [default: %(default)s]")
    add("--cuda-arch", default="90", metavar="80,90", help="GPU architectures [default: 90]")
    add("--march", default="x86-64-v3", help="its processor [default: %(default)s]")


def main(options: argparse.Namespace) -> None:
    """Build and pack the bundle and print its path; an error is one line and exit code 2."""
    output = Path(f"{NAME}.tar.xz")
    try:
        bundle(options, output)
    except (BuildError, OSError, RnngError) as error:
        print(f"gpu bundle: error: {error}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as error:
        sys.exit(f"gpu bundle: error: {' '.join(map(str, error.cmd))} failed")
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")


def bundle(options: argparse.Namespace, output: Path) -> None:
    """Write the bundle.

    Raises BuildError, OSError, CalledProcessError, and RnngError without NLTK's sample.
    """
    next(NltkSample().read())
    chain, cached = toolchain(options)
    tree, wheel = built(chain, cached)
    with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
        top = Path(folder)
        site, trees = top / "site", top / "nltk_data/corpora/treebank/combined"
        install(options.python, site)
        modules = f"{FOLDER}/{options.march}"
        (site / modules).mkdir(parents=True)
        for name, content in modules_of(wheel, options.march).items():
            (site / name).write_bytes(content)
        write_relinking(tree, chain, top / "build", f"../site/{modules}")
        trees.mkdir(parents=True)
        for name in treebank.fileids():
            (trees / name).write_text(treebank.raw(name))
        check = [sys.executable, "-m", "scripts.gpu", "check", "--device", "cpu"]
        subprocess.run([*check, "--make-references", top / "references.npz"], check=True)
        new = output.with_name(f"{output.name}.new")
        with (
            lzma.open(new, "w", filters=[XZ]) as stream,
            tarfile.open(fileobj=stream, mode="w") as archive,
        ):
            archive.add(top, NAME)
        new.replace(output)


def toolchain(options: argparse.Namespace) -> tuple[Toolchain, Path]:
    """Return the compilers, and the folder of the cache for their build.

    Raises BuildError if one is missing.
    """
    chain = Toolchain(replace(Compiler.find(), march=options.march), Cuda.find(options.cuda_arch))
    return chain, cache_folder() / f"gpu-{key(inputs(chain))}"


def built(chain: Toolchain, folder: Path) -> tuple[Path, Path]:
    """Return DyNet's tree with its object files, and the wheel; build them if they are missing."""
    with locked(folder.with_suffix(".lock")):
        out = folder / "out"
        if not [*out.glob("*.whl")]:
            shutil.rmtree(folder, ignore_errors=True)
            out.mkdir(parents=True)
            build_wheel(chain, folder.parent, folder, out)
        tree = next(path for path in folder.iterdir() if (path / "PKG-INFO").exists())
        return tree, next(out.glob("*.whl"))


def install(python: str, folder: Path) -> None:
    """Install the Python packages into a folder, for that version of Python."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *PLATFORMS]
    command += ["--python-version", python, "--only-binary", ":all:", "--target", str(folder)]
    subprocess.run([*command, *PACKAGES], check=True)
