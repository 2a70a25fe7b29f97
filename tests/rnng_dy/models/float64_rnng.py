"""Both models written a second time, in float64, from the description of the original."""

import numpy as np

from .tape import Value, columns, concatenate

REDUCE, SHIFT, FINISH = 0, 1, 2
"""FINISH is in-order only."""
LEFT_OUT = {
    "full": set(),
    "stack": {"action", "context"},
    "no-stack": {"stack"},
    "no-history": {"action"},
    "no-terms": {"context"},
    "no-buffer": {"context"},
    "history": {"stack"},
}
"""What each state of GA.md, section 4, leaves out of u."""
PARTS = ("x2i", "h2i", "c2i", "bi", "x2o", "h2o", "c2o", "bo", "x2c", "h2c", "bc")
"""Of a layer of an LSTM."""
MAX_OPEN = 100


class Float64Rnng:
    """The loss of one sentence from a model's parameters by name, one node at a time."""

    def __init__(self, arrays, layers, composition_layers, composition, state, transitions):
        self.p = {name: Value(array) for name, array in arrays.items()}
        self.layers, self.composition_layers = layers, composition_layers
        self.composition = composition
        self.left_out = LEFT_OUT[state]
        self.has_words_in_history = state == "history"
        self.in_order = transitions == "in-order"
        self.attention = []
        """Each constituent's label and gated attention weights, in the order of the REDUCEs."""

    def step(self, name, layers, state, x):
        """One step of `cnn::LSTMBuilder`; a state is a list of (h, c), None at first."""
        p, after = self.p, []
        for k in range(layers):
            w = {part: p[f"{name}.{k}.{part}"] for part in PARTS}
            i, candidate = w["bi"] + w["x2i"] @ x, w["bc"] + w["x2c"] @ x
            if state:
                h, c = state[k]
                i = (i + w["h2i"] @ h + w["c2i"] @ c).sigmoid()
                new_c = i.complement() * c + i * (candidate + w["h2c"] @ h).tanh()
                o = w["bo"] + w["x2o"] @ x + w["h2o"] @ h + w["c2o"] @ new_c
            else:
                new_c = i.sigmoid() * candidate.tanh()
                o = w["bo"] + w["x2o"] @ x + w["c2o"] @ new_c
            x = o.sigmoid() * new_c.tanh()
            after.append((x, new_c))
        return after

    def reading(self, name, inputs):
        """The top h of a composition LSTM after each input."""
        state, tops = None, []
        for x in inputs:
            state = self.step(name, self.composition_layers, state, x)
            tops.append(state[-1][0])
        return tops

    def attend(self, label, children, u):
        """GA.md, section 2, line by line."""
        p = self.p
        f = self.reading("compose_forward", children)
        r = self.reading("compose_backward", children[::-1])[::-1]
        h = columns([concatenate(*both) for both in zip(f, r, strict=True)])
        q = p["query_bias"] + p["query_weights"] @ concatenate(p["query_nonterminal"][label], u)
        a = h.transposed_times(q).softmax()
        self.attention.append((label, a.data))
        m, t = h @ a, p["nonterminal"][label]
        g = (p["gate_bias"] + p["gate_label"] @ t + p["gate_children"] @ m).sigmoid()
        z = g * t + g.complement() * m
        return (p["compose_bias"] + p["compose_weights"] @ z).relu()

    def compose(self, label, children, opened, u):
        if self.composition == "gated-attention":
            return self.attend(label, children, u)
        up = self.p["nonterminal"][label]
        if self.composition == "corrected":
            orders = [up, *children[::-1]], [up, *children]
        else:
            rest = children[:-1]
            orders = [up, *rest[::-1], opened], [up, opened, *rest]
        names = ("compose_forward", "compose_backward")
        tops = [self.reading(*of)[-1] for of in zip(names, orders, strict=True)]
        return (self.p["compose_bias"] + self.p["compose_weights"] @ concatenate(*tops)).relu()

    def loss(self, actions, vectors, contexts, valid, word_loss=None):
        """The summed loss: `vectors` go onto the stack, `contexts(i)` is B or T after i words."""
        p, total = self.p, None
        stack = [(self.step("stack", self.layers, None, p["stack_guard"]), None, None)]
        history = self.step("action", self.layers, None, p["action_start"])
        shifted = open_count = unary = 0
        previous, first_open = None, 3 if self.in_order else 2
        for action in actions:
            summaries = {
                "stack": stack[-1][0][-1][0],
                "action": history[-1][0],
                "context": contexts(shifted),
            }
            u = p["hidden_bias"]
            for part, summary in summaries.items():
                if part not in self.left_out:
                    u = u + p[f"hidden_{part}"] @ summary
            u = u.relu()
            logits = p["action_bias"] + p["action_weights"] @ u
            allowed = valid(len(logits.data), len(vectors) - shifted, open_count, previous, unary)
            losses = [logits.negative_log_softmax(action, allowed)]
            if action == SHIFT and word_loss:
                losses += word_loss(u, shifted)
            for loss in losses:
                total = loss if total is None else total + loss
            as_word = self.has_words_in_history and action == SHIFT
            read = vectors[shifted] if as_word else p["action"][action]
            history = self.step("action", self.layers, history, read)
            if self.in_order and action == FINISH:
                break
            if action == REDUCE:
                children = []
                while stack[-1][2] is None:
                    children.append(stack.pop()[1])
                _, opened, label = stack.pop()
                if self.in_order:
                    children.append(stack.pop()[1])
                    unary = unary + 1 if previous >= first_open else 0
                item, mark = self.compose(label, children[::-1], opened, u), None
                open_count -= 1
            elif action == SHIFT:
                item, mark = vectors[shifted], None
                shifted += 1
                unary = 0
            else:
                item, mark = p["open_nonterminal"][action - first_open], action - first_open
                open_count += 1
            stack.append((self.step("stack", self.layers, stack[-1][0], item), item, mark))
            previous = action
        return total

    def valid_in_order(self, n, left, opened, previous, unary):
        """REDUCE, SHIFT, FINISH, n - 3 times PJ, by the conditions of Liu and Zhang's program."""
        more = left is None or left > 0
        if previous is None:
            return [False, True, False, *[False] * (n - 3)]
        if previous > FINISH:
            return [unary < 3, more, False, *[False] * (n - 3)]
        ends = previous == REDUCE and not opened and not left
        project = opened <= MAX_OPEN and (more or unary < 3)
        return [opened > 0, opened > 0 and more, ends, *[project] * (n - 3)]

    def parser_loss(self, words, tags, actions):
        """-log q(y | x) in nats."""
        p = self.p
        vectors = [
            (p["input_bias"] + p["input_word"] @ p["word"][w] + p["input_tag"] @ p["tag"][t]).relu()
            for w, t in zip(words, tags, strict=True)
        ]
        state = self.step("buffer", self.layers, None, p["buffer_guard"])
        buffers = [state[-1][0]]
        for x in vectors[::-1]:
            state = self.step("buffer", self.layers, state, x)
            buffers.append(state[-1][0])

        def valid(n, left, opened, previous, unary):
            if self.in_order:
                return self.valid_in_order(n, left, opened, previous, unary)
            inside = opened > 1 or (opened == 1 and left == 0)
            reduce = previous is not None and previous < 2 and inside
            nt = left > 0 and opened <= MAX_OPEN
            return [reduce, left > 0 and opened > 0, *[nt] * (n - 2)]

        return self.loss(actions, vectors, lambda i: buffers[::-1][i], _array(valid))

    def generator_loss(self, words, actions, clusters):
        """-log p(x, y) in nats."""
        p = self.p
        if self.has_words_in_history:
            # the words are in the history alone
            self.left_out = {"stack", "context"}
        vectors = [p["word"][w] for w in words]
        state = self.step("terms", self.layers, None, p["word"][0])
        terms = [state[-1][0]]
        for x in vectors:
            state = self.step("terms", self.layers, state, x)
            terms.append(state[-1][0])

        def valid(n, left, opened, previous, unary):
            if self.in_order:
                # as if there were always a word left, but for the end
                return self.valid_in_order(n, None, opened, previous, unary)
            reduce = previous is not None and previous < 2
            nt = opened <= MAX_OPEN
            return [reduce, opened > 0, *[nt] * (n - 2)]

        def word_loss(u, i):
            [(k, place)] = [(k, c.index(words[i])) for k, c in enumerate(clusters) if words[i] in c]
            losses = [(p["class_bias"] + p["class_weights"] @ u).negative_log_softmax(k)]
            if len(clusters[k]) > 1:
                logits = p[f"word_bias.{k}"] + p[f"word_weights.{k}"] @ u
                losses.append(logits.negative_log_softmax(place))
            return losses

        return self.loss(actions, vectors, lambda i: terms[i], _array(valid), word_loss)


def _array(valid):
    return lambda *state: np.array(valid(*state))
