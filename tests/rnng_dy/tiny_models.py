"""Models over three words and a few trees, and everything that can happen under them."""

from functools import reduce

import numpy as np

from clusters.files import ClusteredWord
from oracle.blocks import OracleSentence
from oracle.brackets import parse_line
from oracle.transitions import SHIFT, SYSTEMS, unlimited
from rnng_dy.engine import dy
from rnng_dy.reproduce.systems import parse
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

from .conftest import GENERATOR_SIZES, PARSER_SIZES, DiscriminativeParser, GenerativeModel, log_q

COMPOSITIONS = ["corrected", "buggy", "gated-attention", "corrected/in-order", "corrected/history"]
"""With the transition system or the parser state where it is not the paper's."""
WORDS = ("a", "b", "c")


def tiny_oracle(generative, system):
    """Two nonterminals and three words, one of them alone in its cluster."""
    actions = system.actions_of(parse_line("(S a (X b c))"), preterminals=False)
    more = None if generative else WORDS
    return [OracleSentence("", more, WORDS, more, WORDS, tuple(actions), 1, system.name)]


def make_tiny_parser(composition, max_open):
    chosen = parse(composition)._asdict()
    oracle = tiny_oracle(False, unlimited(SYSTEMS[chosen["transitions"]]))
    vocabulary = ParserVocabulary.from_oracle(oracle, use_tags=True)
    return limited(DiscriminativeParser(vocabulary, PARSER_SIZES, seed=3, **chosen), max_open)


def make_tiny_generator(composition, max_open):
    chosen = parse(composition)._asdict()
    oracle = tiny_oracle(True, unlimited(SYSTEMS[chosen["transitions"]]))
    clusters = [ClusteredWord("0", "a", 1), ClusteredWord("1", "b", 1), ClusteredWord("0", "c", 1)]
    vocabulary = GeneratorVocabulary.build(clusters, oracle)
    return limited(GenerativeModel(vocabulary, GENERATOR_SIZES, seed=3, **chosen), max_open)


def limited(model, max_open):
    """With few trees."""
    for limit in model.transitions.limits:
        setattr(model.transitions, limit, max_open)
    return model


def all_trees(system, words):
    """Every complete action sequence of the parser over a number of words."""
    finished, frontier = [], [((), system.start(words))]
    while frontier:
        actions, state = frontier.pop()
        for action in np.flatnonzero(system.masks[system.mask_number(state)]).tolist():
            after = state.after(action)
            target = finished if after.is_finished else frontier
            target.append((*actions, action) if after.is_finished else ((*actions, action), after))
    return finished


def tokens_of(parser, words):
    return parser.encode(words, words, words)


def exact_log_q(parser, words, trees, alpha):
    return log_q(parser, tokens_of(parser, words), trees, alpha)


def state_after(model, actions):
    return reduce(lambda state, action: state.after(action), actions, model.transitions.start(None))


def next_steps(model, words, actions):
    """Every valid next action, with each word where it generates one, and its log probability."""
    dy.renew_cg()
    c, generated = model.network.start(), iter(words)
    for action in actions:
        word = next(generated) if action == SHIFT else None
        c = model.network.advance(c, action, word)
    step = model.network.step([c])
    [log_probs], [of_words] = step.action_log_probs(), step.every_word_log_prob([0])
    for action in np.flatnonzero(model.transitions.masks[model.transitions.mask_number(c.state)]):
        if action != SHIFT:
            yield None, int(action), log_probs[action]
            continue
        for word in np.flatnonzero(np.isfinite(of_words)).tolist():
            yield word, SHIFT, log_probs[SHIFT] + of_words[word]


def every_derivation(model, ids):
    """Yield all derivations of each prefix of some words, as lists of actions and log p, the best first."""
    frontier = [((), 0.0)]
    for position, word in enumerate(ids):
        reached = []
        while frontier:
            actions, log_p = frontier.pop()
            for given, action, step in next_steps(model, ids[:position], actions):
                after = ((*actions, action), log_p + step)
                if given is None and not state_after(model, after[0]).is_finished:
                    frontier.append(after)
                elif given == word:
                    reached.append(after)
        reached.sort(key=lambda one: -one[1])
        yield reached
        frontier = list(reached)


def complete_trees(model, ids, derivations):
    """All complete trees that derivations lead to without a further word, the best first."""
    ended, frontier = [], list(derivations)
    while frontier:
        actions, log_p = frontier.pop()
        for word, action, step in next_steps(model, ids, actions):
            if word is None:
                after = (*actions, action), log_p + step
                (ended if state_after(model, after[0]).is_finished else frontier).append(after)
    return sorted(ended, key=lambda one: -one[1])
