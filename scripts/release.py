"""`make release`: all that a release needs but the upload; `--dry` only checks the checkout and prints the steps."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from glob import glob
from pathlib import Path


def first_match(pattern: str, name: str) -> tuple[str, ...]:
    """Return the groups of a pattern's first match in a file of the checkout; none if nothing matches."""
    found = re.search(pattern, Path(name).read_text(encoding="utf-8"), re.MULTILINE)
    return found.groups() if found else ()


def problems(version: str) -> Iterator[str]:
    """Yield the reasons why the checkout is not ready for a release."""
    status = subprocess.check_output(["git", "status", "--porcelain"], text=True)
    yield from (f"not committed: {line}" for line in status.splitlines())
    heading = first_match(r"^## (\S+) \((\S+)\)$", "CHANGELOG.md")
    today = date.today().isoformat()
    if not heading:
        yield "CHANGELOG.md has no heading `## VERSION (DATE)`"
    elif heading[0] != version:
        yield f"CHANGELOG.md begins with {heading[0]}, not {version}"
    elif heading[1] != today:
        yield f"{version} in CHANGELOG.md is dated {heading[1]}, and today is {today}"
    [cited] = first_match(r"^version: (\S+)$", "CITATION.cff") or ("unknown",)
    if cited != version:
        yield f"CITATION.cff has version {cited}, not {version}"


def main() -> None:
    """Check the checkout, then lint, test, build and check the distributions; print the command that uploads them."""
    [version] = first_match(r'^__version__ = "(.+)"$', "rnng_dy/__init__.py")
    if found := list(problems(version)):
        print(*(f"Error: {problem}" for problem in found), sep="\n", file=sys.stderr)
        sys.exit(2)
    distributions = f"dist/rnng_dy-{version}*"
    steps = [
        ["make", "lint"],
        ["make", "test-all"],
        [sys.executable, "-m", "build", "--sdist"],
        ["make", "wheels"],
        [sys.executable, "-m", "twine", "check", "--strict", distributions],
    ]
    for step in steps:
        print(*step, flush=True)
        if "--dry" not in sys.argv:
            words = [name for word in step for name in sorted(glob(word)) or [word]]
            if code := subprocess.run(words).returncode:
                sys.exit(code)
    print(f"twine upload {distributions}")


if __name__ == "__main__":
    main()
