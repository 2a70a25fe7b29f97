"""`python3 -m scripts.english.figures`: score the English models on the development and test documents.

Words have the tags of the parser's own tagger. It runs in the output folder of `scripts.english`, and makes each file
in `scored` once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import scripts.script_start  # noqa: F401
from oracle.training_data import evenly_spaced
from rnng_dy.evaluation.evalb import Scores, score_systems
from rnng_dy.evaluation.evalb_sentence import SentenceScore
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.search.decoding import BESIDE
from rnng_dy.search.importance import read_sampled
from scripts.english.commands import check_folder, make

PARTS = ("masc.dev", "craft.dev", "gum.dev", "gum.test")
MOST = 400
"""The most trees of a part that are scored, evenly spaced."""
LENGTHS = (10, 20, 30, 40)
"""The most words of each class of sentences but the last."""
WAYS = ("greedy", "mbr", "map", "both")
"""Ways to decode, as endings of files."""
COLUMNS = ("sentences", "tags", "greedy", "MBR", "reranked", "both models", "perplexity")


class Sentence(NamedTuple):
    """The scores of a sentence."""

    part: str
    genre: str
    own_tags: SentenceScore
    """The greedy tree with its own tags, for the tagging accuracy."""
    decoded: Sequence[SentenceScore]
    """The trees of each of WAYS, with the gold tags."""
    log_p: float
    """log p(x) in nats."""
    words: int

    @property
    def length(self) -> str:
        """The class of its length."""
        least = 1
        for most in LENGTHS:
            if self.words <= most:
                return f"{least} to {most} words"
            least = most + 1
        return f"{least} words and more"


def main() -> None:
    """Print tables in Markdown: tagging accuracy, F1 of four decodings and perplexity by part, genre and length."""
    check_folder()
    found = [sentence for part in PARTS for sentence in sentences(part)]
    table("part", found, lambda sentence: sentence.part)
    development = [sentence for sentence in found if not sentence.part.endswith(".test")]
    table("development, genre", development, lambda sentence: sentence.genre)
    by_length = sorted(development, key=lambda sentence: sentence.words)
    table("development, length", by_length, lambda sentence: sentence.length)


def table(title: str, found: Sequence[Sentence], group_of: Callable[[Sentence], str]) -> None:
    """Print a row for each group, in the order of the sentences."""
    print("", f"| {title} | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|", sep="\n")
    for group in dict.fromkeys(map(group_of, found)):
        members = [sentence for sentence in found if group_of(sentence) == group]
        numbers = " | ".join(f"{number:.1f}" for number in figures(members))
        print(f"| {group} | {len(members)} | {numbers} |", flush=True)


def figures(members: Sequence[Sentence]) -> list[float]:
    """Return tagging accuracy, F1 of each of WAYS, and perplexity."""
    own = Scores(tuple(sentence.own_tags for sentence in members))
    accuracy = own.figures()["tagging_accuracy"]
    columns = zip(*[sentence.decoded for sentence in members], strict=True)
    f1s = [Scores(column).f1 for column in columns]
    log_ps, words = zip(*[(sentence.log_p, sentence.words) for sentence in members], strict=True)
    return [accuracy, *f1s, likelihood(log_ps, words).perplexity]


def sentences(part: str) -> list[Sentence]:
    """Parse and score some sentences of a part."""
    folder = Path("scored")
    folder.mkdir(exist_ok=True)
    for ending in ("trees", "genres"):
        lines = Path(f"{part}.{ending}").read_text(encoding="utf-8").splitlines(keepends=True)
        text = "".join(evenly_spaced(lines, MOST))
        (folder / f"{part}.{ending}").write_text(text, encoding="utf-8")
    name = str(folder / part)
    decode(name)
    own_tags = scores(f"{name}.trees", f"{name}.{WAYS[0]}", gold_tags=False)
    decoded = zip(*[scores(f"{name}.trees", f"{name}.{way}") for way in WAYS], strict=True)
    sampled = read_sampled(f"{name}.props", f"{name}.scores")
    genres = Path(f"{name}.genres").read_text(encoding="utf-8").split("\n")[:-1]
    columns = zip(genres, own_tags, decoded, sampled, strict=True)
    return [
        Sentence(part, genre, own, ways, of.estimate.log_marginal, of.words)
        for genre, own, ways, of in columns
    ]


def decode(name: str) -> None:
    """Parse and sample the trees of a file by all of WAYS."""
    oracle = f"{name}.oracle"
    make(oracle, f"oracle --train train.trees {name}.trees")
    models = "--model english.rnng.zip --own-tags --jobs 2"
    make(f"{name}.greedy", f"parse {models} {oracle}")
    make(f"{name}.mbr", f"parse {models} --decode mbr {oracle}")
    make(f"{name}.props", f"sample {models} --seed 1 {oracle}")
    score = f"score --model english-generative.rnng.zip --jobs 2 {name}.props"
    make(f"{name}.scores", score)
    rerank = f"rerank {name}.props {name}.scores --oracle {oracle}"
    make(f"{name}.map", rerank)
    make(f"{name}.both", f"{rerank} --decode mbr --weight {BESIDE}")


def scores(gold: str, system: str, gold_tags: bool = True) -> tuple[SentenceScore, ...]:
    """Return the score of each tree of a system's file."""
    return score_systems(gold, [system], gold_tags=gold_tags)[0].per_sentence


if __name__ == "__main__":
    main()
