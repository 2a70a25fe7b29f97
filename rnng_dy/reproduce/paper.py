"""The numbers of Dyer et al. (2016), table 1 and the results, as the corrigendum has them.

Those of gated attention and of the stack alone are of Kuncoro et al. (2017): section 23 of the Penn
Treebank, 100 samples of the parser.
"""

ORDER = 5
"""The n of the Kneser-Ney n-grams."""
STATISTICS = ("sequences", "tokens", "types", "unk types")
TABLE_1 = {
    ("ptb", "train"): (39831, 950012, 23815, 49),
    ("ptb", "test"): (2416, 56684, 6823, 42),
    ("ctb", "train"): (50734, 1184532, 31358, 1),
    ("ctb", "test"): (348, 8008, 1637, 1),
}
"""The `STATISTICS` of a corpus and part."""
F1 = {
    "ptb": {
        ("discriminative", "buggy"): 89.8,
        ("discriminative", "corrected"): 91.7,
        ("generative", "buggy"): 92.4,
        ("generative", "corrected"): 93.3,
        ("generative", "gated-attention"): 93.5,
        ("generative", "corrected/stack"): 93.6,
    },
    "ctb": {
        ("discriminative", "buggy"): 80.7,
        ("discriminative", "corrected"): 84.6,
        ("generative", "buggy"): 82.7,
        ("generative", "corrected"): 86.9,
    },
}
PERPLEXITY = {
    "ptb": {
        "kneser-ney": 169.3,
        "lstm": 113.4,
        "buggy": 102.4,
        "corrected": 105.2,
        "gated-attention": 100.9,
    },
    "ctb": {"kneser-ney": 255.2, "lstm": 207.3, "buggy": 171.9, "corrected": 148.5},
}
HIGHER_F1 = (
    ("corrected", "buggy"),
    ("gated-attention", "corrected"),
    ("corrected/stack", "corrected"),
)
"""Systems of which the papers say that the first has a higher F1 than the second."""
