"""From a treebank to the paper's tables: the stages, their runner, and the report.

`plan` lists the stages, `runner` runs those that are missing, `results` reads the numbers, `report` writes them.
"""
