"""Baselines: the sequential language models that the paper compares with the generative model (table 5)."""
