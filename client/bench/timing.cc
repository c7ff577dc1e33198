#include "client/bench/timing.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace hawser::bench {

double NowMicros() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Quantile(std::vector<double> values, double q) {
  const size_t at =
      std::min(values.size() - 1, static_cast<size_t>(q * values.size()));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[at];
}

}  // namespace hawser::bench
