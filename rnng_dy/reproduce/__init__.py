"""From a treebank to the tables of the paper: stages, their runner, and a report."""
