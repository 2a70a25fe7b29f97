"""Treebank trees to transitions. Pure Python and nltk; works without DyNet."""
