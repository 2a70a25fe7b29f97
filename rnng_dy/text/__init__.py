"""Raw text to sentences of tokens in a treebank's style, with their positions in the text."""
