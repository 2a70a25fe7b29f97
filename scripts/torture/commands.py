"""Command lines: those that make the sound files, and all that read them."""

from __future__ import annotations

SIZES = "--layers 1 --lstm-input 6 --hidden 6"
ADAM = "--optimizer adam --batch-size 2"
RNNG_SIZES = f"{SIZES} --action-size 3"
PARSER_SIZES = f"{RNNG_SIZES} --word-size 4 --unknown-probability 0.3"
UNTAGGED = f"--dev-trees dev.trees {PARSER_SIZES}"
PARSER = f"{UNTAGGED} --pos --tag-size 3"
OFTEN = "--first-evaluation 20 --evaluate-every 20 --checkpoint-every 7 --report-every 10"
ORACLES = "--train train.oracle --dev dev.oracle"
GENERATIVE = "--train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths"
REPRODUCE = (
    "reproduce trees --train {data}/train.trees --dev {data}/dev.trees --test {data}/test.trees --preset fast "
    "--epochs 1 --hidden 6 --lstm-input 6 --samples 2 --tags gold --systems corrected "
    "--beam 20 --particles 10 -o results"
)
"""The stages of this command contain absolute paths, so copied results are up to date only with the same files."""
EPOCH = f"{OFTEN} --epochs 1 --model new"
DISCRIMINATIVE = f"train discriminative {ORACLES} {PARSER} {EPOCH}"
GENERATOR = f"train generative {GENERATIVE} {RNNG_SIZES} {EPOCH} --evaluate-from-epoch 0"
LSTM_LM = f"train lstm-lm {GENERATIVE} {SIZES} {ADAM} {EPOCH} --evaluate-from-epoch 0"
IMPORT = (
    "import-clab discriminative reference.disc.params --train-oracle many.oracle --pos --model new"
)
IMPORT_GENERATIVE = (
    "import-clab generative reference.gen.params --train-oracle many.gen.oracle "
    "--clusters reference.clusters.paths --model new"
)
RESUME = "--epochs 2 --resume --model"
RESUME_PARSER = (
    f"train discriminative {ORACLES} {PARSER} --pretrained vectors.txt {OFTEN} {RESUME} parser"
)
RESUME_GENERATOR = f"train generative {GENERATIVE} {RNNG_SIZES} {OFTEN} {RESUME} generator"
RESUME_LM = f"train lstm-lm {GENERATIVE} {SIZES} {ADAM} {OFTEN} {RESUME} lm"
PARSE = "parse --model parser test.oracle -o out"
PARSE_TEXT = "parse --model parser --text plain.txt --format json --nbest 2 -o out"
OWN_TREES = f"train discriminative --trees train.trees --hold-out 0.2 {PARSER_SIZES} {EPOCH}"
SAMPLE = "sample --model parser --samples 2 test.oracle -o out"
SCORE = "score --model generator test.props -o out"
PERPLEXITY = "perplexity test.gen.oracle --model lm -o out --json out.json"
KNESER_NEY = "perplexity test.gen.oracle --kneser-ney train.gen.oracle -o out --json out.json"
SURPRISAL = (
    "surprisal --model generator test.gen.oracle --beam 6 --fast-track 1 --word-beam 2 --end -o out --trees out.trees "
    "--beams out.beams --json out.json --html out.html"
)
PARTICLES = "surprisal --model generator --search particles --particles 9 --runs 2 plain.txt -o out"
LM_SURPRISAL = "surprisal --model lm plain.txt --merge plain.txt -o out --json out.json"
KNESER_NEY_SURPRISAL = (
    "surprisal --kneser-ney train.gen.oracle test.gen.oracle -o out --html out.html"
)
BESIDE = (
    "perplexity test.gen.oracle --model generator --beam 20 --fast-track 1 --word-beam 2 "
    "--samples test.props --likelihoods test.likelihoods -o out --json out.json"
)
COMPARE = (
    "compare test.trees system.trees system.trees --name a --name b --samples test.props test.likelihoods "
    "--samples test.props test.likelihoods"
)
ATTENTION = "attention --model gated test.trees --analysis -o out --json out.json --html out.html"
REPRODUCE_ANEW = (
    "reproduce trees --train train.trees --dev dev.trees --test test.trees --tags gold "
    "--stages data --dry-run -o out"
)

EXPORT = "export parser -o out"
PARSE_BY_ARCHIVE = "parse --model parser.rnng.zip test.oracle -o out"
PREPARE = "prepare --from {} treebank.mrg -o out"
COMMANDS = [
    "prepare --from trees test.trees -o out",
    *(PREPARE.format(corpus) for corpus in ("ptb", "ctb", "trees")),
    *(PREPARE.format(corpus) for corpus in ("ptb --skip-preterminals", "ptb --encoding gb18030")),
    "oracle --train train.trees test.trees -o out",
    "oracle --train train.trees test.trees --generative --unk berkeley-unicode -o out",
    "clusters train.trees -c 4 -o out",
    "clusters train.gen.oracle -c 4 --refine -o out",
    "clusters plain.txt -c 4 --format text -o out",
    "clusters plain.txt -c 4 --min-count 2 --within-sentences -o out",
    "clusters show clusters.paths",
    "clusters show clusters.paths --html out",
    "tag test.trees --train train.trees -o out",
    "tag test.trees --jackknife 2 -o out --json out.json",
    "tag test.trees --tags tagged.txt -o out",
    *(DISCRIMINATIVE, f"{DISCRIMINATIVE} --pretrained vectors.txt", OWN_TREES, GENERATOR, LSTM_LM),
    *(RESUME_PARSER, RESUME_GENERATOR, RESUME_LM, IMPORT, IMPORT_GENERATIVE),
    *(PARSE, PARSE_TEXT),
    "parse --model parser test.trees -o out",
    "parse --model parser tagged.txt -o out",
    "parse --model parser --tagged tagged.txt -o out",
    "parse --model untagged bare.trees -o out",
    "parse --model untagged plain.txt -o out",
    SAMPLE,
    "sample --model parser --samples 2 test.trees -o out",
    "sample --model parser --samples 2 tagged.txt -o out",
    "sample --model untagged --samples 2 --untagged plain.txt -o out",
    "about parser",
    "plot parser lm -o out",
    SCORE,
    "score --model generator test.trees -o out",
    *(f"generate --model {model} -n 2 -o out" for model in ("generator", "lm")),
    *(PERPLEXITY, BESIDE, KNESER_NEY, f"{KNESER_NEY} --clusters clusters.paths"),
    *(SURPRISAL, PARTICLES, LM_SURPRISAL, KNESER_NEY_SURPRISAL),
    "suite suite.json --model lm --regions out --json out.json --html out.html",
    "suite pairs.txt --model lm --json out.json",
    "rerank test.props test.likelihoods -o out --ess",
    "rerank test.props test.likelihoods -o out --oracle test.oracle",
    "rerank test.props test.likelihoods -o out --oracle test.oracle --allow-missing",
    "evalb test.trees system.trees",
    "evalb test.trees system.trees --format evalb",
    "evalb test.trees system.trees --format json --params new",
    *(f"evalb test.trees system.trees --params rules.prm --format {style}"
      for style in ("table", "evalb", "json")),
    "compare test.trees system.trees system.trees --name a --name b",
    "compare test.trees system.trees test.trees",
    COMPARE,
    "show system.trees --gold test.trees --format html -o out",
    "show test.trees --only-errors --gold system.trees",
    *(EXPORT, PARSE_BY_ARCHIVE),
    *(ATTENTION, f"{ATTENTION} --head-rules rules.heads", REPRODUCE_ANEW),
]  # fmt: skip
"""Every command that reads files, in all ways in which it reads them."""
REPORTS = [f"{REPRODUCE} --dry-run", f"{REPRODUCE} --stages report"]
SET_UP = [
    "prepare --from trees test.trees -o prepared.trees",
    *(f"oracle --train train.trees {part}.trees -o {part}.oracle" for part in ("train", "dev", "test")),
    *(f"oracle --train train.trees {part}.trees --generative -o {part}.gen.oracle"
      for part in ("train", "dev", "test")),
    "clusters train.gen.oracle -c 4 -o clusters.paths",
    f"train discriminative {ORACLES} {PARSER} {OFTEN} --epochs 1 --pretrained vectors.txt --model parser",
    f"train discriminative {ORACLES} {UNTAGGED} {OFTEN} --epochs 1 --model untagged",
    f"train generative {GENERATIVE} {RNNG_SIZES} {OFTEN} --evaluate-from-epoch 0 --epochs 1 --model generator",
    f"train lstm-lm {GENERATIVE} {SIZES} {ADAM} {OFTEN} --evaluate-from-epoch 0 --epochs 1 --model lm",
    f"train generative {GENERATIVE} {RNNG_SIZES} {OFTEN} --evaluate-from-epoch 0 --epochs 1 --model gated "
    "--composition gated-attention --state stack",
    "export parser -o parser.rnng.zip",
    "parse --model parser test.oracle -o system.trees",
    "sample --model parser --samples 4 test.oracle -o test.props",
    "score --model generator test.props -o test.likelihoods",
    "oracle --train many.trees many.trees -o many.oracle",
    "oracle --train many.trees many.trees --generative -o many.gen.oracle",
]  # fmt: skip
"""The commands that make the sound files and models, in order."""
