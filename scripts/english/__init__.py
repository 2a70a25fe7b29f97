"""The English models that the package brings: their treebanks, trainings and archives."""

import scripts.script_start  # noqa: F401
