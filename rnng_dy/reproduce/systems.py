"""Systems to train and compare: a composition, a parser state and a transition system, such as `corrected/stack`."""

from __future__ import annotations

from typing import NamedTuple

from oracle.errors import RnngError
from oracle.transitions import DEFAULT as TOP_DOWN
from oracle.transitions import SYSTEMS
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import DEFAULT as FULL
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES, States

STATES = {"discriminative": PARSER_STATES, "generative": GENERATOR_STATES}


class System(NamedTuple):
    """A generative model, and a parser of its kind, whose samples it scores.

    The state is the generative model's alone, as in Kuncoro et al. (2017). A parser that does not see the buffer knows
    no word that it has not shifted, and its samples are useless.
    """

    composition: str
    state: str = FULL
    """The state, as a parser names it."""
    transitions: str = TOP_DOWN

    @property
    def name(self) -> str:
        """The name without default parts.

        >>> System("corrected").name, System("corrected", "stack").name
        ('corrected', 'corrected/stack')
        """
        more = ((self.state, FULL), (self.transitions, TOP_DOWN))
        return "/".join((self.composition, *(part for part, default in more if part != default)))

    @property
    def proposal(self) -> System:
        """The system whose parser draws this system's samples.

        >>> System("corrected", "stack").proposal.name
        'corrected'
        """
        return self._replace(state=FULL)

    @property
    def slug(self) -> str:
        """The name as part of file names.

        >>> System("corrected", "stack").slug
        'corrected-stack'
        """
        return self.name.replace("/", "-")

    def options(self, kind: str) -> str:
        """Return the options of `rnng-dy train KIND`, without defaults.

        >>> System("corrected", "no-buffer").options("generative")
        '--composition corrected --state no-terms'
        """
        options = f"--composition {self.composition}"
        if self.state != FULL:
            options += f" --state {_same_state(self.state, STATES[kind])}"
        if self.transitions != TOP_DOWN:
            options += f" --transitions {self.transitions}"
        return options


PAPER = System("buggy"), System("corrected")
"""The systems of Dyer et al. (2016)."""


def parse(name: str) -> System:
    """Return the system called `composition[/state][/transitions]`; either model's name of a state is valid.

    Raises RnngError for any other name, listing the valid ones.

    >>> parse("corrected/full") == parse("corrected"), parse("buggy/no-terms").name
    (True, 'buggy/no-buffer')
    """
    states = PARSER_STATES | GENERATOR_STATES
    composition, *more = name.split("/")
    state = _same_state(more.pop(0), PARSER_STATES) if more and more[0] in states else FULL
    transitions = more.pop(0) if more and more[0] in SYSTEMS else TOP_DOWN
    if composition not in COMPOSITIONS or more:
        parts = "; ".join(", ".join(registry) for registry in (COMPOSITIONS, states, SYSTEMS))
        raise RnngError(
            f"no system is called {name!r}: composition[/state][/transitions] of {parts}."
        )
    return System(composition, state, transitions)


def _same_state(name: str, states: States) -> str:
    """Return a model's name of a state: the words are a buffer to the parser, terms to the generative model."""
    if name in states:
        return name
    return states[(PARSER_STATES | GENERATOR_STATES)[name].other_name or name].name
