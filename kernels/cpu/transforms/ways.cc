#include "kernels/cpu/transforms/ways.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/butterflies/lane_passes.h"

namespace hawser::cpu {
namespace {

// Costs of an element are in this unit: those of a pass, and that of a move to
// lanes and back.
constexpr double kCostUnit = 0.06;  // steps
constexpr int64_t kMoveCost = 6;
int64_t PassCost(int radix) {
  switch (radix) {
    case 2:
      return 2;
    case 3:
    case 4:
      return 3;
    case 5:
    case 8:
      return 4;
    default:
      return radix;
  }
}
// Columns and rows are computed so many at a time.
constexpr int64_t kWidest = kMostLanes<float>;

// Empty where a prime is too large.
std::vector<int> RadicesOf(int64_t n) {
  std::vector<int> radices;
  for (int prime = kMostRadix; prime > 2; --prime) {
    // Only primes divide what is left: larger ones are gone.
    const bool is_prime = [prime] {
      for (int d = 2; d * d <= prime; ++d) {
        if (prime % d == 0) return false;
      }
      return true;
    }();
    while (is_prime && n % prime == 0) {
      radices.push_back(prime);
      n /= prime;
    }
  }
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  if (n != 1) return {};
  // 16 is 4 x 4, which takes as many passes as 2 x 8.
  if (twos == 1) radices.push_back(2);
  for (int fours = twos % 3 == 0 ? 0 : 3 - twos % 3; fours > 0 && twos > 1;
       --fours) {
    radices.push_back(4);
    twos -= 2;
  }
  // The last pass, which turns nothing, is the one that would turn most.
  for (; twos >= 3; twos -= 3) radices.push_back(8);
  return radices;
}

int64_t CostOf(const std::vector<int>& radices) {
  int64_t cost = kMoveCost;
  for (const int radix : radices) cost += PassCost(radix);
  return cost;
}

int64_t RoundedUp(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

// The divisor of n = columns * rows that costs least; 0: there is none.
FftWay AsMatrix(int64_t n) {
  FftWay best{.kind = FftWay::kMatrix};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t low = 2; low * low <= n; ++low) {
    if (n % low != 0) continue;
    const int64_t high = n / low;
    const auto of_low = static_cast<double>(CostOf(RadicesOf(low)));
    auto of_high = static_cast<double>(CostOf(RadicesOf(high)));
    // Long ones leave the nearer caches.
    for (int64_t size = kMostInPasses; size < high; size *= 2) of_high *= 1.5;
    const double cost =
        of_low * static_cast<double>(low * RoundedUp(high, kWidest)) +
        of_high * static_cast<double>(high * RoundedUp(low, kWidest));
    if (cost >= least) continue;
    least = cost;
    best.columns = low;
    best.rows = high;
  }
  return best;
}

// The smallest that is easily transformed and not below n.
int64_t WideFor(int64_t n) {
  int64_t best = std::numeric_limits<int64_t>::max();
  for (const int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t size = odd;
    while (size < n) size *= 2;
    best = std::min(best, size);
  }
  return best;
}

}  // namespace

FftWay WayInLanes(int64_t n) {
  std::vector<int> radices = RadicesOf(n);
  if (n > 1 && radices.empty()) return WayOf(n);
  return {.kind = FftWay::kPasses, .radices = std::move(radices)};
}

FftWay WayOf(int64_t n) {
  std::vector<int> radices = RadicesOf(n);
  if (n > 1 && radices.empty()) {
    return {.kind = FftWay::kChirps, .wide = WideFor(2 * n - 1)};
  }
  if (n > kMostInPasses) return AsMatrix(n);
  return {.kind = FftWay::kPasses, .radices = std::move(radices)};
}

int64_t LaneRoomOf(const FftWay& way, int64_t n) {
  return way.kind == FftWay::kChirps ? way.wide : n;
}

double StepsOf(int64_t n) {
  const FftWay way = WayOf(n);
  const auto size = static_cast<double>(n);
  switch (way.kind) {
    case FftWay::kPasses:
      return kCostUnit * size * static_cast<double>(CostOf(way.radices));
    case FftWay::kMatrix:
      return kCostUnit * size *
             static_cast<double>(CostOf(RadicesOf(way.columns)) +
                                 CostOf(RadicesOf(way.rows)));
    case FftWay::kChirps:
      break;
  }
  return 2 * StepsOf(way.wide) + size;
}

}  // namespace hawser::cpu
