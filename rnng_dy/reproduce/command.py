"""`rnng-dy` for a stage; it ends as by Ctrl-C when the process that has started it is gone."""

import os
import runpy
import signal
import threading


def _end_with_parent() -> None:
    # standard input is a pipe whose other end is open while the parent lives
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    # a shell has its processes in the background ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    runpy.run_module("rnng_dy", run_name="__main__", alter_sys=True)
