"""The parser, the generative model and their parts; independent of commands and progress reports."""
