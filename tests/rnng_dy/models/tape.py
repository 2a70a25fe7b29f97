"""Reverse-mode differentiation in float64 numpy, enough to write RNNGs a second time."""

import numpy as np


class Value:
    """An array, its gradient, and how to pass the gradient on to what it was made of."""

    def __init__(self, data, parents=(), backward=None):
        self.data = np.asarray(data, np.float64)
        self.grad = np.zeros_like(self.data)
        self._parents, self._backward = parents, backward

    def __add__(self, other):
        def backward(g):
            self.grad += g
            other.grad += g

        return Value(self.data + other.data, (self, other), backward)

    def __mul__(self, other):
        def backward(g):
            self.grad += g * other.data
            other.grad += g * self.data

        return Value(self.data * other.data, (self, other), backward)

    def __matmul__(self, vector):
        def backward(g):
            self.grad += np.outer(g, vector.data)
            vector.grad += self.data.T @ g

        return Value(self.data @ vector.data, (self, vector), backward)

    def __getitem__(self, row):
        def backward(g):
            self.grad[row] += g

        return Value(self.data[row], (self,), backward)

    def _elementwise(self, value, slope):
        def backward(g):
            self.grad += g * slope

        return Value(value, (self,), backward)

    def tanh(self):
        t = np.tanh(self.data)
        return self._elementwise(t, 1 - t**2)

    def sigmoid(self):
        s = 1 / (1 + np.exp(-self.data))
        return self._elementwise(s, s * (1 - s))

    def relu(self):
        return self._elementwise(np.maximum(self.data, 0), (self.data > 0).astype(np.float64))

    def complement(self):
        return self._elementwise(1 - self.data, -np.ones_like(self.data))

    def transposed_times(self, vector):
        """The transpose of this matrix times a vector."""

        def backward(g):
            self.grad += np.outer(vector.data, g)
            vector.grad += self.data @ g

        return Value(self.data.T @ vector.data, (self, vector), backward)

    def softmax(self):
        exp = np.exp(self.data - self.data.max())
        a = exp / exp.sum()

        def backward(g):
            self.grad += a * (g - g @ a)

        return Value(a, (self,), backward)

    def negative_log_softmax(self, index, valid=None):
        """-log softmax over the valid entries, of one of them."""
        valid = np.ones(len(self.data), bool) if valid is None else valid
        exp = np.where(valid, np.exp(self.data - self.data[valid].max()), 0)
        probabilities = exp / exp.sum()

        def backward(g):
            self.grad += g * (probabilities - (np.arange(len(exp)) == index))

        return Value(-np.log(probabilities[index]), (self,), backward)

    def run_backward(self):
        """Gradients of this scalar in everything that it was made of."""
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            value, done = stack.pop()
            if done:
                order.append(value)
            elif id(value) not in seen:
                seen.add(id(value))
                stack.append((value, True))
                stack.extend((parent, False) for parent in value._parents)
        self.grad = np.ones_like(self.data)
        for value in reversed(order):
            if value._backward:
                value._backward(value.grad)


def concatenate(first, second):
    n = len(first.data)

    def backward(g):
        first.grad += g[:n]
        second.grad += g[n:]

    return Value(np.concatenate([first.data, second.data]), (first, second), backward)


def columns(vectors):
    """The matrix with these columns."""

    def backward(g):
        for j, vector in enumerate(vectors):
            vector.grad += g[:, j]

    return Value(np.stack([v.data for v in vectors], axis=1), tuple(vectors), backward)
