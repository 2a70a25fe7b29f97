"""From a treebank to the paper's tables: the stages, what runs them, and the report.

`plan` says what there is to do, `runner` does what is missing, `results` reads the numbers, `report` writes them.
"""
