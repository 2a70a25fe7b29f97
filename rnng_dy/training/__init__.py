"""Training: one loop for every model, its updates, and processes that share the work."""
