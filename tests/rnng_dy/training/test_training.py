"""The training loop: the original's update, its schedule, and resuming after a stop."""

import json
from dataclasses import replace

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy import checkpoint
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.training.data import examples_of
from rnng_dy.training.loop import Progress
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.train import word_scores

from ..conftest import looked_up_rows, make_generator, make_parser
from .trainings import Training as training

# nothing random, and a decay that float32 can show
PLAIN = {"dropout": 0.0, "unknown_probability": 0.0, "l2": 1e-2}


def update(run):
    """One update from all examples."""
    return run.updater.update(range(len(run.updater.examples)), 0, run.learning_rate())


def gradients(model, examples):
    """The gradient of the loss by parameter name, lookup rows included."""
    dy.renew_cg()
    loss = model.training_loss(examples, 0.0)
    loss.backward()
    parameters = {**model.store.dense, **model.store.lookups}
    found = {name: p.grad_as_array().astype(np.float64) for name, p in parameters.items()}
    for parameter in parameters.values():
        parameter.scale_gradient(0)
    return found


@pytest.mark.parametrize("clip", [0.01, 5.0, 1e6])
def test_update_is_clipped_sgd_with_unscaled_decay(kind_and_sentences, tmp_path, clip):
    """v -= eta * clip * g + lambda * v, for dense parameters and rows of the sentence."""
    make, sentences = kind_and_sentences
    model = make(sentences)
    run = training(model, sentences[:1], tmp_path, clip=clip, **PLAIN)
    before = {k: v.astype(np.float64) for k, v in model.store.arrays().items()}
    g = gradients(model, run.updater.examples)
    norm = np.sqrt(sum((x**2).sum() for x in g.values()))
    assert update(run) > 0
    rows = looked_up_rows(model.vocabulary, sentences[:1])
    assert rows.keys() == model.store.lookups.keys()
    for name, after in model.store.arrays().items():
        decayed = before[name] * 1e-2
        if name in model.store.lookups:
            untouched = np.ones(len(decayed), bool)
            untouched[sorted(rows[name])] = False
            decayed[untouched] = 0
        expected = before[name] - 0.1 * min(1, clip / norm) * g[name] - decayed
        assert after == pytest.approx(expected, abs=2e-6), name


def test_rows_looked_up_without_gradient_decay_too(kind_and_sentences, tmp_path):
    """The root's label and the last action cannot change a flat tree's loss."""
    make, sentences = kind_and_sentences
    model = make(sentences)
    length = len(sentences[0].tokens)
    flat = replace(sentences[0], actions=(sentences[0].actions[0], *["SHIFT"] * length, "REDUCE"))
    run = training(model, [flat], tmp_path, **PLAIN)
    g, before = gradients(model, run.updater.examples), model.store.arrays()
    update(run)
    after = model.store.arrays()
    [label] = looked_up_rows(model.vocabulary, [flat])["nonterminal"]
    for table, row in (("nonterminal", label), ("action", 0)):
        assert not g[table][row].any()
        assert after[table][row] == pytest.approx(before[table][row] * (1 - PLAIN["l2"]), rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "epoch_length", "due"),
    [
        ("discriminative", 3396, [100, 2600, 5100, 7600]),
        ("generative", 3396, [10000, 20000]),
        ("generative", 39832, [40000, 50000]),
    ],
)
def test_evaluations_come_when_the_originals_come(kind, epoch_length, due):
    settings = PRESETS["paper", kind]
    state, found = Progress(), []
    while len(found) < len(due):
        before = state.sentences
        state.sentences += 1
        state.epoch = state.sentences // epoch_length
        if state.is_evaluation_due(before, settings):
            found.append(state.sentences)
    assert found == due


def test_words_seen_once_become_their_class_half_of_the_time(sentences):
    model = make_parser(sentences)
    singletons = model.vocabulary.singletons
    examples = [model.encode_training(s) for s in sentences]
    example = next(e for e in examples if singletons & set(e.tokens.words))
    random = np.random.default_rng(1)
    replaced = total = 0
    for _ in range(400):
        drawn = model.with_unknowns(example, 0.5, random)
        words = zip(example.tokens.words, drawn.tokens.words, example.classes, strict=True)
        for old, new, unk in words:
            if old in singletons:
                total += 1
                replaced += new == unk
            else:
                assert new == old
    assert abs(replaced / total - 0.5) < 5 * 0.5 / np.sqrt(total)


def score_from_parameters(model):
    """An evaluation that depends on the parameters and nothing else."""
    return lambda: {"f1": 0.0, "score": float(model.store.arrays()["hidden_bias"].sum())}


def run_to_end(make, sentences, folder, stops=(), **settings):
    """Train 2 epochs with dropout, and resume after each of some stops."""
    schedule = {"epochs": 2, "first_evaluation": 10, "evaluate_every": 15, "evaluate_from_epoch": 0}
    schedule |= {"save_every": 0.0, "report_every": 5} | settings
    for n, stop in enumerate([*stops, None]):
        model = make(sentences, seed=5)
        run = training(model, sentences[:20], folder, score_from_parameters(model), **schedule)
        if n == 0:
            run.begin()
        else:
            run.resume()
        assert run.run(lambda run=run, stop=stop: run.progress.updates == stop) == (stop is None)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for record in log:
        for of_the_clock in ("seconds", "sentences_per_second", "seconds_left"):
            record.pop(of_the_clock, None)
    return model.store.arrays(), checkpoint.read_arrays(folder / "parameters.npz"), log


ADAM = {"optimizer": "adam", "schedule": "linear", "learning_rate": 0.01, "batch_size": 3}


@pytest.mark.parametrize(
    ("settings", "stops"),
    [({}, [3, 11, 20, 33]), (ADAM, [2, 9]), (ADAM | {"jobs": 2}, [5])],
    ids=["sgd", "adam", "adam, two processes"],
)
def test_resumed_training_reaches_the_same_numbers_bit_for_bit(
    kind_and_sentences, tmp_path, settings, stops
):
    make, sentences = kind_and_sentences
    straight = run_to_end(make, sentences, tmp_path / "straight", **settings)
    resumed = run_to_end(make, sentences, tmp_path / "resumed", stops, **settings)
    np.testing.assert_equal(resumed[:2], straight[:2])
    assert resumed[2] == straight[2]


@pytest.mark.parametrize(
    ("scores", "left_out", "best"),
    [
        # a new best is a strict improvement
        ([3.0, 7.0, 7.0, 5.0], [0, 0, 0, 0], 1),
        # a score of fewer sentences is not the best, as if less memory were free at the second
        # evaluation
        ([-9.0, -5.0, -8.0, -9.0], [1, 2, 1, 1], 2),
        ([-9.0, -5.0, -8.0, -20.0], [1, 2, 1, 0], 3),
    ],
)
def test_the_best_model_is_kept(sentences, tmp_path, scores, left_out, best):
    model, kept = make_parser(sentences), []

    def evaluate():
        score, missing = scores[len(kept)], left_out[len(kept)]
        kept.append(model.store.arrays()["hidden_bias"])
        return {"f1": 0.0, "score": score, "dev_left_out": missing, "perplexity": np.inf}

    schedule = {"epochs": 1, "first_evaluation": 2, "evaluate_every": 2}
    run = training(model, sentences[:8], tmp_path / "m", evaluate, **schedule)
    run.begin()
    assert run.run()
    saved = checkpoint.read_arrays(tmp_path / "m" / "parameters.npz")["hidden_bias"]
    assert np.array_equal(saved, kept[best])
    assert (run.progress.best, run.progress.best_sentences) == (scores[best], 2 * (best + 1))
    # JSON has no infinities
    assert '"perplexity": null' in (tmp_path / "m" / "log.jsonl").read_text()


def test_a_stop_before_the_first_evaluation_leaves_the_model_as_it_is_then(sentences, tmp_path):
    model = make_parser(sentences)
    run = training(model, sentences[:8], tmp_path / "m", first_evaluation=100)
    run.begin()
    assert not run.run(lambda: run.progress.updates == 3)
    saved = checkpoint.read_arrays(tmp_path / "m" / "parameters.npz")
    np.testing.assert_equal(saved, {**saved, **model.store.arrays()})


PATIENCE = {"first_evaluation": 5, "evaluate_every": 5, "epochs": 4, "patience": 2}
SCORES = {5: 1.0, 10: 3.0, 15: 2.0, 20: 4.0, 25: 4.0, 30: 3.5}
"""By sentences; a new best is a strict improvement, so 30 is the second one without."""


def run_with_scores(sentences, folder, **settings):
    """Train on 20 sentences, or go on in a folder that is there; gives the run and its log."""
    model = make_parser(sentences, seed=5)
    run = training(model, sentences[:20], folder, **(PATIENCE | settings))
    run.evaluate = lambda: {"f1": 0.0, "score": SCORES.get(run.progress.sentences, 0.0)}
    if folder.exists():
        run.resume()
    else:
        run.begin()
    assert run.run()
    return run, [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("jobs", [1, 2])
def test_training_ends_after_patience_evaluations_without_a_new_best(sentences, tmp_path, jobs):
    run, log = run_with_scores(sentences, tmp_path / "m", jobs=jobs, batch_size=5)
    assert (run.progress.sentences, run.progress.best_sentences) == (30, 20)
    assert log[-1]["best"] == 4.0


def test_a_run_that_patience_ended_goes_on_with_more_of_it_alone(sentences, tmp_path):
    folder = tmp_path / "m"
    run_with_scores(sentences, folder)
    again, _ = run_with_scores(sentences, folder)
    assert again.progress.sentences == 30
    on, log = run_with_scores(sentences, folder, patience=4)
    straight, straight_log = run_with_scores(sentences, tmp_path / "straight", patience=4)
    assert on.progress.sentences == straight.progress.sentences == 40
    assert [r["sentences"] for r in log] == [r["sentences"] for r in straight_log]
    np.testing.assert_equal(*(run.updater.model.store.arrays() for run in (on, straight)))


def test_the_linear_schedule_goes_to_zero_and_keeps_its_epochs(sentences, tmp_path):
    run = training(make_parser(sentences), sentences[:8], tmp_path / "m", epochs=4, **ADAM)
    run.begin()
    rates = []
    for run.progress.sentences in (0, 8, 16, 31):
        rates.append(run.learning_rate())
    assert rates == pytest.approx([0.01, 0.0075, 0.005, 0.01 / 32])
    with pytest.raises(RnngError, match="epochs"):
        training(make_parser(sentences), sentences[:8], tmp_path / "m", epochs=5, **ADAM).resume()


def test_sentences_that_do_not_fit_are_left_out_and_named(sentences, tmp_path, monkeypatch, caplog):
    model = make_parser(sentences)
    run = training(model, sentences[:9], tmp_path / "m", epochs=2, batch_size=4)
    run.begin()
    loss = model.training_loss
    fits = 2 * max(len(e.words) for e in run.updater.examples)
    long = max(range(9), key=lambda i: len(run.updater.examples[i].words))

    def limited(examples, dropout):
        if examples[0].actions == run.updater.examples[long].actions or len(examples) * 10 > fits:
            raise MemoryError
        return loss(examples, dropout)

    monkeypatch.setattr(model, "training_loss", limited)
    assert run.run()
    words = len(run.updater.examples[long].words)
    said = f"sentence {long + 1} of {words} words does not fit into memory"
    # once in each epoch
    assert caplog.text.count(said) == caplog.text.count("is left out") == 2


def test_gold_trees_are_evaluated_many_to_a_graph(generative_sentences, monkeypatch):
    model = make_generator(generative_sentences)
    examples = examples_of(model, generative_sentences[:30], "some")
    graphs = []
    renew_cg = dy.renew_cg
    monkeypatch.setattr(dy, "renew_cg", lambda **kw: graphs.append(renew_cg(**kw)))
    found = word_scores(model, examples)
    assert len(graphs) == 1
    alone = [model.encode_training(s) for s in generative_sentences[:30]]
    expected = sum(joint_log_probs(model, e.words, [e.actions])[0] for e in alone)
    assert found["log_likelihood"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e10])
def test_a_model_that_diverged_takes_the_place_of_none(sentences, tmp_path, value):
    """Its score may be the best of all, since sentences without a likelihood are left out."""
    model = make_parser(sentences)
    run = training(model, sentences[:2], tmp_path / "m", epochs=1)
    run.begin()
    before = {path: path.read_bytes() for path in (tmp_path / "m").iterdir()}

    model.store.dense["action_bias"].set_value(np.full(len(model.transitions), value))
    run.updater.update = lambda *arguments: 1.0
    for changes in ({"first_evaluation": 1}, {"save_every": 0.0}):
        run.updater.settings = replace(run.updater.settings, **changes)
        with pytest.raises(RnngError, match=r"diverged before update .*learning_rate"):
            run.run()
        assert {path: path.read_bytes() for path in before} == before


def test_the_norm_of_a_gradient_does_not_depend_on_what_a_table_was_used_for_before():
    """DyNet added rows in the order of a hash table, which grows and keeps its size."""

    def backward(rows):
        dy.renew_cg()
        dy.esum([dy.squared_norm(dy.lookup(table, int(i))) for i in rows]).backward()

    random = np.random.default_rng(1)
    norms = []
    for history in (0, 3, 40, 700):
        store = ParameterStore(1)
        table = store.lookup("x", 1000, 7)
        trainer = dy.SimpleSGDTrainer(store.collection)
        trainer.learning_rate = 0.0
        for rows in (range(history), random.permutation(history)):
            if len(rows):
                backward(rows)
                trainer.update()
        found = []
        for seed in range(30):
            backward(np.random.default_rng(seed).choice(1000, 60, replace=False))
            found.append(store.collection.gradient_l2_norm())
            trainer.update()
        norms.append(found)
    assert norms[0] == norms[1] == norms[2] == norms[3]
