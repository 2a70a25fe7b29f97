"""What walks a model: greedy parsing, sampling, generation, scoring; they know a model by `model.Model`."""
