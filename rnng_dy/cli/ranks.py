"""Commands of which MPI runs several: the first rank is the command, and the others help it."""

from __future__ import annotations

import click

from rnng_dy.cli import told
from rnng_dy.cli.group import TYPED, Group

FLAG = "--mpi"


class RankedGroup(Group):
    """A group whose commands take --mpi; `obj` of their contexts is then the `World` that they are in."""

    def invoke(self, ctx: click.Context) -> object:
        """See click. Before options are looked at: only the first rank says what is wrong with them."""
        if FLAG not in ctx.meta[TYPED]:
            return super().invoke(ctx)
        from rnng_dy.training.mpi import World

        world = World(ctx.meta[TYPED])
        if world.rank:
            return world.help()
        ctx.obj = world
        with world.leading(), told():
            return super().invoke(ctx)
