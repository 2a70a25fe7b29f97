"""The parser, the generative model and what they are made of; they know nothing of files, commands or progress."""
