"""One update of a model: the gradient of a minibatch, clipping and the optimizer's step.

`Updater.update` is the update. With several replicas each computes the gradient of its share of the
minibatch, `add_up` sums them, and all make the same step.
"""

import logging
import math
import operator
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.engine import dy, one_graph
from rnng_dy.parallel import split_on_memory_error
from rnng_dy.parameters import LARGEST, ParameterStore, are_usable
from rnng_dy.training.presets import Settings

_log = logging.getLogger(__name__)

Rows = Mapping[str, set[int]]
"""Rows of lookup tables, by the table's name."""


class PartialLoss(NamedTuple):
    """The loss of a minibatch or of one replica's part of it, and the extent of its gradient."""

    loss: float
    """Loss in nats."""
    rows: Rows
    """Lookup rows that have a gradient."""
    used: Rows
    """Lookup rows that its graphs have used, which decay with or without a gradient."""


def union(several: Sequence[Rows]) -> Rows:
    """Return the union of several sets of rows."""
    names = dict.fromkeys(chain.from_iterable(several))
    return {name: set().union(*(rows.get(name, ()) for rows in several)) for name in names}


class Replicas:
    """The replicas of a model that share each minibatch, as one of them sees them.

    It knows its `rank`, from 0, and their `count`.
    """

    def __enter__(self) -> Any:
        return self

    def begin(self, *task: object) -> None:
        """Send the arguments of `Updater.update` to the others, if this is the first one."""

    def gathered(self, message: Any) -> list[Any]:
        """Return the messages of all replicas, in the order of ranks."""

    def total(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum over all replicas of the numbers of flat float32 arrays, joined."""


def add_up(store: ParameterStore, loss: PartialLoss, replicas: Replicas) -> PartialLoss:
    """Replace the gradients in a replica's store by the sums over all replicas.

    Return the whole loss. The replicas exchange the gradients of dense parameters that a graph has
    used, then of its lookup rows.
    """
    losses = replicas.gathered(loss)
    rows, used = union([x.rows for x in losses]), union([x.used for x in losses])
    unused = set(map(id, store.unused(used)))
    dense = [p.grad_view().ravel(order="K") for p in store.dense.values() if id(p) not in unused]
    tables = {name: (store.lookups[name], sorted(ids)) for name, ids in rows.items() if ids}
    lookups = [table.grad_view()[ids].ravel() for table, ids in tables.values()]
    *ends, _ = np.cumsum([len(values) for values in (*dense, *lookups)]).tolist()
    sums = iter(np.split(replicas.total([*dense, *lookups]), ends))
    for gradient in dense:
        gradient[:] = next(sums)
    for table, ids in tables.values():
        table.grad_view()[ids] = next(sums).reshape(len(ids), -1)
        table.touch(ids)
    return PartialLoss(sum(x.loss for x in losses), rows, used)


class Sgd:
    """The original's update, v -= rate * g + l2 * v, for what the minibatch uses.

    The decay is not scaled by the learning rate. The decay of the lookup rows is added as a
    gradient.
    """

    def __init__(self, store: ParameterStore, clip: float, l2: float):
        self._store, self._clip, self._l2 = store, clip, l2
        self._trainer = dy.SimpleSGDTrainer(store.collection)
        # clipping is part of the step size here
        self._trainer.set_clip_threshold(0.0)

    def step(self, rate: float, norm: float, rows: Rows) -> None:
        """Update from the gradients in the store, whose norm is `norm`, and clear them."""
        size = rate * min(1.0, self._clip / norm) if norm else rate
        if self._l2 and any(rows.values()):
            dy.renew_cg()
            (self._store.row_penalty(rows) * (self._l2 / size)).backward()
        if self._l2:
            self._store.decay(self._l2)
        self._trainer.learning_rate = size
        # the other gradients are 0 and need no update
        with self._store.only_used(rows):
            self._trainer.update()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the optimizer's state, which is empty."""
        return {}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the state that `arrays` returned."""


class Adam:
    """Adam (Kingma and Ba 2015) with clipped gradients.

    Lookup rows and the words of a cluster, with their moments, change only in an update that uses
    them. So the cost of an update does not grow with the vocabulary. `l2` shrinks dense parameters,
    as in AdamW but not scaled by the learning rate.
    """

    def __init__(self, store: ParameterStore, clip: float, l2: float):
        self._store, self._l2 = store, l2
        self._trainer = dy.AdamTrainer(store.collection)
        self._trainer.set_clip_threshold(clip)

    def step(self, rate: float, norm: float, rows: Rows) -> None:
        """Update from the gradients in the store and clear them."""
        if self._l2:
            self._store.decay(self._l2)
        self._trainer.learning_rate = rate
        with self._store.only_used(rows):
            self._trainer.update(norm)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the number of updates, and the moments as float32."""
        updates, moments = self._trainer.state()
        for i, moment in enumerate(moments):
            # one by one, since those of DyNet are float64
            moments[i] = moment.astype(np.float32)
        return {"updates": np.array(updates)} | {f"moment/{i}": m for i, m in enumerate(moments)}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the state that `arrays` returned."""
        moments = [arrays[f"moment/{i}"] for i in range(len(arrays) - 1)]
        self._trainer.set_state(operator.index(arrays["updates"][()]), moments)


OPTIMIZERS = {"sgd": Sgd, "adam": Adam}


class Diverged(RnngError):
    """Loss, gradient or parameters are not finite, or too large; raised by every replica alike."""


class Updater:
    """Makes updates of a model; all replicas make the same ones."""

    replicas: Replicas | None = None

    def __init__(self, model: Any, examples: Sequence, settings: Settings):
        self.model, self.examples, self.settings = model, examples, settings
        self.optimizer = OPTIMIZERS[settings.optimizer](model.store, settings.clip, settings.l2)

    @one_graph
    def update(self, members: Sequence[int], number: int, rate: float) -> float:
        """Make update number `number` from the examples `members`, at a learning rate.

        Returns the loss in nats. Random draws depend on the seed, the number and, for dropout, the
        replica. Examples whose graphs do not fit into memory are named and left out.
        Raises Diverged if loss or gradient is not finite.
        """
        seed, replicas = self.settings.seed, self.replicas
        random = np.random.default_rng([seed, 1, number])
        unknown = self.settings.unknown_probability
        batch = {i: self.model.with_unknowns(self.examples[i], unknown, random) for i in members}
        if replicas is None:
            dy.reset_random_seed(_random_seed(seed, number))
            whole = self._gradient(batch)
        else:
            replicas.begin(members, number, rate)
            dy.reset_random_seed(_random_seed(seed, number, replicas.rank))
            lengths = {i: len(example.words) for i, example in batch.items()}
            share = shares_of_like_size(lengths, replicas.count)[replicas.rank]
            whole = add_up(self.model.store, self._gradient({i: batch[i] for i in share}), replicas)
        norm = self.model.store.collection.gradient_l2_norm()
        if not (math.isfinite(whole.loss) and math.isfinite(norm)):
            what = f"at update {number}: loss {whole.loss}, gradient norm {norm}"
            raise Diverged(f"training diverged {what}; use a lower `learning_rate`")
        self.optimizer.step(rate, norm, union([whole.rows, whole.used]))
        return whole.loss

    def require_usable(self, number: int) -> None:
        """Raise Diverged if `store.load` would refuse the parameters after `number` updates."""
        for name, values in self.model.store.arrays().items():
            if not are_usable(values):
                raise Diverged(
                    f"training diverged before update {number}: parameter {name} holds NaN, "
                    f"infinity, or numbers over {LARGEST:g}; use a lower `learning_rate`"
                )

    def _gradient(self, batch: Mapping[int, Any]) -> PartialLoss:
        """Add the gradient of the batch to the store.

        It uses smaller graphs if one does not fit into memory.
        """
        store = self.model.store
        store.forget_used_rows()
        losses = split_on_memory_error(self._losses, list(batch.values())) if batch else []
        for (i, example), loss in zip(batch.items(), losses, strict=True):
            if loss is None:
                what = f"sentence {self.examples.members[i] + 1} of {len(example.words)} words"
                _log.warning(f"{what} does not fit into memory and is left out")
        loss = sum(filter(None, losses))
        return PartialLoss(loss, store.rows_with_gradient(), store.used_rows())

    def _losses(self, examples: Sequence) -> list[float]:
        """Add the gradient of the examples.

        Returns their loss in nats with the first example, 0 with the others.
        """
        dy.renew_cg()
        loss = self.model.training_loss(examples, self.settings.dropout)
        value = loss.value()
        loss.backward()
        return [value] + [0.0] * (len(examples) - 1)


def shares_of_like_size(sizes: Mapping[int, int], count: int) -> list[list[int]]:
    """Divide the keys into `count` shares of like total size.

    >>> shares_of_like_size({7: 5, 8: 1, 9: 4}, 2)
    [[7], [9, 8]]
    """
    shares: list[list[int]] = [[] for _ in range(count)]
    totals = [0] * count
    for key in sorted(sizes, key=lambda k: -sizes[k]):
        smallest = totals.index(min(totals))
        shares[smallest].append(key)
        totals[smallest] += sizes[key]
    return shares


def _random_seed(seed: int, update: int, *replica: int) -> int:
    """Return a seed for DyNet, not 0, which would be random, by update and replica."""
    state = np.random.SeedSequence([seed, 2, update, *replica]).generate_state(1)[0]
    return 1 + int(state) % (2**32 - 1)
