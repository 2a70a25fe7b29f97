"""The page of trees."""

import re

from oracle.brackets import parse_line
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import compared

GOLD = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
WORSE = "(S (NP (DT The) (NN cat)) (VBD sat) (. .))"


def test_a_sentence_has_its_score_and_gold_first():
    gold, worse = map(parse_line, [GOLD, WORSE])
    found = [compared(1, gold, gold), compared(2, gold, worse)]
    values = {"sections": found, "title": "Trees of <x>", "description": "a & b"}
    text = "".join(parts("trees.html", **values))
    assert '<section id="s1">' in text and "F1 80.00, 0 wrong, 1 missed" in text
    assert re.findall("<figcaption>(.*?)</figcaption>", text) == ["gold", "system"]
    [wrong] = re.findall('<text class="wrong"[^>]*>([^<]*)<', text)
    assert wrong == "VP"
