"""Run as a rank: `rnng-dy` whose gradient goes wrong in one rank.

Arguments: FAULT RANK UPDATE, then the command.
"""

import os
import signal
import sys
import time

from rnng_dy.__main__ import main
from rnng_dy.training.updates import Updater


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raises() -> None:
    raise ValueError("something unforeseen")


def disk_full() -> None:
    raise OSError(28, "No space left on device")


def slow() -> None:
    time.sleep(0.2)


fault, rank, number, *command = sys.argv[1:]
FAULTS = {f.__name__: f for f in (killed, raises, disk_full, slow)}
gradient, gradients = Updater._losses, 0


def faulty(updater: Updater, examples) -> list[float]:
    """The gradient, but for the rank's from the given number of gradients on."""
    global gradients
    gradients += 1
    if updater.replicas.rank == int(rank) and gradients >= int(number):
        FAULTS[fault]()
    return gradient(updater, examples)


Updater._losses = faulty
sys.argv[1:] = command
main()
