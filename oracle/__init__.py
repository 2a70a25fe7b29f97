"""What needs no DyNet: treebanks, unknown words, transition systems and oracles, POS tags.

From a tree to its oracle: `brackets` reads it, `treebank` cleans it, `unknown` classes its words,
`transition_system` and `transitions` make its actions, `blocks` writes them, and `training_data`
does all of it for a training.
"""
