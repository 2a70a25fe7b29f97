"""Where and how work runs: this process or others, batches, outputs that can be gone on with, memory."""
