"""The ninja file of a bundle, which compiles changed DyNet sources and links the extension module again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.dynet.target import HEADERS, Toolchain

SOURCES = ("dynet", "python", "gen", "third_party")
HEAD = """\
# the commands of the build; paths.ninja, which run.sh writes, says where the compilers and headers are
include paths.ninja

# objects are taken as they are if they are younger than their sources: ninja has no log of their commands
rule run
  command = $command
  description = $out
  generator = 1
"""


class Command(NamedTuple):
    """A command of the build, with its inputs and its output."""

    words: list[str]
    inputs: list[str]
    output: str


def write_relinking(tree: Path, chain: Toolchain, folder: Path) -> None:
    """Copy sources, Eigen's headers and objects of a built tree, and write `build.ninja` for them."""
    commands = list(commands_of(tree))
    for name in SOURCES:
        shutil.copytree(tree / name, folder / name)
    for command in commands:
        (folder / command.output).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / command.output, folder / command.output)
    eigen = next(tree.parent.glob("environment/lib/python*/site-packages/cmeel.prefix/include"))
    shutil.copytree(eigen / "eigen3", folder / "eigen3")
    places = replacements(tree, chain, eigen / "eigen3")
    text = "".join(_edge(command, folder, places) for command in commands)
    (folder / "build.ninja").write_text(f"{HEAD}\n{text}", encoding="utf-8")


def commands_of(tree: Path) -> Iterator[Command]:
    """Yield the commands that setup.py ran, the link last."""
    for words in json.loads((tree / "commands.json").read_text()):
        output = _relative(words[words.index("-o") + 1], tree)
        objects = [word for word in words if word.endswith(".o")]
        read = [words[words.index("-c") + 1]] if "-c" in words else objects
        yield Command(words, [_relative(name, tree) for name in read], output)


def replacements(tree: Path, chain: Toolchain, eigen: Path) -> list[tuple[str, str]]:
    """Return folders of this machine and their replacements in the ninja file, longer ones first."""
    nvidia = next(tree.parent.glob("environment/lib/python*/site-packages/nvidia/cu13"))
    found = [
        (f"{tree}/", ""),
        (str(eigen), "eigen3"),
        (f"{nvidia}/include", "$cuda/include"),
        (f"{nvidia}/lib", "$cuda_libraries"),
        (f"{chain.cuda.home}/include", "$cuda/include"),
        (chain.cuda.nvcc, "$nvcc"),
        (chain.compiler.program, "$cxx"),
        (str(HEADERS), "$python_headers"),
    ]
    return sorted(found, key=lambda pair: -len(pair[0]))


def _edge(command: Command, folder: Path, places: list[tuple[str, str]]) -> str:
    """Return the `build` statement of a command; a changed header recompiles everything."""
    words = [_replaced(word, places) for word in command.words]
    read = command.inputs
    if "-c" in command.words:
        text = (folder / read[0]).read_text(encoding="utf-8", errors="replace")
        parts = re.findall(r'^#include "(dynet/[^"]+\.cc)"$', text, re.MULTILINE)
        headers = sorted(str(path.relative_to(folder)) for path in folder.glob("dynet/*.h"))
        read = [*read, "|", *parts, *headers]
    # `$` in the replacements is ninja's own, any other is literal
    return f"build {command.output}: run {' '.join(read)}\n  command = {' '.join(words)}\n"


def _replaced(word: str, places: list[tuple[str, str]]) -> str:
    """Return a word of a command, escaped for ninja and then for the shell."""
    word = word.replace("$", "$$")
    for place, name in places:
        word = word.replace(place, name)
    # an rpath contains `$ORIGIN`
    return f"'{word}'" if re.search(r"[^\w@%+=:,./$-]|\$\$", word) else word


def _relative(name: str, tree: Path) -> str:
    return str(Path(name).relative_to(tree)) if Path(name).is_absolute() else name
