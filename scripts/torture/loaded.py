"""All modules of the commands, and DyNet, loaded once for the processes that `limits` forks."""

import gc
import importlib

import rnng_dy.cli
from rnng_dy import engine

engine.start()
for place in rnng_dy.cli.COMMANDS.values():
    importlib.import_module(f"rnng_dy.cli.{place.module}")
gc.freeze()
