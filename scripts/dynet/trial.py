"""First steps with an installed rnng_dy: `trial.py TREES FOLDER` prints log probabilities in nats.

It runs by its path, in an environment that has neither this checkout nor its test tools.
"""

import sys

import rnng_dy
from oracle.brackets import read_trees

SIZES = {"hidden": 16, "lstm_input": 16, "batch_size": 8, "epochs": 1, "jobs": 1}


def main(trees: str, folder: str) -> None:
    """Train for two updates, save, and use the saved model."""
    golds = [located.tree for located in read_trees(trees)][:20]
    rnng_dy.train("discriminative", golds[:16], golds[16:], folder=folder, pos=True, **SIZES)

    parser = rnng_dy.load(folder)
    [tree] = parser("The board will meet on Friday.")
    print(tree.pformat(margin=10**6), file=sys.stderr)

    for gold in golds:
        print(repr(parser.log_prob(gold)))


if __name__ == "__main__":
    main(*sys.argv[1:])
