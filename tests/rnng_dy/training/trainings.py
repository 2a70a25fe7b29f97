"""A training of a model on sentences, as tests start, stop and resume it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from rnng_dy import checkpoint
from rnng_dy.training import loop
from rnng_dy.training.data import examples_of
from rnng_dy.training.loop import Progress, require_same, restored, saved_state, state_of
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.replicas import Processes
from rnng_dy.training.updates import Updater

# Open MPI's, for more ranks than processors and in a container
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
KINDS = ["discriminative", "generative", "lstm-lm"]


def arrays(folder, name="parameters.npz"):
    """The arrays of a file of a model folder."""
    found = checkpoint.read_arrays(Path(folder, name))
    return {k: v for k, v in found.items() if k != "state"}


def assert_same_bits(first, second, files=("parameters.npz", "training.npz")):
    """Two model folders hold the same numbers."""
    for name in files:
        ours, expected = arrays(first, name), arrays(second, name)
        assert ours.keys() == expected.keys()
        assert all(np.array_equal(ours[key], expected[key]) for key in ours)


class Training:
    """A training in a folder, by the settings of the paper with changes."""

    def __init__(self, model, sentences, folder, evaluate=lambda: {"score": 0.0}, **changes):
        self.settings = replace(PRESETS["paper", model.kind], **changes)
        self.model, self.folder, self.evaluate = model, Path(folder), evaluate
        self.examples = examples_of(model, sentences, "some sentences")
        self.updater = Updater(model, self.examples, self.settings)
        self.progress = Progress()

    def create_folder(self):
        """Write the folder of a new training."""
        state = state_of(self.updater, self.progress, {})
        checkpoint.save(self.model, self.folder, state, self.updater.optimizer)

    def resume(self):
        """Load what the folder has."""
        saved = saved_state(self.folder)
        require_same(saved, self.settings, {}, self.folder)
        self.progress = restored(self.updater, self.folder, saved)

    def learning_rate(self):
        """The learning rate of the next update."""
        return self.progress.learning_rate(self.settings, len(self.examples))

    def run(self, stop=lambda: False):
        """Train to the end and return True, or False if `stop` returned true after an update."""
        several = self.settings.jobs > 1
        replicas = Processes(self.updater, self.folder) if several else nullcontext()
        with replicas:
            of_loop = loop.Training(
                self.updater, self.progress, lambda: self.evaluate(), self.folder
            )
            return of_loop.run(stop)
