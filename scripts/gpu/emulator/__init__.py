"""An emulator of CUDA: DyNet's CUDA backend, compiled by g++, runs on the CPU and is checked there.

`python3 -m scripts.gpu emulate COMMAND` builds it and runs a command with it.
"""
