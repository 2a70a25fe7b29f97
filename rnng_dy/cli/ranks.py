"""Commands in several MPI ranks: the first rank runs the command, and the others help it."""

from __future__ import annotations

import click

from rnng_dy.cli import errors_reported
from rnng_dy.cli.group import TYPED, Group

FLAG = "--mpi"


class RankedGroup(Group):
    """A group whose commands take --mpi; the `obj` of their contexts is then the `World` of ranks."""

    def invoke(self, ctx: click.Context) -> object:
        """See click. Splits ranks before options are parsed, so that only the first rank reports errors in them."""
        if FLAG not in ctx.meta[TYPED]:
            return super().invoke(ctx)
        from rnng_dy.training.mpi import World

        world = World(ctx.meta[TYPED])
        if world.rank:
            return world.help()
        ctx.obj = world
        with world.leading(), errors_reported():
            return super().invoke(ctx)
