"""The Natural Stories corpus as the inputs of `surprisal` and `reading-times`."""
