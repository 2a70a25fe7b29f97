"""A signal stops work after its step, also where nobody reads the message any longer."""

from __future__ import annotations

import signal

import pytest

from rnng_dy.execution.stopping import stopping


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("error", [BrokenPipeError, RuntimeError("reentrant call")])
def test_a_message_that_cannot_be_written_does_not_end_the_step(number, error):
    def say(line):
        raise error

    before = signal.getsignal(number)
    with stopping(say) as stopped:
        signal.raise_signal(number)
        assert stopped == [number]
        assert signal.getsignal(number) is before
    assert signal.getsignal(number) is before


def test_the_first_signal_is_announced():
    said = []
    with stopping(said.append):
        signal.raise_signal(signal.SIGINT)
    assert said == ["stopping after this step; the same again ends at once"]
