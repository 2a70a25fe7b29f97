"""The sequential language models that the paper's table 5 compares the generative model with."""
