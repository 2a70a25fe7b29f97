// The kernels of a coupled LSTM's levels against differences of a loss that is computed in double precision.
// Arguments: hidden units, and whether the first level goes on from states that are given.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include <cuda_runtime.h>

#include "dynet/coupled-lstm-levels.h"

using namespace dynet::coupled_lstm;
typedef std::vector<float> Floats;

std::mt19937 generator(1);
const std::vector<int> ends = {6, 13, 16, 17};

Floats normal(std::size_t count, float deviation) {
  std::normal_distribution<float> distribution(0.f, deviation);
  Floats numbers(count);
  for (float& x : numbers) x = distribution(generator);
  return numbers;
}

// All that the loss depends on; matrices are stored by columns.
struct Problem {
  unsigned hidden, n = unsigned(ends.back());
  bool is_given;
  Floats weights[WEIGHTS], logits, given, of_states;
  std::vector<int> parents;

  Problem(unsigned hidden, bool is_given) : hidden(hidden), is_given(is_given) {
    for (unsigned a : {H2I, C2I, H2O, C2O, H2C}) weights[a] = normal(hidden * hidden, 1.f / std::sqrt(float(hidden)));
    for (unsigned a : {BI, BO, BC}) weights[a] = normal(hidden, 1.f);
    logits = normal(3 * hidden * n, 1.f), given = normal(2 * hidden * ends[0], 1.f), of_states = normal(2 * hidden * n, 1.f);
    for (std::size_t level = 0; level < ends.size(); ++level)
      while (parents.size() < unsigned(ends[level])) parents.push_back(level ? int(generator() % ends[level - 1]) : -1);
  }

  double loss() const {
    std::vector<double> states(2 * hidden * n), before(2 * hidden);
    double sum = 0.;
    for (unsigned k = 0; k < n; ++k) {
      const bool goes_on = parents[k] >= 0 || is_given;
      for (unsigned r = 0; r < 2 * hidden; ++r)
        before[r] = parents[k] >= 0 ? states[2 * hidden * parents[k] + r] : is_given ? given[2 * hidden * k + r] : 0.;
      double* state = &states[2 * hidden * k];
      const auto logit = [&](unsigned gate, unsigned bias, unsigned r) { return double(logits[(3 * k + gate) * hidden + r]) + weights[bias][r]; };
      const auto row = [&](unsigned a, unsigned r, const double* column) {
        double product = 0.;
        for (unsigned p = 0; p < hidden; ++p) product += weights[a][p * hidden + r] * column[p];
        return product;
      };
      const double *h = &before[0], *c = &before[hidden];
      for (unsigned r = 0; r < hidden; ++r) {
        const double i = 1. / (1. + std::exp(-logit(0, BI, r) - row(H2I, r, h) - row(C2I, r, c)));
        state[hidden + r] = i * std::tanh(logit(1, BC, r) + row(H2C, r, h)) + (goes_on ? (1. - i) * c[r] : 0.);
      }
      for (unsigned r = 0; r < hidden; ++r) {
        const double o = 1. / (1. + std::exp(-logit(2, BO, r) - row(H2O, r, h) - row(C2O, r, state + hidden)));
        state[r] = o * std::tanh(state[hidden + r]);
      }
      for (unsigned r = 0; r < 2 * hidden; ++r) sum += state[r] * of_states[2 * hidden * k + r];
    }
    return sum;
  }

  // by differences; NaN but for some fifty of many
  Floats derivatives(Floats& of) const {
    Floats found;
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (k % (1 + of.size() / 50)) {
        found.push_back(NAN);
        continue;
      }
      float& x = of[k];
      const float kept = x;
      x = kept + 0x1p-10f;
      const double above = loss();
      x = kept - 0x1p-10f;
      found.push_back(float((above - loss()) / 0x1p-9));
      x = kept;
    }
    return found;
  }
};

float* on_gpu(const void* numbers, std::size_t bytes) {
  float* memory = nullptr;
  cudaMalloc(&memory, bytes);
  cudaMemcpy(memory, numbers, bytes, cudaMemcpyHostToDevice);
  return memory;
}
float* on_gpu(const Floats& numbers) { return on_gpu(numbers.data(), numbers.size() * sizeof(float)); }

Floats fetched(const Block& b) {
  Floats columns(std::size_t(b.n) * b.stride), found;
  // of the last column there may be no more than its rows
  cudaMemcpy(columns.data(), b.v, (std::size_t(b.n - 1) * b.stride + b.m) * sizeof(float), cudaMemcpyDeviceToHost);
  for (unsigned k = 0; k < b.n; ++k) found.insert(found.end(), &columns[k * b.stride], &columns[k * b.stride] + b.m);
  return found;
}

void compare(const char* what, const Floats& found, const Floats& reference) {
  float apart = 0.f, largest = 0.f;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    if (std::isnan(reference[k])) continue;
    apart = std::max(apart, std::abs(found[k] - reference[k]));
    largest = std::max(largest, std::abs(reference[k]));
  }
  std::printf("%s %s\n", found.size() == reference.size() && largest > 0.f && apart < 1e-3f * largest ? "right" : "WRONG", what);
}

int main(int, char** argv) {
  const unsigned hidden = std::atoi(argv[1]);
  Problem p(hidden, std::atoi(argv[2]));
  const unsigned n = p.n, first = unsigned(ends[0]);
  // turned, as the forward kernel reads them
  Block weights[WEIGHTS] = {}, turned[WEIGHTS] = {};
  for (unsigned a : {H2I, C2I, H2O, C2O, H2C}) {
    Floats other(hidden * hidden);
    for (unsigned e = 0; e < hidden * hidden; ++e) other[e % hidden * hidden + e / hidden] = p.weights[a][e];
    weights[a] = {on_gpu(p.weights[a]), hidden, hidden, hidden}, turned[a] = {on_gpu(other), hidden, hidden, hidden};
  }
  for (unsigned a : {BI, BO, BC}) weights[a] = {on_gpu(p.weights[a]), hidden, 1, hidden};
  const Block states = {on_gpu(Floats(2 * hidden * n)), 2 * hidden, n, 2 * hidden};
  const Block gradients = {on_gpu(p.of_states), 2 * hidden, n, 2 * hidden};
  const Block given = {p.is_given ? on_gpu(p.given) : nullptr, 2 * hidden, first, 2 * hidden};
  float* room = nullptr;
  cudaMalloc(&room, (floats_of_step(hidden, 1, false) + 2 * hidden) * n * sizeof(float));
  Layout l(hidden, 1, false, {nullptr, 1, n, 1}, states, room);
  l.go_on_from(l.take(2 * hidden));
  cudaMemcpy(l.gates.v, p.logits.data(), p.logits.size() * sizeof(float), cudaMemcpyHostToDevice);
  std::vector<int> numbers = p.parents;
  numbers.insert(numbers.end(), ends.begin(), ends.end());
  const int* table = reinterpret_cast<int*>(on_gpu(numbers.data(), numbers.size() * sizeof(int)));

  const auto run = [&](void (*kernel)(Levels), const Block* of, const Block& of_states) {
    Levels levels = {l, of[H2I], of[C2I], of[H2C], of[H2O], of[C2O], weights[BI].v, weights[BC].v, weights[BO].v,
                     of_states, given, table, table + n, unsigned(ends.size())};
    void* arguments[] = {&levels};
    cudaLaunchCooperativeKernel(kernel, std::min(hidden, 3u), LEVEL_THREADS, arguments);
  };
  run(forward_levels, turned, states);
  double sum = 0.;
  const Floats values = fetched(states);
  for (std::size_t k = 0; k < values.size(); ++k) sum += double(values[k]) * p.of_states[k];
  compare("loss", {float(sum)}, {float(p.loss())});

  run(backward_levels, weights, gradients);
  compare("derivatives of logits", fetched(l.d), p.derivatives(p.logits));
  if (p.is_given) {
    Floats found;
    for (unsigned k = 0; k < first; ++k)
      for (const Block& b : {l.i, l.g})
        for (float x : fetched(b.columns(k, 1))) found.push_back(x);
    compare("derivatives of states", found, p.derivatives(p.given));
  }

  WeightGradients all;
  Products products;
  const unsigned which[] = {H2I, C2I, H2O, C2O, H2C, BI, BO, BC};
  const Block ones = {on_gpu(Floats(1, 1.f)), 1, n, 0};
  for (unsigned k = 0; k < 8; ++k) {
    const Block y = {on_gpu(Floats(p.weights[which[k]].size())), hidden, k < 5 ? hidden : 1, hidden};
    products.push_back(factors(which[k], l.differentiated(p.is_given ? 0 : first)));
    if (k >= 5) products.back().second = ones;
    all.of[k] = {y, k, k + 1};
  }
  auto* uploaded = reinterpret_cast<std::pair<Block, Block>*>(on_gpu(products.data(), products.size() * sizeof(products[0])));
  const unsigned tiles = (hidden + TILE - 1) / TILE;
  weight_gradients<<<dim3(tiles * tiles, 8), TILE_THREADS>>>(all, uploaded);
  const char* names[] = {"h2i", "c2i", "h2o", "c2o", "h2c", "bi", "bo", "bc"};
  for (unsigned k = 0; k < 8; ++k) compare(names[k], fetched(all.of[k].y), p.derivatives(p.weights[which[k]]));
}
