"""The command group of all benchmarks."""

import click

from scripts.benchmarks import against, clusters, growth, models, mpi, original, profile, systems


@click.group(help=__import__("scripts.benchmarks").benchmarks.__doc__)
def main() -> None:
    pass


for module in (models, growth, against, original, systems, clusters, mpi, profile):
    main.add_command(module.main)

if __name__ == "__main__":
    main()
