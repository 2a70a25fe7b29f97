"""`rnng-dy serve`: web pages and a JSON interface for models."""

from __future__ import annotations

import os
from dataclasses import fields

import click

from rnng_dy import registry
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import device_option, type_of
from rnng_dy.cli.paths import MODEL
from rnng_dy.cli.quiet import say, warn
from rnng_dy.engine import CPU
from rnng_dy.model_paths import known_models
from rnng_dy.serve import app, require
from rnng_dy.serve.requests import Limits

LOCAL = ("127.0.0.1", "localhost", "::1")
TOKEN = "RNNG_DY_TOKEN"
"""The environment variable with the token, which other users of the machine cannot read."""


_limit_options = together(
    "limits",
    Limits,
    *[
        click.option(
            f"--max-{of.name}",
            of.name,
            type=type_of(of),
            default=of.default,
            help=of.metadata["help"],
        )
        for of in fields(Limits)
    ],
)


@click.command()
@click.option(
    "--model",
    "folders",
    type=MODEL,
    multiple=True,
    required=True,
    help="Model folder, archive or name; give the option once per model.",
)
@click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 is all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="Port; 0 is a free one.")
@click.option("--root-path", default="", help="Path that a proxy removes, such as /parser.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    help="Processes that compute, each with its copy of the models.",
)
@click.option(
    "--token",
    envvar=TOKEN,
    show_envvar=True,
    help="Admit only requests with this token: a browser asks for it as a password.",
)
@device_option
@_limit_options
def serve(folders, host, port, root_path, workers, token, device, limits) -> None:
    """Show trees, surprisals and samples of models on web pages, and answer programs with JSON.

    The pages need no network. They parse while you type, show where a sentence surprises, and show the partial trees
    that live and die word by word. The name of a parser adds its generative model, NAME-generative, if there is one.

    Example: rnng-dy serve --model english
    """
    require()
    models = _named(folders)
    if workers > 1 and device != CPU:
        raise click.UsageError("--workers is for the CPU: one process keeps a GPU busy")
    if token == "":
        raise click.UsageError("--token is empty: it would admit everybody")
    if host not in LOCAL and token is None:
        warn(f"everybody who reaches {host} can use this server: --token admits only some")
    # they need libraries of the extra [serve]
    from rnng_dy.serve.connections import listen, server

    # before the models are loaded, which takes seconds
    listening = listen(host, port)
    application = app(models, workers, limits, token, device)
    shown = f"[{host}]" if ":" in host else host
    say(f"open http://{shown}:{listening.getsockname()[1]}{root_path}/ in a browser; Ctrl-C ends")
    server(application, root_path).run([listening])


def _named(folders: tuple[str, ...]) -> dict[str, str]:
    """Return the folders of the models by the names that users see. Raises UsageError for equal names."""
    models: dict[str, str] = {}
    for folder in folders:
        # a wrong name is an error before any model is loaded
        registry.kind_of(folder)
        name = os.path.basename(os.path.normpath(folder)).removesuffix(".rnng.zip")
        if models.setdefault(name, folder) != folder:
            raise click.UsageError(f"two models are called {name}: rename a folder")
        companion = f"{folder}-generative"
        if companion in known_models():
            models.setdefault(companion, companion)
    return models
