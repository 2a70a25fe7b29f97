"""Tables of a study of reading times, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator

from rnng_dy.evaluation.reading_times.predictors import SURPRISAL, UNITS
from rnng_dy.evaluation.reading_times.study import Study, SystemResult

Row = list[str]
_OF_EFFECT = ("ms_per_bit", "standard_error", "low", "high")


def system_rows(study: Study) -> Iterator[Row]:
    """Yield a header and a row per system: log likelihoods in nats per row, and effects of surprisal."""
    before = [e.term.before for e in study.systems[0].effects if e.term.predictor == SURPRISAL]
    yield [
        *("system", "regression", "rows", "items", "folds", "mean_surprisal"),
        *("log_likelihood_without", "log_likelihood", "delta_log_likelihood", "p", "items_better"),
        *(f"{name}_{n}" if n else name for n in before for name in _OF_EFFECT),
    ]
    for system in study.systems:
        better, items = study.items_better(system)
        effects = [e for e in system.effects if e.term.predictor == SURPRISAL]
        yield [
            system.name,
            "mixed" if study.mixed else "plain",
            str(len(study.times)),
            str(items),
            str(study.folds),
            f"{system.bits.mean():.4f}",
            f"{system.log_likelihoods_without.mean():.6f}",
            f"{system.log_likelihoods.mean():.6f}",
            f"{system.deltas.mean():.6f}",
            f"{system.p:.4g}",
            str(better),
            *(
                f"{number:.4f}"
                for e in effects
                for number in (e.coefficient, e.standard_error, *e.interval)
            ),
        ]


def coefficient_rows(study: Study) -> Iterator[Row]:
    """Yield a header and a row per system and term."""
    yield [
        *("system", "predictor", "words_before", "coefficient", "standard_error", "low", "high"),
        *("unit", "delta_log_likelihood"),
    ]
    for system in study.systems:
        for e in system.effects:
            numbers = (e.coefficient, e.standard_error, *e.interval)
            yield [
                system.name,
                e.term.predictor,
                str(e.term.before),
                *(f"{number:.6g}" for number in numbers),
                UNITS[e.term.predictor],
                f"{e.delta:.6f}",
            ]


def pair_rows(study: Study) -> Iterator[Row]:
    """Yield a header and a row per pair of systems."""
    yield ["first", "second", "difference", "p", "p_holm"]
    for pair in study.pairs:
        numbers = (f"{pair.difference:.6f}", f"{pair.p:.4g}", f"{pair.p_holm:.4g}")
        yield [pair.first, pair.second, *numbers]


def word_rows(study: Study) -> Iterator[Row]:
    """Yield a header and a row per system and row of the table of times, with held-out predictions."""
    yield [
        *("system", "item", "position", "word", "subject", "time", "surprisal"),
        *("predicted_without", "predicted", "log_likelihood_without", "log_likelihood"),
    ]
    for system in study.systems:
        for i, word in enumerate(study.words):
            subject = study.subjects[i] if study.subjects else ""
            place = [system.name, word.item, str(word.position), word.text, subject]
            yield [*place, *_numbers(study, system, i)]


def _numbers(study: Study, system: SystemResult, i: int) -> Row:
    return [
        f"{study.times[i]:.2f}",
        f"{system.bits[i]:.6f}",
        f"{system.without[i]:.2f}",
        f"{system.predicted[i]:.2f}",
        f"{system.log_likelihoods_without[i]:.6f}",
        f"{system.log_likelihoods[i]:.6f}",
    ]
