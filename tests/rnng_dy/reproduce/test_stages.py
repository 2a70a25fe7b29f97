"""Which stages there are, by which commands."""

from __future__ import annotations

from rnng_dy.reproduce.stages import OPTIONAL, SEARCH, Experiment, stages
from rnng_dy.reproduce.systems import System, parse

OF_A_SYSTEM = """\
train parser-corrected-1: train discriminative --train train.oracle --dev dev.oracle --dev-trees dev.trees --composition corrected --pos --preset paper --seed 1 --model parser-corrected-1
parse corrected-1: parse --model parser-corrected-1 test.oracle -o corrected-1.greedy.trees
sample corrected-1: sample --model parser-corrected-1 test.oracle --samples 100 --alpha 0.8 --seed 1 -o corrected-1.props
train generator-corrected-1: train generative --train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths --composition corrected --preset paper --seed 1 --model generator-corrected-1
score corrected-1: score --model generator-corrected-1 corrected-1.props -o corrected-1.likelihoods
rerank corrected-1: rerank corrected-1.props corrected-1.likelihoods --oracle test.oracle -o corrected-1.map.trees
"""  # noqa: E501


def planned(*systems, **more):
    return stages(Experiment("nltk", tags="gold", systems=systems, **more))


def commands(found):
    return [f"{stage.name}: {stage.command}" for stage in found]


def of_paper(*systems):
    """The commands without those of the searches, which come last."""
    return commands(stage for stage in planned(*systems) if stage.group != SEARCH)


def test_a_system_has_the_papers_commands():
    found = of_paper(System("corrected"))
    assert found[-6:] == OF_A_SYSTEM.splitlines()
    sections = "prepare --from nltk --sections 180-199 --skip-preterminals -o test.trees"
    assert f"trees test: {sections}" in found
    order = "--scorer kneser-ney:5=train.gen.oracle --clusters clusters.paths"
    assert any(order in command for command in found)


def test_clusters_have_the_classes_of_the_rules():
    found = commands(planned(System("corrected"), unk="berkeley-unicode"))
    [line] = [line for line in found if line.startswith("clusters: ")]
    assert line.endswith("--unk berkeley-unicode")


def test_a_state_changes_the_generative_model_which_scores_the_samples_of_the_same_parser():
    text = OF_A_SYSTEM.replace("corrected-1", "corrected-no-terms-1")
    text = text.replace(" corrected ", " corrected --state no-terms ")
    lines = text.replace("corrected-no-terms-1.props", "corrected-1.props").splitlines()
    expected = lines[3:]
    both = of_paper(System("corrected"), parse("corrected/no-terms"))
    assert both[-len(expected) :] == expected
    # alone it has the parser, too
    alone = of_paper(parse("corrected/no-terms"))
    assert alone[-6:] == [*OF_A_SYSTEM.splitlines()[:3], *expected]


def test_another_transition_system_has_oracles_of_its_own_and_reads_only_these():
    in_order = parse("corrected/in-order")
    found = planned(in_order, in_order._replace(state="stack"), seeds=(1, 2))
    assert len({stage.name for stage in found}) == len(found)
    of_system = [stage for stage in found if stage.group in ("train", "infer")]
    read = {word for stage in of_system for word in stage.words if word.endswith(".oracle")}
    names = ("train.", "dev.", "test.", "train.gen.", "dev.gen.")
    assert read == {name.replace(".", ".in-order.", 1) + "oracle" for name in names}
    for stage in of_system:
        assert ("--transitions in-order" in stage.command) == (stage.words[0] == "train")
    # what all systems are measured by stays
    others = [stage for stage in found if stage.group == "baselines" or stage.name == "clusters"]
    assert not any("in-order" in stage.command for stage in others)


def test_nothing_else_reads_what_baselines_write():
    found = planned(System("corrected"), System("buggy"), seeds=(1, 2))
    optional = [stage for stage in found if stage.group in OPTIONAL]
    written = {path for stage in optional for path in stage.outputs}
    assert not written & {w for stage in found if stage not in optional for w in stage.words}


def test_the_device_is_for_commands_that_make_or_use_a_model_and_sources_may_have_spaces():
    found = [stage for stage in planned(System("corrected")) if "--device" in stage.free]
    used = {stage.words[0] for stage in found}
    assert used == {"train", "parse", "sample", "score", "perplexity"}
    sources = ["/a treebank", "/b"]
    first = stages(Experiment("ptb", sources=dict.fromkeys(("train", "dev", "test"), sources)))[0]
    assert first.words[:3] == ["prepare", *sources]


def test_searches_are_those_of_each_generative_model_and_other_alphas_those_of_the_first():
    systems = System("corrected"), parse("corrected/stack")
    found = commands(stage for stage in planned(*systems) if stage.group == SEARCH)
    models = ("corrected-1", "corrected-stack-1")
    kinds = ("beam", "particles")
    assert [line.split(":")[0] for line in found[:4]] == [f"{k} {m}" for m in models for k in kinds]
    run = "corrected-1-alpha-0.6"
    assert found[4].endswith(f"--alpha 0.6 --seed 1 -o {run}.props")
    assert found[5].endswith(f"generator-corrected-1 {run}.props -o {run}.likelihoods")
    assert len(found) == 12
