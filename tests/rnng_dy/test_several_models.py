"""Several models in one process, in several threads and in other processes: each says what it says alone."""

import multiprocessing
import sys
import threading
import warnings
from concurrent.futures.thread import ThreadPoolExecutor

import pytest

from rnng_dy import DiscriminativeParser
from rnng_dy.models.discriminative import ParserSizes
from rnng_dy.search.surprisal import SearchOptions
from tests.commands import PYTHON, run
from tests.conftest import needs_proc

from .conftest import make_generator, make_parser

FORK = multiprocessing.get_context("fork")
OPTIONS = SearchOptions(beam=8, fast_track=2, word_beam=3)


@pytest.fixture(scope="module")
def tagged(sentences):
    return [list(zip(s.tokens, s.tags, strict=True)) for s in sentences[:12]]


@pytest.fixture(scope="module")
def models(sentences, generative_sentences):
    """Two parsers and a generative model; trees of random parameters would have no end."""
    found = [make_parser(sentences), make_parser(sentences, seed=2, composition="buggy")]
    found.append(make_generator(generative_sentences))
    for model in found:
        model.transitions.max_open = 3
    # REDUCE before SHIFT before all else: what is drawn from it ends, too
    rest = len(found[2].transitions) - 2
    found[2].store.dense["action_bias"].set_value([3.0, 1.0] + [0.0] * rest)
    return found


def bits(records):
    return [record.surprisal for record in records]


def work_of(models, tagged, generative_sentences):
    """What can be asked of models, by name: functions whose results depend on nothing else."""
    first, second, generator = models
    words = [s.unkified for s in generative_sentences[:3]]

    return {
        "parse": lambda: [first.parse_one(tokens) for tokens in tagged[:3]],
        "parse_sents": lambda: [next(trees) for trees in second.parse_sents(tagged)],
        "sample": lambda: second.sample(tagged[0], n=3),
        "log_q": lambda: first.log_prob(first.parse_one(tagged[1])),
        "log_p": lambda: generator.log_prob(second.parse_one(tagged[2])),
        "surprisals": lambda: [bits(generator.surprisals(w[:4], OPTIONS, end=True)) for w in words],
        "generate": lambda: generator.generate(2, seed=3),
        "next_words": lambda: generator.next_words(words[0][:4], 3, OPTIONS),
    }


def test_eight_threads_get_what_one_gets(models, tagged, generative_sentences):
    work = work_of(models, tagged, generative_sentences)
    expected = {name: ask() for name, ask in work.items()}
    names = [name for i in range(4) for name in list(work)[i:] + list(work)[:i]]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: work[name](), names))
    for name, result in zip(names, found, strict=True):
        assert result == expected[name], name


def test_a_process_forked_while_another_thread_parses_can_parse(models, tagged):
    parser = models[0]
    expected, done = parser.parse_one(tagged[0]), threading.Event()

    def disturb():
        while not done.is_set():
            parser.parse_one(tagged[1])

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        with warnings.catch_warnings():
            # Python's own warning of threads that a forked process has not
            warnings.simplefilter("ignore", DeprecationWarning)
            process = FORK.Process(target=lambda: sys.exit(parser.parse_one(tagged[0]) != expected))
            process.start()
        process.join(timeout=60)
        assert process.exitcode == 0
    finally:
        done.set()
        thread.join()


# other processes


LOADS = """
import gc, resource, sys
import rnng_dy

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

for i in range(25):
    rnng_dy.load(sys.argv[1])
    rnng_dy.load(sys.argv[1])
    gc.collect()
    if i == 4:
        before = resident()
print(resident() - before)
"""


@needs_proc
def test_models_give_their_memory_back(sentences, tmp_path):
    """Twenty times two models whose values and gradients are 5 MB each."""
    vocabulary = make_parser(sentences).vocabulary
    model = DiscriminativeParser(vocabulary, ParserSizes(hidden=150, lstm_input=150))
    assert model.store.count() * 8 > 5e6
    model.save(tmp_path / "m")
    assert int(run(None, LOADS, tmp_path / "m", command=PYTHON).stdout) < 40e6
