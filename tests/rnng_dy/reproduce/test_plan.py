"""Which stages there are, by which commands."""

from __future__ import annotations

from rnng_dy.reproduce.plan import Experiment, stages
from rnng_dy.reproduce.systems import System, parse

OF_THE_DATA = """\
trees train: prepare --from nltk -o train.trees --sections 1-159 --skip-preterminals
trees dev: prepare --from nltk -o dev.trees --sections 160-179 --skip-preterminals
trees test: prepare --from nltk -o test.trees --sections 180-199 --skip-preterminals
oracle train.oracle: oracle --train train.trees train.trees --unk berkeley -o train.oracle
oracle train.gen.oracle: oracle --train train.trees train.trees --generative --unk berkeley -o train.gen.oracle
oracle dev.oracle: oracle --train train.trees dev.trees --unk berkeley -o dev.oracle
oracle dev.gen.oracle: oracle --train train.trees dev.trees --generative --unk berkeley -o dev.gen.oracle
oracle test.oracle: oracle --train train.trees test.trees --unk berkeley -o test.oracle
oracle test.gen.oracle: oracle --train train.trees test.trees --generative --unk berkeley -o test.gen.oracle
clusters: clusters train.gen.oracle -o clusters.paths
"""
OF_THE_BASELINES = """\
perplexity kneser-ney: perplexity test.gen.oracle --kneser-ney train.gen.oracle --clusters clusters.paths --order 5 --json kneser-ney.json
train lstm-1: train lstm-lm --train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths --preset paper --seed 1 --model lstm-1
perplexity lstm-1: perplexity test.gen.oracle --model lstm-1 --json lstm-1.json
generate lstm-1: generate --model lstm-1 -n 10 --max-length 60 --or-none -o lstm-1.generated.txt
"""  # noqa: E501
OF_A_SYSTEM = """\
train parser-corrected-1: train discriminative --train train.oracle --dev dev.oracle --dev-trees dev.trees --composition corrected --pos --preset paper --seed 1 --model parser-corrected-1
train generator-corrected-1: train generative --train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths --composition corrected --preset paper --seed 1 --model generator-corrected-1
parse corrected-1: parse --model parser-corrected-1 test.oracle -o corrected-1.greedy.trees
sample corrected-1: sample --model parser-corrected-1 --samples 100 --alpha 0.8 --seed 1 test.oracle -o corrected-1.props
score corrected-1: score --model generator-corrected-1 corrected-1.props -o corrected-1.likelihoods
rerank corrected-1: rerank corrected-1.props corrected-1.likelihoods --ess --oracle test.oracle -o corrected-1.map.trees
perplexity corrected-1 beam: perplexity test.gen.oracle --model generator-corrected-1 --search beam --beam 100 --fast-track 5 --word-beam 10 --trees corrected-1.beam.trees -o corrected-1.beam.likelihoods
perplexity corrected-1 particles: perplexity test.gen.oracle --model generator-corrected-1 --search particles --particles 1000 --runs 2 --seed 1 -o corrected-1.particles.likelihoods
generate generator-corrected-1: generate --model generator-corrected-1 -n 10 --max-length 60 --or-none -o corrected-1.generated.trees
"""  # noqa: E501


def planned(*systems, **more):
    return stages(Experiment("nltk", tags="gold", systems=systems, **more))


def commands(found):
    return [f"{stage.name}: {' '.join(stage.command)}" for stage in found]


def test_stages_and_commands_are_those_of_earlier_versions_whose_folders_go_on():
    expected = (OF_THE_DATA + OF_THE_BASELINES + OF_A_SYSTEM).splitlines()
    assert commands(planned(System("corrected"))) == expected


def test_clusters_have_the_classes_of_the_rules():
    found = commands(planned(System("corrected"), unk="berkeley-unicode"))
    named = "clusters: clusters train.gen.oracle --unk berkeley-unicode -o clusters.paths"
    assert [line for line in found if line.startswith("clusters: ")] == [named]


def test_a_state_changes_the_generative_model_which_scores_the_samples_of_the_same_parser():
    text = OF_A_SYSTEM.replace("corrected-1", "corrected-no-buffer-1")
    text = text.replace(" corrected ", " corrected --state no-terms ")
    lines = text.replace("corrected-no-buffer-1.props", "corrected-1.props").splitlines()
    of_the_parser = "train parser", "parse ", "sample "
    expected = [line for line in lines if not line.startswith(of_the_parser)]
    both = commands(planned(System("corrected"), parse("corrected/no-terms")))
    assert both[-len(expected) :] == expected
    assert len(both) == len(commands(planned(System("corrected")))) + len(expected)
    # alone it has the parser, too
    alone = commands(planned(parse("corrected/no-terms")))
    shared = [line for line in OF_A_SYSTEM.splitlines() if line.startswith(of_the_parser)]
    assert sorted(alone[-len(lines) :]) == sorted([*expected, *shared])


IN_ORDER = parse("corrected/in-order")


def test_another_transition_system_has_oracles_of_its_own_once():
    also = IN_ORDER._replace(state="stack")
    found = planned(System("corrected"), IN_ORDER, also, seeds=(1, 2))
    assert commands(found)[:9] == OF_THE_DATA.splitlines()[:9]
    more = [line for line in commands(found) if line.startswith("oracle ") and "in-order" in line]
    options = "--transitions in-order --unk berkeley -o"
    assert more == [
        f"oracle {part}.in-order.{suffix}oracle: oracle --train train.trees {part}.trees "
        f"{generative}{options} {part}.in-order.{suffix}oracle"
        for part in ("train", "dev", "test")
        for suffix, generative in (("", ""), ("gen.", "--generative "))
    ]
    names = [stage.name for stage in found]
    assert len(set(names)) == len(names)


def test_another_transition_system_reads_its_oracles_alone():
    found = planned(IN_ORDER)
    of_system = [stage for stage in found if stage.name.endswith(("in-order-1", "1 beam"))]
    read = {path for stage in of_system for path in stage.inputs if path.endswith("oracle")}
    of_both = ("in-order.oracle", "in-order.gen.oracle")
    expected = {f"{part}.{suffix}" for part in ("train", "dev", "test") for suffix in of_both}
    assert read == expected
    for stage in of_system:
        named = {word for word in stage.command if word.endswith(".oracle")}
        assert named == {path for path in stage.inputs if path.endswith("oracle")}
        is_trained = stage.verb == "train"
        assert ("--transitions in-order" in " ".join(stage.command)) == is_trained
    # what all systems are measured by stays
    [clusters] = [stage for stage in found if stage.verb == "clusters"]
    baselines = [stage for stage in found if stage.group == "baselines"]
    read = {path for stage in (clusters, *baselines) for path in stage.inputs}
    assert {"train.gen.oracle", "test.gen.oracle"} <= read
    assert not any("in-order" in path for path in read)


def test_groups_are_what_can_be_left_out():
    found = planned(System("corrected"), System("buggy"), seeds=(1, 2))
    groups = {}
    for stage in found:
        groups.setdefault(stage.group, []).append(stage)
    assert set(groups) == {"data", "train", "infer", "search", "baselines"}
    assert {stage.search for stage in groups["search"]} == {"beam", "particles"}
    assert {stage.kind for stage in groups["train"]} == {"discriminative", "generative"}
    # nothing else reads what searches and baselines write
    written = {path for g in ("search", "baselines") for s in groups[g] for path in s.outputs}
    others = [stage for g in ("data", "train", "infer") for stage in groups[g]]
    assert not written & {path for stage in others for path in stage.inputs}


def test_what_makes_or_uses_a_model_runs_on_the_device_that_is_named():
    on_device = {stage.verb for stage in planned(System("corrected")) if "{device}" in stage.free}
    assert on_device == {"train", "parse", "sample", "score", "perplexity", "generate"}
