"""The ninja file of a bundle: it compiles changed DyNet sources and links the module again."""

import json
import re
import shutil
from pathlib import Path

from scripts.dynet.target import HEADERS, Toolchain

COPIED = ("dynet", "python", "gen", "third_party", "build")
HEAD = """\
# the commands of the build; run.sh writes paths.ninja, which has the paths of compilers and headers
include paths.ninja

# ninja, which has no log of the commands, keeps objects that are younger than their sources
rule run
  command = $command
  description = $out
  generator = 1
"""


def write_relinking(tree: Path, chain: Toolchain, folder: Path, library: str) -> None:
    """Copy sources, Eigen's headers and objects of a built tree, and write `build.ninja` for them.

    Linking writes to the folder `library`, relative to that of the ninja file.
    """
    for name in COPIED:
        # `lib.*` is the folder of the library
        shutil.copytree(tree / name, folder / name, ignore=shutil.ignore_patterns("lib.*"))
    eigen = next(tree.parent.glob("environment/lib/python*/site-packages/cmeel.prefix/include"))
    shutil.copytree(eigen / "eigen3", folder / "eigen3")
    paths = replacements(tree, chain, eigen / "eigen3", library)
    commands = json.loads((tree / "commands.json").read_text())
    text = "".join(_edge([_replaced(w, paths) for w in words], folder) for words in commands)
    (folder / "build.ninja").write_text(f"{HEAD}\n{text}", encoding="utf-8")


def replacements(tree: Path, chain: Toolchain, eigen: Path, library: str) -> list[tuple[str, str]]:
    """Return paths of this machine and their replacements in the ninja file, longer ones first."""
    nvidia = next(tree.parent.glob("environment/lib/python*/site-packages/nvidia/cu13"))
    pairs = [
        (f"{tree}/", ""),
        (str(next(tree.glob("build/lib.*")).relative_to(tree)), library),
        (str(eigen), "eigen3"),
        (f"{nvidia}/include", "$cuda/include"),
        (f"{nvidia}/lib", "$cuda_libraries"),
        (f"{chain.cuda.home}/include", "$cuda/include"),
        (chain.cuda.nvcc, "$nvcc"),
        (chain.compiler.program, "$cxx"),
        (str(HEADERS), "$python_headers"),
    ]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _edge(words: list[str], folder: Path) -> str:
    """Return the `build` statement of a command; a changed header recompiles everything."""
    inputs = [word for word in words if word.endswith(".o")]
    if "-c" in words:
        source = words[words.index("-c") + 1]
        text = (folder / source).read_text(encoding="utf-8", errors="replace")
        included = re.findall(r'^#include "(dynet/[^"]+\.cc)"$', text, re.MULTILINE)
        headers = sorted(str(path.relative_to(folder)) for path in folder.glob("dynet/*.h"))
        inputs = [source, "|", *included, *headers]
    output = words[words.index("-o") + 1]
    # `$` in the replacements is ninja's own, any other is literal
    return f"build {output}: run {' '.join(inputs)}\n  command = {' '.join(words)}\n"


def _replaced(word: str, paths: list[tuple[str, str]]) -> str:
    """Return a word of a command, escaped for ninja and then for the shell."""
    word = word.replace("$", "$$")
    for path, name in paths:
        word = word.replace(path, name)
    # an rpath contains `$ORIGIN`
    return f"'{word}'" if re.search(r"[^\w@%+=:,./$-]|\$\$", word) else word
