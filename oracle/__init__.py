"""Conversion of treebank trees to transitions, in pure Python and nltk, without DyNet."""
