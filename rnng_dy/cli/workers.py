"""`--jobs` and `--scheduler`: where a command has its work done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

import click
from click.core import ParameterSource

from oracle.errors import RnngError
from rnng_dy.cli.options import AT_LEAST_1
from rnng_dy.cli.paths import PathName
from rnng_dy.cli.quiet import say
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.local import CPU, local_executor


class Workers(NamedTuple):
    """What the options say."""

    jobs: int = 1
    scheduler: str | None = None

    @property
    def is_this_process(self) -> bool:
        """Whether nobody else works."""
        return self == Workers()

    def executor(self, device: str = CPU) -> Executor:
        """The place to run; a connection ends with the command. Raises RnngError where it cannot be used."""
        if self.scheduler is None:
            return local_executor(self.jobs, device)
        if device != CPU:
            raise RnngError("--scheduler is for the CPU: leave --device out")
        from rnng_dy.execution.cluster import DaskWorkers

        executor = DaskWorkers(self.scheduler, say)
        click.get_current_context().call_on_close(executor.close)
        return executor


def workers_options(
    jobs: str = "Working processes; the output does not depend on their number.",
) -> Callable:
    """A decorator that adds both options, which the command gets together as `workers`; `jobs` is the help of one."""

    def decorate(command: Callable) -> Callable:
        @wraps(command)
        def with_workers(*args, jobs: int, scheduler: str | None, **kwargs):
            given = click.get_current_context().get_parameter_source("jobs")
            if scheduler is not None and given is ParameterSource.COMMANDLINE:
                raise click.UsageError(
                    "--jobs is for processes of this machine and --scheduler has workers of its own: give one of them"
                )
            return command(*args, workers=Workers(jobs, scheduler), **kwargs)

        options = [
            click.option("--jobs", type=AT_LEAST_1, default=1, show_default=True, help=jobs),
            click.option(
                "--scheduler",
                type=PathName("address", "file", ["local:", "tcp://"]),
                metavar="ADDRESS|FILE|local:N",
                help="Instead of --jobs: the workers of this Dask scheduler, or N of them that are started here.",
            ),
        ]
        for option in reversed(options):
            with_workers = option(with_workers)
        return with_workers

    return decorate
