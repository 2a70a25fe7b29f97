"""Long sentences at the paper's sizes stay within a machine's means."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from oracle.errors import RnngError
from rnng_dy.execution import memory
from rnng_dy.execution.work import ModelFolder, forget_model
from tests.commands import PYTHON, run

from ..conftest import make_parser

GB = 1 << 30

CHECKOUT = Path(__file__).resolve().parents[3]
PROGRAM = """
import nltk
import numpy as np
from oracle.blocks import make_oracle
from oracle.brackets import read_trees
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words
from rnng_dy.execution.memory import peak_memory
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from tests.rnng_dy.conftest import TINY, simple_clusters

trees = list(read_trees(TINY))
unknown = UnknownWords("berkeley", known_words(words(t.tree) for t in trees))
generative = {generative}
long, length = [], 0
while length < 290:
    long.append(trees[len(long)].tree)
    length += len(words(long[-1]))
trees.append(trees[0]._replace(tree=nltk.Tree("S", long)))
sentences = list(make_oracle(trees, unknown, generative=generative))
assert len(sentences[-1].tokens) >= 290
if generative:
    from rnng_dy.language_model import GenerativeModel
    from rnng_dy.vocabulary import GeneratorVocabulary
    model = GenerativeModel(GeneratorVocabulary.build(simple_clusters(sentences, 40), sentences))
else:
    from rnng_dy.parser import DiscriminativeParser
    from rnng_dy.vocabulary import ParserVocabulary
    model = DiscriminativeParser(ParserVocabulary.from_oracle(sentences, True))
examples = [model.encode_training(s) for s in sentences]
updater = Updater(model, examples, PRESETS["fast", model.kind])
longest = len(examples) - 1
update = updater.update([*range(15), longest], 1, 1e-3)
assert update.loss > 0 and not update.left_out
if generative:
    from rnng_dy.search.scoring import joint_log_probs
    assert np.isfinite(joint_log_probs(model, examples[-1].words, [examples[-1].actions]))
else:
    # an untrained parser would draw trees without end
    bias = np.full(len(model.transitions), -4.0)
    bias[:2] = 0, 4
    model.store.dense["action_bias"].set_value(bias)
    from rnng_dy.search.sampling import sample_batch
    [samples] = sample_batch(model, [examples[-1].tokens], 20, 0.8, [[1]])
    assert len(samples) == 20
print(peak_memory())
"""


@pytest.mark.parametrize("generative", [False, True])
def test_a_sentence_of_300_words_trains_and_samples(generative):
    program = PROGRAM.format(generative=generative)
    assert int(run(CHECKOUT, program, command=PYTHON).stdout) < 2.5e9


def test_a_model_that_is_forgotten_leaves_memory(sentences, tmp_path):
    make_parser(sentences).save(tmp_path / "m")
    place = ModelFolder("discriminative", str(tmp_path / "m"))
    model = weakref.ref(place.open())
    gc.collect()
    assert place.open() is model()
    forget_model()
    gc.collect()
    assert model() is None


@pytest.mark.parametrize(
    ("line", "root", "limit", "used"),
    [
        ("0::/batch/job/step\n", "", "memory.max", "memory.current"),
        (
            "5:cpu:/x\n4:memory:/batch/job/step\n0::/\n",
            "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
    ],
)
def test_the_tightest_of_nested_control_groups_counts(
    tmp_path, monkeypatch, line, root, limit, used
):
    """A batch scheduler limits a group inside others, of which some have no limit."""
    (tmp_path / "cgroup").write_text(line)
    for group, most in (
        ("", "max"),
        ("batch", 9 * GB),
        ("batch/job", 2 * GB),
        ("batch/job/step", "max"),
    ):
        folder = tmp_path / "sys" / root / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{most}\n")
        (folder / used).write_text(f"{GB // 2}\n")
    (tmp_path / "meminfo").write_text(
        f"MemTotal: {16 * GB // 1024} kB\nMemAvailable: {8 * GB // 1024} kB\n"
    )
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUP_ROOT", tmp_path / "sys")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert memory.available_memory() == 3 * GB // 2
    (tmp_path / "sys" / root / "batch" / "job" / limit).write_text("max\n")
    assert memory.available_memory() == 8 * GB


def test_without_control_groups_the_system_says_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "none")
    (tmp_path / "meminfo").write_text("MemAvailable: 1000 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert memory.available_memory() == 1_024_000


@pytest.mark.parametrize("needed", [1e18, 10**400])
def test_more_memory_than_any_machine_has_is_refused_in_a_sentence(needed):
    with pytest.raises(RnngError, match=r"a model needs [\d,]+\.\d GB of memory.*: use less"):
        memory.require_memory(needed, "a model", "use less")
