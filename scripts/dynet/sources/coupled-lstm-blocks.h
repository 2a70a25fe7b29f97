#ifndef DYNET_COUPLED_LSTM_BLOCKS_H_
#define DYNET_COUPLED_LSTM_BLOCKS_H_

// The memory layout of a coupled LSTM's steps. This file needs nothing of DyNet, so that tests
// compile the kernels alone; nodes-coupled-lstm.h says why.

#include <cstddef>
#include <utility>
#include <vector>

namespace dynet {
namespace coupled_lstm {

enum Weight { X2I, H2I, C2I, BI, X2O, H2O, C2O, BO, X2C, H2C, BC, WEIGHTS };
// The arguments of the nodes that use the weights.
enum Argument { SHARED, X, STATE };

// How the CPU has packed the weights (products.h): not yet, as they are, or transposed.
enum Packing { NONE, STRAIGHT, TURNED };

// A block of n columns of m rows, the columns `stride` floats apart.
struct Block {
  float* v;
  unsigned m, n, stride;
  Block columns(unsigned from, unsigned count) const { return {v + std::size_t(from) * stride, m, count, stride}; }
  Block rows(unsigned from, unsigned count) const { return {v + from, count, n, stride}; }
};

// The factors of the derivatives of weights in some steps: the derivatives of the gates' logits,
// and the vectors that the steps read.
struct Differentiated {
  Block di, d_o, dg, x, h, c, c_new;
  unsigned starts;  // the number of steps, the first ones, without a state before them
};

// Two blocks, one above the other in the same columns, as one block.
inline Block both(const Block& upper, const Block& lower) {
  return {upper.v, upper.m + lower.m, upper.n, upper.stride};
}

// The memory of n steps side by side. A state is [h; c]; the rest is in the auxiliary memory.
struct Layout {
  Layout(unsigned hidden, unsigned input, bool dropped, const Block& x_arg, const Block& states, float* room)
      : n(states.n), hidden(hidden), next(room) {
    gates = take(3 * hidden), d = take(3 * hidden);
    i = gates.rows(0, hidden), g = gates.rows(hidden, hidden), o = gates.rows(2 * hidden, hidden);
    di = d.rows(0, hidden), dg = d.rows(hidden, hidden), d_o = d.rows(2 * hidden, hidden);
    t = take(hidden), dc = take(hidden);
    x_given = x = x_arg.rows(0, input);
    if (dropped) mask = take(input), x = take(input), dx = take(input);
    h_new = states.rows(0, hidden), c_new = states.rows(hidden, hidden);
  }
  Block take(unsigned rows) { return take(rows, n); }
  Block take(unsigned rows, unsigned columns) {
    Block b = {next, rows, columns, rows};
    next += std::size_t(rows) * columns;
    return b;
  }
  void go_on_from(const Block& state) {
    before = state, h = state.rows(0, hidden), c = state.rows(hidden, hidden), has_state = true;
  }
  // The layout of some of the steps.
  Layout columns(unsigned from, unsigned count) const {
    Layout part = *this;
    part.n = count;
    for (Block* b : {&part.gates, &part.i, &part.g, &part.o, &part.d, &part.di, &part.dg, &part.d_o, &part.t, &part.dc,
                     &part.mask, &part.x, &part.dx, &part.x_given, &part.before, &part.h, &part.c, &part.h_new,
                     &part.c_new})
      *b = b->columns(from, count);
    return part;
  }
  Differentiated differentiated(unsigned starts) const { return {di, d_o, dg, x, h, c, c_new, starts}; }
  unsigned n, hidden;
  bool has_state = false;
  float* next;
  Block gates, i, g, o;
  Block d, di, dg, d_o;     // derivatives of the logits
  Block t, dc;              // tanh of the new cell, and the derivative of that cell
  Block mask = {}, x;       // x after dropout, if there is any
  Block dx = {}, x_given;
  Block before = {}, h = {}, c = {}, h_new, c_new;
};

// Floats of auxiliary memory that a layout takes for each step.
inline std::size_t floats_of_step(unsigned hidden, unsigned input, bool dropped) {
  return 8 * std::size_t(hidden) + (dropped ? 3 * std::size_t(input) : 0);
}

// Floats that a forest takes for each state: those of a step, and a copy of the state before, which
// lies beside the others of its level.
inline std::size_t floats_of_state(unsigned hidden, unsigned input, bool dropped) {
  return floats_of_step(hidden, input, dropped) + 2 * std::size_t(hidden);
}

typedef std::vector<std::pair<Block, Block> > Products;

// The factors of the derivatives of weights (or biases) a in some steps: the derivatives of the
// logits to which they are added, and the vectors that they multiply.
inline std::pair<Block, Block> factors(unsigned a, const Differentiated& s) {
  const Block& d = a <= BI ? s.di : a <= BO ? s.d_o : s.dg;
  if (a == C2O) return {d, s.c_new};
  if (a != H2I && a != C2I && a != H2O && a != H2C) return {d, s.x};
  const Block& read = a == C2I ? s.c : s.h;
  return {d.columns(s.starts, d.n - s.starts), read.columns(s.starts, d.n - s.starts)};
}

} // namespace coupled_lstm
} // namespace dynet

#endif
