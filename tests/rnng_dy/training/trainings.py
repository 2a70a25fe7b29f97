"""A training of a model on sentences, as tests start, stop and resume it."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from rnng_dy import checkpoint
from rnng_dy.training import loop
from rnng_dy.training.data import examples_of
from rnng_dy.training.loop import require_same, saved_state
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
    return {k: v for k, v in checkpoint.read_arrays(Path(folder, name)).items() if k != "state"}


def assert_same_bits(first, second, files=("parameters.npz", "training.npz")):
    """Two model folders hold the same numbers."""
    for name in files:
        np.testing.assert_equal(arrays(first, name), arrays(second, name))


class Training(loop.Training):
    """A training in a folder, by the settings of the paper with changes."""

    def __init__(
        self, model, sentences, folder, evaluate=lambda: {"f1": 0.0, "score": 0.0}, **changes
    ):
        settings = replace(PRESETS["paper", model.kind], **changes)
        examples = examples_of(model, sentences, "some sentences")
        super().__init__(Updater(model, examples, settings), Path(folder), evaluate)

    def resume(self):
        """Load what the folder has."""
        state = saved_state(self.folder)
        require_same(state, self.updater.settings, {}, self.folder)
        super().resume(state)

    def learning_rate(self):
        """The learning rate of the next update."""
        return self.progress.learning_rate(self.updater.settings, len(self.updater.examples))

    def run(self, stop=lambda: False):
        """Train to the end and return True, or False if `stop` returned true after an update."""
        several = self.updater.settings.jobs > 1
        with Processes(self.updater, self.folder) if several else nullcontext():
            return super().run(stop)
