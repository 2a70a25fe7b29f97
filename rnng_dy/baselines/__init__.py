"""Baselines: sequential language models beside the generative model (the paper's table 5)."""
