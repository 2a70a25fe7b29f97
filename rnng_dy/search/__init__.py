"""Searches over models: greedy parsing, sampling, generation, scoring; their interface to a model is `model.Model`."""
