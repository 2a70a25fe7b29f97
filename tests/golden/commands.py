"""The recorded commands: each line is what a user types today for what commit 13503d9 computed.

`{NAME}` is a file or folder of the run. When an option gets a new name, the line changes here, and the record does not.
"""

from __future__ import annotations

SMALL = "--set layers=2 --lstm-input 6 --hidden 7 --set action_size=4 --epochs 1 --seed 5 -q"
SMALL_LSTM = "--set layers=2 --lstm-input 6 --hidden 7 --epochs 1 --seed 5 -q"
PARSER = f"train discriminative --trees {{train}} --dev-trees {{dev}} --set word_size=5 --no-tagger {SMALL}"
TAGGED = f"{PARSER} --pos --set tag_size=3"
GENERATOR = f"train generative --trees {{train}} --dev-trees {{dev}} {SMALL}"
ADAM = "--set optimizer=adam --learning-rate 0.01"
BATCHES = "--batch-size 4 --epochs 4"

MODELS = {
    "parser": f"{TAGGED} --model {{parser}}",
    "parser-without-tags": f"{PARSER} --dropout 0.2 --model {{parser-without-tags}}",
    "parser-buggy": f"{TAGGED} --composition buggy --model {{parser-buggy}}",
    "parser-gated": f"{TAGGED} --composition gated-attention --model {{parser-gated}}",
    "parser-in-order": f"{TAGGED} --transitions in-order --model {{parser-in-order}}",
    "parser-stack": f"{TAGGED} --state stack --model {{parser-stack}}",
    "parser-no-stack": f"{TAGGED} --state no-stack --model {{parser-no-stack}}",
    "parser-no-history": f"{TAGGED} --state no-history --model {{parser-no-history}}",
    "parser-no-buffer": f"{TAGGED} --state no-buffer --model {{parser-no-buffer}}",
    "parser-history": f"{TAGGED} --state history --model {{parser-history}}",
    "parser-vectors": f"{TAGGED} --pretrained {{vectors}} --model {{parser-vectors}}",
    "parser-adam": f"{TAGGED} {ADAM} {BATCHES} --model {{parser-adam}}",
    "parser-two-processes": f"{TAGGED} {BATCHES} --jobs 2 --model {{parser-two-processes}}",
    "parser-adam-two-processes": f"{TAGGED} {ADAM} {BATCHES} --jobs 2 --model {{parser-adam-two-processes}}",
    "generator": f"{GENERATOR} --model {{generator}}",
    "generator-open": f"{GENERATOR} --open --dropout 0.2 --model {{generator-open}}",
    "generator-buggy": f"{GENERATOR} --composition buggy --model {{generator-buggy}}",
    "generator-gated": f"{GENERATOR} --composition gated-attention --model {{generator-gated}}",
    "generator-in-order": f"{GENERATOR} --transitions in-order --model {{generator-in-order}}",
    "generator-no-terms": f"{GENERATOR} --state no-terms --model {{generator-no-terms}}",
    "generator-history": f"{GENERATOR} --state history --model {{generator-history}}",
    "generator-adam": f"{GENERATOR} {ADAM} {BATCHES} --model {{generator-adam}}",
    "generator-two-processes": f"{GENERATOR} {BATCHES} --jobs 2 --model {{generator-two-processes}}",
    "lstm-lm": f"train lstm-lm --trees {{train}} --dev-trees {{dev}} {SMALL_LSTM} --model {{lstm-lm}}",
}
RESUMED = {
    "parser": f"{TAGGED} --epochs 2 --resume --model {{parser}}",
    "generator": f"{GENERATOR} --epochs 2 --resume --model {{generator}}",
    "parser-adam": f"{TAGGED} {ADAM} {BATCHES} --epochs 5 --resume --model {{parser-adam}}",
}
"""Trainings that go on from the models of the same name, after everything else."""

NUMBERS = {
    "train.oracle": "oracle {train} --train {train} -o {train.oracle} -q",
    "train.gen.oracle": "oracle {train} --train {train} --generative -o {train.gen.oracle} -q",
    "test.in-order.oracle": "oracle {test} --train {train} --transitions in-order -o {test.in-order.oracle} -q",
    "test.oracle": "oracle {test} --train {train} -o {test.oracle} -q",
    "test.gen.oracle": "oracle {test} --train {train} --generative -o {test.gen.oracle} -q",
    "clusters.paths": "clusters {train.gen.oracle} -c 12 -o {clusters.paths} -q",
    "refined.paths": "clusters {train.gen.oracle} -c 12 --within-sentences --refine -o {refined.paths} -q",
    **{
        f"{model}.trees": f"parse --model {{{model}}} {{test}} -o {{{model}.trees}} -q"
        for model in MODELS
        if model.startswith("parser")
    },
    "english.trees": "parse --model english {test} -o {english.trees} -q",
    "nbest": "parse --model {parser} {test} --nbest 4 -o {nbest} -q",
    "mbr.trees": "parse --model {parser} {test} --decode mbr --samples 20 -o {mbr.trees} -q",
    "both.trees": "parse --model {parser} --generator {generator} {test} --samples 20 -o {both.trees} -q",
    "beam.trees": "parse --model {generator} {test} --beam 20 -o {beam.trees} -q",
    **{
        f"{parser}.props": f"sample --model {{{parser}}} {{test}} --samples 12 --seed 3 -o {{{parser}.props}} -q"
        for parser in ("parser", "parser-in-order", "parser-gated", "parser-history")
    },
    "props.two-processes": "sample --model {parser} {test} --samples 12 --seed 3 --jobs 2 -o {props.two-processes} -q",
    **{
        f"{model}.likelihoods": f"score --model {{{model}}} {{parser.props}} -o {{{model}.likelihoods}} -q"
        for model in MODELS
        if model.startswith("generator") and "in-order" not in model
    },
    "reranked.trees": "rerank {parser.props} {generator.likelihoods} -o {reranked.trees} -q",
    "generated": "generate --model {generator} -n 5 --max-length 30 --seed 2 -o {generated} -q",
    "generated.lstm": "generate --model {lstm-lm} -n 5 --words --seed 2 -o {generated.lstm} -q",
}
"""Commands whose output file is the record."""

SURPRISALS = {
    **{
        f"surprisal.{model}": f"surprisal --model {{{model}}} {{test}} --beam 20 -q -o -"
        for model in MODELS
        if model.startswith("generator")
    },
    "surprisal.lstm-lm": "surprisal --model {lstm-lm} {test} -q -o -",
    "surprisal.english": "surprisal --model english-generative {test} --beam 20 -q -o -",
    "surprisal.end": "surprisal --model {generator} {test} --beam 20 --end --next-word -q -o -",
    "surprisal.open": "surprisal --model {generator-open} {test} --beam 20 --open -q -o -",
    "surprisal.reference": "surprisal --model {generator} {test} --beam 20 --like-reference -q -o -",
    "surprisal.particles": "surprisal --model {generator} {test} "
    "--search particles --particles 50 --runs 2 --seed 4 -q -o -",
    "surprisal.variable": "surprisal --model {generator} {test} --search variable --particles 50 -q -o -",
    "surprisal.kneser-ney": "surprisal --scorer kneser-ney={train.gen.oracle} --order 3 {test} -q -o -",
}
"""Commands whose columns of measures are the record."""

TEXTS = {
    "prepare": "prepare --from trees {train} -o -",
    "evalb": "evalb {test} {english.trees}",
    "show": "show {english.trees}",
    "perplexity": "perplexity --model {generator} {test} --beam 20 -q",
    "perplexity.lstm": "perplexity --model {lstm-lm} {test} -q",
    "perplexity.samples": "perplexity --model {generator} {test.gen.oracle} --beam 20 "
    "--samples {parser.props} --likelihoods {generator.likelihoods} -q",
    "surprisal": "surprisal --model {generator} {test} --beam 20 -q",
    "surprisal.stimuli": "surprisal --model {generator} --stimuli {stimuli.csv} --beam 20 --by-region -q",
    "surprisal.text": "surprisal --model {generator} --text {text.txt} --beam 20 --merge -q",
    "suite": "suite --model {generator} {suite.json} --beam 20 -q",
    "missing": "parse --model {parser} {missing.txt}",
    "bad-trees": "oracle {bad.trees} --train {train}",
    "bad-model": "parse --model {train} {test}",
    "unknown-option": "parse --model {parser} --colour {test}",
}
"""Commands whose whole output is recorded; a commit may change it and says why."""
