"""From raw text to sentences of tokens as a treebank has them, with the place of each."""
