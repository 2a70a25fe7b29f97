"""The parser, the generative model and their parts, which know no commands and no files."""
