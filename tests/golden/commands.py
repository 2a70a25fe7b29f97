"""The recorded commands: each line is what a user types today for what commit 13503d9 computed.

`{NAME}` is a file or folder of the run. When an option gets a new name, the line changes here, and
the record does not.
"""

from __future__ import annotations

SMALL = "--set layers=2 --set lstm_input=6 --hidden 7 --set action_size=4 --epochs 1 --seed 5"
SMALL_LSTM = "--set layers=2 --set lstm_input=6 --hidden 7 --epochs 1 --seed 5"
PARSER = f"-q train discriminative --trees {{train}} --dev-trees {{dev}} --set word_size=5 {SMALL}"
TAGGED = f"{PARSER} --pos --no-tagger --set tag_size=3"
GENERATOR = f"-q train generative --trees {{train}} --dev-trees {{dev}} {SMALL}"
ADAM = "--set optimizer=adam --learning-rate 0.01"
TAGGED_BATCHES, GENERATOR_BATCHES = (
    command.replace("--epochs 1", "--batch-size 4 --epochs 4") for command in (TAGGED, GENERATOR)
)

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
    "parser-adam": f"{TAGGED_BATCHES} {ADAM} --model {{parser-adam}}",
    "parser-two-processes": f"{TAGGED_BATCHES} --jobs 2 --model {{parser-two-processes}}",
    "parser-adam-two-processes": f"{TAGGED_BATCHES} {ADAM} --jobs 2 --model {{parser-adam-two-processes}}",
    "generator": f"{GENERATOR} --model {{generator}}",
    "generator-open": f"{GENERATOR} --open --dropout 0.2 --model {{generator-open}}",
    "generator-buggy": f"{GENERATOR} --composition buggy --model {{generator-buggy}}",
    "generator-gated": f"{GENERATOR} --composition gated-attention --model {{generator-gated}}",
    "generator-in-order": f"{GENERATOR} --transitions in-order --model {{generator-in-order}}",
    "generator-no-terms": f"{GENERATOR} --state no-terms --model {{generator-no-terms}}",
    "generator-history": f"{GENERATOR} --state history --model {{generator-history}}",
    "generator-adam": f"{GENERATOR_BATCHES} {ADAM} --model {{generator-adam}}",
    "generator-two-processes": f"{GENERATOR_BATCHES} --jobs 2 --model {{generator-two-processes}}",
    "lstm-lm": f"-q train lstm-lm --trees {{train}} --dev-trees {{dev}} {SMALL_LSTM} --model {{lstm-lm}}",
}
RESUMED = {
    "parser": f"{TAGGED.replace('--epochs 1', '--epochs 2')} --resume --model {{parser}}",
    "generator": f"{GENERATOR.replace('--epochs 1', '--epochs 2')} --resume --model {{generator}}",
    "parser-adam": f"{TAGGED_BATCHES.replace('--epochs 4', '--epochs 5')} {ADAM} --resume --model {{parser-adam}}",
}
"""Trainings that go on from the models of the same name, after everything else."""

NUMBERS = {
    "train.oracle": "-q oracle {train} --train {train} -o {train.oracle}",
    "train.gen.oracle": "-q oracle {train} --train {train} --generative -o {train.gen.oracle}",
    "test.in-order.oracle": "-q oracle {test} --train {train} --transitions in-order -o {test.in-order.oracle}",
    "test.oracle": "-q oracle {test} --train {train} -o {test.oracle}",
    "test.gen.oracle": "-q oracle {test} --train {train} --generative -o {test.gen.oracle}",
    "clusters.paths": "-q clusters {train.gen.oracle} -c 12 -o {clusters.paths}",
    "refined.paths": "-q clusters {train.gen.oracle} -c 12 --within-sentences --refine -o {refined.paths}",
    **{
        f"{model}.trees": f"-q parse --model {{{model}}} {{test}} -o {{{model}.trees}}"
        for model in MODELS
        if model.startswith("parser")
    },
    "english.trees": "-q parse --model english {test} -o {english.trees}",
    "nbest": "-q parse --model {parser} {test} --nbest 4 -o {nbest}",
    "mbr.trees": "-q parse --model {parser} {test} --decode mbr --samples 20 -o {mbr.trees}",
    "both.trees": "-q parse --model {parser} --generator {generator} {test} --samples 20 -o {both.trees}",
    "beam.trees": "-q parse --model {generator} {test} --beam 20 -o {beam.trees}",
    **{
        f"{parser}.props": f"-q sample --model {{{parser}}} {{test}} --samples 12 --seed 3 -o {{{parser}.props}}"
        for parser in ("parser", "parser-in-order", "parser-gated", "parser-history")
    },
    "props.two-processes": "-q sample --model {parser} {test} --samples 12 --seed 3 --jobs 2 -o {props.two-processes}",
    **{
        f"{model}.likelihoods": f"-q score --model {{{model}}} {{parser.props}} -o {{{model}.likelihoods}}"
        for model in MODELS
        if model.startswith("generator") and "in-order" not in model
    },
    "reranked.trees": "-q rerank {parser.props} {generator.likelihoods} -o {reranked.trees}",
    "lstm.tsv": "-q perplexity --model {lstm-lm} {test} -o {lstm.tsv}",
    "generated": "-q generate --model {generator} -n 5 --max-length 30 --seed 2 -o {generated}",
}
"""Commands whose output file is the record."""

SURPRISALS = {
    **{
        f"surprisal.{model}": f"-q surprisal --model {{{model}}} {{test}} --beam 20 -o -"
        for model in MODELS
        if model.startswith("generator")
    },
    "surprisal.lstm-lm": "-q surprisal --model {lstm-lm} {test} -o -",
    "surprisal.english": "-q surprisal --model english-generative {test} --beam 20 -o -",
    "surprisal.end": "-q surprisal --model {generator} {test} --beam 20 --end --next-word -o -",
    "surprisal.open": "-q surprisal --model {generator-open} {test} --beam 20 --open -o -",
    "surprisal.reference": "-q surprisal --model {generator} {test} --beam 20 --like-reference -o -",
    "surprisal.particles": "-q surprisal --model {generator} {test} "
    "--search particles --particles 50 --seed 4 -o -",
    "surprisal.variable": "-q surprisal --model {generator} {test} --search variable --particles 50 -o -",
    "surprisal.kneser-ney": "-q surprisal --scorer kneser-ney:3={train.gen.oracle} {test} -o -",
}
"""Commands whose columns of measures are the record."""

TEXTS = {
    "prepare": "prepare --from trees {train} -o -",
    "evalb": "evalb {test} {english.trees}",
    "show": "show {english.trees}",
    "perplexity": "-q perplexity --model {generator} {test} --beam 20",
    "perplexity.lstm": "-q perplexity --model {lstm-lm} {test}",
    "perplexity.against": "-q perplexity --model {generator} {test} --beam 20 --against {lstm.tsv}",
    "surprisal": "-q surprisal --model {generator} {test} --beam 20",
    "surprisal.stimuli": "-q surprisal --model {generator} --stimuli {stimuli.csv} --beam 20 --by-region",
    "surprisal.text": "-q surprisal --model {generator} --text {text.txt} --beam 20 --merge",
    "suite": "-q suite --model {generator} {suite.json} --beam 20",
    "missing": "parse --model {parser} {missing.txt}",
    "bad-trees": "oracle {bad.trees} --train {train}",
    "bad-model": "parse --model {train} {test}",
    "unknown-option": "parse --model {parser} --colour {test}",
}
"""Commands whose whole output is recorded; a commit may change it and says why."""
