"""Systems to train and compare: composition, parser state and transitions, as `corrected/stack`."""

from __future__ import annotations

from typing import NamedTuple

from oracle.common.errors import RnngError
from oracle.transitions import SYSTEMS
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, STACK


class System(NamedTuple):
    """A generative model, and a parser of its kind, whose samples it scores.

    The state is the generative model's alone, as in Kuncoro et al. (2017). A parser that does not
    see the buffer knows no word that it has not shifted, and its samples are useless.
    """

    composition: str
    state: str = GENERATOR_STATES.default
    transitions: str = SYSTEMS.default

    def __str__(self) -> str:
        """Return the name, without default parts, that `parse` reads.

        >>> str(System("corrected")), str(System("corrected", "stack"))
        ('corrected', 'corrected/stack')
        """
        return "/".join(self._parts.values())

    @property
    def _parts(self) -> dict[str, str]:
        """The names of the parts that are no defaults."""
        usual = self._field_defaults
        return {part: name for part, name in self._asdict().items() if name != usual.get(part)}

    @property
    def proposal(self) -> System:
        """The system whose parser draws this system's samples.

        >>> print(System("corrected", "stack").proposal)
        corrected
        """
        return self._replace(state=GENERATOR_STATES.default)

    @property
    def options(self) -> str:
        """The options of `rnng-dy train`, without defaults; a parser has those of the proposal.

        >>> System("corrected", "no-terms").options
        '--composition corrected --state no-terms'
        """
        parts = self._parts
        if STACK not in GENERATOR_STATES[self.state].parts:
            del parts["composition"]
        return " ".join(f"--{part} {name}" for part, name in parts.items())


PAPER = System("buggy"), System("corrected")
"""The systems of Dyer et al. (2016)."""
TAGS = {"jackknife": "POS tags of a tagger.", "gold": "Gold POS tags.", "none": "No POS tags."}
"""The tags that parsers may read, and what a report says of them."""


def parse(name: str) -> System:
    """Return the system called `composition[/state][/transitions]`.

    Raises RnngError for any other name, listing the valid ones.

    >>> parse("corrected/full") == parse("corrected"), parse("corrected/in-order").transitions
    (True, 'in-order')
    """
    composition, *more = name.split("/")
    state = more.pop(0) if more and more[0] in GENERATOR_STATES else GENERATOR_STATES.default
    transitions = more.pop(0) if more and more[0] in SYSTEMS else SYSTEMS.default
    if composition not in COMPOSITIONS or more:
        names = "; ".join(map(", ".join, (COMPOSITIONS, GENERATOR_STATES, SYSTEMS)))
        how = f"composition[/state][/transitions] of {names}."
        raise RnngError(f"no system is called {name!r}: {how}")
    return System(composition, state, transitions)
