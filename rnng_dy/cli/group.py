"""What every group of commands does."""

from __future__ import annotations

from difflib import get_close_matches

import click


class Group(click.Group):
    """A group that suggests a command for a mistyped one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click. Raises UsageError for a command that there is not, naming one that it begins or is nearest to."""
        name = args[0]
        refusable = not (name.startswith("-") or ctx.resilient_parsing)
        if refusable and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            begun = [other for other in known if other.startswith(name)]
            near = begun or get_close_matches(name, known)
            suggestion = "".join(f" Did you mean {other!r}?" for other in near[:1])
            ctx.fail(f"No such command {name!r}.{suggestion}")
        return super().resolve_command(ctx, args)
