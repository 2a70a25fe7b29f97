"""Running work: in this process or others, in batches, with resumable outputs and bounds on memory."""
