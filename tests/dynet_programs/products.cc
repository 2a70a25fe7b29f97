#include "products.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>
using namespace dynet;
using namespace dynet::products;

// prints the largest difference to plain sums over many sizes; rows between strides must not change
double worst_difference() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  auto drawn = [&](int size) {
    std::vector<float> v(size);
    for (float& x : v) x = draw(random);
    return v;
  };
  double worst = 0;
  for (int m : {1, 2, 3, 4, 7, 15, 16, 17, 48, 60, 64, 80, 100, 129, 144})
    for (int inner : {1, 5, 64, 300})
      for (int n : {1, 2, 5, 6, 7, 13, 24, 100})
        for (bool by_row : {false, true}) {
          const int gap = 3, height = m + gap, b_height = (by_row ? n : inner) + gap;
          const auto a = drawn(height * inner), before = drawn(height * n);
          const auto b = drawn(b_height * (by_row ? inner : n));
          const Right right = by_row ? Right{b.data(), b_height, 1} : Right{b.data(), 1, b_height};
          auto compare = [&](const std::vector<float>& y) {
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < height; ++i) {
                double sum = before[j * height + i];
                for (int k = 0; k < inner && i < m; ++k)
                  sum += double(a[k * height + i]) * b[k * right.row + j * right.column];
                worst = std::fmax(worst, std::fabs(sum - y[j * height + i]));
              }
          };
          auto y = before;
          add_product(m, inner, n, a.data(), height, right, y.data(), height);
          compare(y);
          // the same product in parts, one of them of no columns
          auto z = before;
          const Factors whole = {inner, a.data(), height, right};
          std::vector<Factors> parts;
          for (int begin : {0, 0, inner / 3, inner / 2, inner}) {
            if (!parts.empty()) parts.back().inner -= whole.from(begin).inner;
            parts.push_back(whole.from(begin));
          }
          add_products(m, n, parts, z.data(), height);
          compare(z);
          if (by_row) continue;
          // the same with a packed left side
          z = before;
          std::vector<float> room(m * inner);
          const Panels left = packed(m, inner, room.data(), [&](int row, int rows, float* panel) {
            for (int k = 0; k < inner; ++k)
              std::memcpy(panel + k * rows, &a[k * height + row], rows * sizeof(float));
          });
          add_product(left, n, b.data(), b_height, z.data(), height);
          compare(z);
        }
  return worst;
}

int main() { std::printf("%g", worst_difference()); }
