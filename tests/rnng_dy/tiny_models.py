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


def configuration_after(model, words, actions):
    c, generated = model.network.start(), iter(words)
    for action in actions:
        c = model.network.advance(c, action, next(generated) if action == SHIFT else None)
    return c


def steps_of(model, configurations):
    """Yield every valid next action of each, by number, with each word that it may generate, and log p."""
    step = model.network.step(configurations)
    of_actions = step.action_log_probs()
    of_words = step.every_word_log_prob(range(len(configurations)))
    for i, c in enumerate(configurations):
        mask = model.transitions.masks[model.transitions.mask_number(c.state)]
        for action in np.flatnonzero(mask).tolist():
            words = np.flatnonzero(np.isfinite(of_words[i])).tolist() if action == SHIFT else [None]
            for word in words:
                of_word = 0 if word is None else of_words[i][word]
                yield i, word, action, of_actions[i][action] + of_word


def next_steps(model, words, actions):
    """Those after some actions."""
    dy.renew_cg()
    return [step for _, *step in steps_of(model, [configuration_after(model, words, actions)])]


def grown(model, ids, derivations):
    """Yield all that leads from derivations to a next word or the end: the word, actions and log p."""
    dy.renew_cg()
    frontier = [(*one, configuration_after(model, ids, one[0])) for one in derivations]
    while frontier:
        before, frontier = frontier, []
        for i, word, action, step in steps_of(model, [c for *_, c in before]):
            actions, log_p, c = before[i]
            after = (*actions, action), log_p + step
            if word is None and not c.state.after(action).is_finished:
                frontier.append((*after, model.network.advance(c, action)))
            else:
                yield word, after


def best_first(derivations, word):
    """Those that reach a word, or None for the end."""
    return sorted((after for given, after in derivations if given == word), key=lambda d: -d[1])


def every_derivation(model, ids):
    """Yield all derivations of each prefix of some words, as lists of actions and log p, the best first."""
    reached = [((), 0.0)]
    for position, word in enumerate(ids):
        yield (reached := best_first(grown(model, ids[:position], reached), word))


def complete_trees(model, ids, derivations):
    """All complete trees that derivations lead to without a further word, the best first."""
    return best_first(grown(model, ids, derivations), None)
