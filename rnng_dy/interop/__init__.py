"""Files of other programs: checkpoints of the original, word vectors."""
