"""The English models that the package brings: their treebanks, trainings and archives."""
