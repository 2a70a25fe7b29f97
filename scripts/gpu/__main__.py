"""The command for GPU checks and bundles."""

import argparse

from scripts.gpu import bundle, check, predict
from scripts.gpu.emulator import build as emulator


def main() -> None:
    """Run the named command."""
    parser = argparse.ArgumentParser(prog="python3 -m scripts.gpu")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module, name, says in (
        (check, "check", "whether the CUDA backend computes what the CPU does, and how fast"),
        (bundle, "bundle", "what a checkout lacks on a machine with a GPU and without network"),
        (emulator, "emulate", "run a command on an emulated GPU"),
        (predict, "predict", "the time of a GPU, from counts of an emulated one"),
    ):
        command = commands.add_parser(name, help=says, description=module.DESCRIPTION)
        module.add_options(command)
        command.set_defaults(main=module.main)
    options = parser.parse_args()
    options.main(options)


if __name__ == "__main__":
    main()
