"""Mutation testing: which changes are tried, and the table of them."""

from __future__ import annotations

import os
import signal
import tempfile
from dataclasses import fields
from pathlib import Path
from random import Random

import click

from scripts.mutants.changes import Mutant, mutants_of
from scripts.mutants.runs import append, copied, each, read, recorded, say, tried

CHECKOUT = Path(__file__).resolve().parents[2]
OUTCOMES = ("killed", "timed out", "survived")
PATH = click.Path(path_type=Path)


@click.command()
@click.argument("packages", nargs=-1)
@click.option("--number", default=200, help="Mutants to try.", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", default=2, help="At a time.", show_default=True)
@click.option("--seconds", default=240.0, help="Of tests for each mutant.", show_default=True)
@click.option("--again", is_flag=True, help="Try those that survived again.")
@click.option("--out", type=PATH, default="mutants.jsonl", show_default=True)
@click.option("--checkout", type=PATH, default=CHECKOUT, show_default="this one")
def main(
    packages: tuple[str, ...],
    number: int,
    seed: int,
    jobs: int,
    seconds: float,
    again: bool,
    out: Path,
    checkout: Path,
) -> None:
    """Does a test fail when one place of the code is changed?

    Changes one place of PACKAGES (of all three, by default) at a time, in copies of the checkout, and runs the test
    files that execute it until one fails: those of its room first, the quickest first. The results go to a file of
    JSON lines, their table to standard output. What is done is not done again.
    """
    shared = os.environ.get("RNNG_DY_SHARED")
    if not Path(shared or "none").is_dir():
        raise click.UsageError(
            "RNNG_DY_SHARED must be the folder of the reference data: without it tests are skipped"
        )
    os.environ["RNNG_DY_SHARED"] = os.path.abspath(shared)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        # one stays as it is: the checkout may change in the meantime
        sound, *copies = (copied(checkout, Path(folder, str(i))) for i in range(jobs + 1))
        rooms = packages or ("oracle", "clusters", "rnng_dy")
        inside = [path for package in rooms for path in sound.glob(f"{package}/**/*.py")]
        modules = sorted(str(path.relative_to(sound)) for path in inside)
        mutants = [mutant for module in modules for mutant in mutants_of(sound, module)]
        Random(seed).shuffle(mutants)
        mutants = mutants[:number]
        known = {_mutant_of(record): record for record in read(out)}
        known = {mutant: known[mutant] for mutant in mutants if mutant in known}
        kept = OUTCOMES[:2] if again else OUTCOMES
        due = [m for m in mutants if m not in known or known[m]["result"] not in kept]
        say(f"{len(mutants)} mutants of seed {seed}, {len(due)} to try")
        try:
            lines = recorded(out.with_suffix(".lines.jsonl"), sound, copies) if due else []
            for record in each(copies, due, lambda copy, m: tried(sound, copy, m, lines, seconds)):
                append(out, record)
                known[_mutant_of(record)] = record
                say(f"{len(known)}/{len(mutants)} {record['result']}: {_line(record)}")
        except KeyboardInterrupt:
            say("stopped; the same command goes on")
    print(report(list(known.values())))


def report(records: list[dict]) -> str:
    """A table by package, and the survivors."""
    rows = [f"{'':24}" + "".join(f"{name:>11}" for name in ("mutants", *OUTCOMES))]
    packages = [str(Path(record["module"]).parent) for record in records]
    for package in [*sorted(set(packages)), "all"]:
        own = [r["result"] for r, p in zip(records, packages, strict=True) if package in (p, "all")]
        counts = (len(own), *map(own.count, OUTCOMES))
        rows.append(f"{package:24}" + "".join(f"{n:11}" for n in counts))
    survivors = sorted(_line(record) for record in records if record["result"] == "survived")
    return "\n".join([*rows, "", "Survivors:", *survivors])


def _line(record: dict) -> str:
    change = " ".join(f"{record['before']} -> {record['after']}".split())
    tests = f"{record['tests']} test files, {record['tests_left_out']} left out"
    return f"{record['module']}:{record['line']}: {record['kind']}: {change} ({tests})"


def _mutant_of(record: dict) -> Mutant:
    return Mutant(**{field.name: record[field.name] for field in fields(Mutant)})


if __name__ == "__main__":
    main()
