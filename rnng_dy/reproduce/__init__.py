"""From a treebank to the paper's tables: `stages` names the commands, `runner` runs them, `report` has the numbers."""
