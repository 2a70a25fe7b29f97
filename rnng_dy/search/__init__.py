"""Searches over models, as `batched_search.BatchedModel` shows them: parses, samples, scores."""
