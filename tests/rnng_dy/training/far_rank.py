"""Run as a rank: `rnng-dy` whose ranks are on machines of their own, of which only the first one's has its files."""

from __future__ import annotations

from mpi4py import MPI

from oracle import encoded, encoding
from rnng_dy.__main__ import main

rank = MPI.COMM_WORLD.Get_rank()
MPI.Get_processor_name = lambda: f"machine{rank}"
# the arrays of a small oracle are kept in files, too
encoding.KEPT_FROM = 0


def not_there(folder, *arguments, **options):
    raise FileNotFoundError(2, "No such file or directory", folder)


if rank:
    encoded.mapped = not_there
main()
