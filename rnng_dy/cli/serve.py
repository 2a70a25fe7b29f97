"""`rnng-dy serve`: web pages and a JSON interface for models."""

import os
import socket
from dataclasses import fields

import click

from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import MODEL, Assignment, Command, device_option
from rnng_dy.cli.rules import option
from rnng_dy.kinds import kind_of
from rnng_dy.model_folder import companion
from rnng_dy.serve import Limits, app, require
from rnng_dy.settings import AT_LEAST_1

LOCAL = ("127.0.0.1", "localhost", "::1")
ALL = ("0.0.0.0", "::")
LIMITS = Assignment({field.name: AT_LEAST_1 for field in fields(Limits)})
DEFAULTS = ", ".join(f"{field.name} {field.default}" for field in fields(Limits))
MOST = f"The most of what a request may ask: {DEFAULTS}."


@click.command(cls=Command)
@option("--model", "Folder, archive or name.", MODEL, "folders", multiple=True, required=True)
@option("--host", "Address to listen on; 0.0.0.0 is all.", default="127.0.0.1")
@option("--port", "Port; 0 is a free one.", click.IntRange(0, 65535), default=8000)
@device_option
@option("--limit", MOST, LIMITS, "limits", metavar="NAME=N", multiple=True)
@option("--allow-host", "Another name of the server.", name="names", multiple=True, metavar="NAME")
def serve(folders, host, port, device, limits, names) -> None:
    """Show trees and surprisals of models on web pages, and answer programs with JSON.

    The pages need no network. They parse while you type, show where a sentence surprises, and show
    the partial trees that live and die word by word. The name of a parser adds its generative
    model, NAME-generative, if there is one.

    Example: rnng-dy serve --model english
    """
    require()
    import uvicorn

    models = _named(folders)
    if host not in LOCAL:
        warn(f"everybody who reaches {host} can use this server: see docs/serve.md for a proxy")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # before the models are loaded, which takes seconds
    listening = socket.create_server((host, port), family=family)
    machine = [socket.gethostname()] if host in ALL else []
    hosts = [name.lower() for name in (*LOCAL, host, *machine, *names)]
    application = app(models, Limits(**dict(limits)), device, hosts)
    shown = f"[{host}]" if ":" in host else host
    say(f"open http://{shown}:{listening.getsockname()[1]}/ in a browser; Ctrl-C ends")
    config = uvicorn.Config(
        application, log_level="warning", server_header=False, timeout_graceful_shutdown=5
    )
    uvicorn.Server(config).run([listening])


def _named(folders: tuple[str, ...]) -> dict[str, str]:
    """Return the folders of the models by name. Raises UsageError for equal names."""
    models: dict[str, str] = {}
    for folder in folders:
        # a wrong name is an error before any model is loaded
        kind_of(folder)
        name = os.path.basename(os.path.normpath(folder)).removesuffix(".rnng.zip")
        if models.setdefault(name, folder) != folder:
            raise click.UsageError(f"two models are called {name}: rename a folder")
        if (other := companion(folder, ["generative"])) != folder:
            models.setdefault(other, other)
    return models
