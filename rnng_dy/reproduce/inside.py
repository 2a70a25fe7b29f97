"""What tables of results do not show: numbers of samples, alphas, and weights of attention."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path
from statistics import fmean

from oracle.common.errors import ImpossibleError
from oracle.common.lazy import nltk
from oracle.treebank import is_preterminal, tags, with_words
from rnng_dy.drawing.measured_words import require_matplotlib
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.kinds import load
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, STACK
from rnng_dy.reproduce.stages import ALPHAS, Experiment, named
from rnng_dy.reproduce.tables import Table, trees_of
from rnng_dy.search.importance import Sampled, estimate, read_sampled

FIGURE = "samples.svg"
NUMBERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The numbers of samples in curves."""
MOST_LABELS, MOST_HEADS = 15, 4
"""The most labels of constituents, and of children of each, in the table of weights."""


def curves(folder: Path, e: Experiment, made: Set[str]) -> Table:
    """Return F1 and perplexity of the first system by alpha and number of samples.

    There are no rows unless `made`, the outputs of the finished stages, has the samples of each
    alpha. Fewer samples are the first of all of them.
    """
    title, system = "Number of samples and alpha", e.systems[0]
    golds, rows = trees_of(folder / "test.trees"), []
    numbers = [*(n for n in NUMBERS if n < e.samples), e.samples]
    for alpha in ALPHAS:
        values = defaultdict(list)
        for seed in e.seeds:
            samples = f"{named(system.proposal, seed, alpha)}.props"
            likelihoods = f"{named(system, seed, alpha)}.likelihoods"
            if not made.issuperset((samples, likelihoods)):
                return Table(title, [], "")
            sampled = read_sampled(folder / samples, folder / likelihoods)
            for number in numbers:
                values[number].append(_of_first(number, sampled, golds))
        for number, seeds in values.items():
            f1, perplexity = map(fmean, zip(*seeds, strict=True))
            rows.append({"alpha": alpha, "samples": number, "F1": f1, "perplexity": perplexity})
    return Table(title, rows, f"Of {system}, means over seeds.\n\n![F1 and perplexity]({FIGURE})")


def _of_first(
    number: int, sampled: Sequence[Sampled], golds: Sequence[nltk.Tree]
) -> tuple[float, float]:
    """Return F1 and perplexity by the first samples of each sentence."""
    trees, log_ps = [], []
    for sentence, gold in zip(sampled, golds, strict=True):
        first = sentence.samples[:number]
        estimated = estimate([s.log_q for s, _ in first], [log_p for _, log_p in first])
        best, _ = sentence.samples[estimated.best]
        trees.append(with_words(best.tree, gold.leaves(), tags(gold)))
        log_ps.append(estimated.log_marginal)
    perplexity = likelihood(log_ps, [sentence.words for sentence in sampled]).perplexity
    return evalb.score(golds, trees).f1, perplexity


def draw(table: Table, path: Path) -> None:
    """Draw F1 and perplexity by number of samples, a line per alpha."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    scales = {"F1": "linear", "perplexity": "log"}
    for axes, (measure, scale) in zip(figure.subplots(1, 2), scales.items(), strict=True):
        for alpha in dict.fromkeys(row["alpha"] for row in table.rows):
            rows = [row for row in table.rows if row["alpha"] == alpha]
            points = [[row[name] for row in rows] for name in ("samples", measure)]
            axes.plot(*points, marker=".", label=f"alpha {alpha}")
        axes.set(xscale="log", yscale=scale, xlabel="samples", ylabel=measure)
        axes.set_xticks(points[0], points[0])
        axes.set_xticks([], minor=True)
        axes.yaxis.set(major_formatter="{x:g}", minor_formatter="{x:g}")
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rnng_dy"}):
        figure.savefig(path, metadata={"Date": None})


def heads(folder: Path, e: Experiment) -> Table:
    """Return the children with the largest weight of attention, by label of the constituent.

    The constituents are those of the gold trees with several children (Kuncoro et al. 2017).
    """
    golds, rows = trees_of(folder / "test.trees"), []
    for system in e.systems:
        is_weighed = COMPOSITIONS[system.composition].has_weights
        if not is_weighed or STACK not in GENERATOR_STATES[system.state].parts:
            continue
        children: dict[str, Counter[str]] = defaultdict(Counter)
        for seed in e.seeds:
            model = load(folder / f"generator-{named(system, seed)}")
            for tree in golds:
                # a test tree may have a label that training did not see
                with suppress(ImpossibleError):
                    weights = model.attention(tree)
                    for node, (label, of_node) in zip(_constituents(tree), weights, strict=True):
                        if len(node) > 1:
                            children[label][node[int(of_node.argmax())].label()] += 1
        frequent = sorted(children.items(), key=lambda pair: -pair[1].total())[:MOST_LABELS]
        for label, counts in frequent:
            total = counts.total()
            most = [f"{child} {n / total:.0%}" for child, n in counts.most_common(MOST_HEADS)]
            row = {"system": str(system), "constituent": label, "number": total}
            rows.append({**row, "largest_weight": "; ".join(most)})
    note = "Constituents of the gold trees with several children, of all seeds."
    return Table("Heads by gated attention", rows, note)


def _constituents(tree: nltk.Tree) -> list[nltk.Tree]:
    """Return the constituents, inner ones first."""
    inner = [node for child in tree if not is_preterminal(child) for node in _constituents(child)]
    return [*inner, tree]
