"""The parser, the generative model and their parts; independent of files, commands and progress reports."""
