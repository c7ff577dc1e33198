// Where halves add into one place they are summed in f32 and rounded once. What
// is expected is counted here: 1,000 ones are 1,000, which f16 and bf16 hold,
// while sums of bf16 ones alone stick at 256, and of f16 at 2,048.
#include <functional>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

// More than f16 counts alone, and a number of both dtypes.
constexpr int64_t kOnes = 5120;
constexpr double kSum = 5120;

Tensor OnesOf(DType dtype, const Dims& dims = {kOnes}) {
  return Ones(dtype, dims);
}
// Each index vector the same.
Tensor Places(int64_t place, int64_t components = 1) {
  return Full(DType::kS32, {kOnes, components}, place);
}
Tensor PlacesAlone(int64_t place) { return Full(DType::kS32, {kOnes}, place); }

struct SumOfHalves {
  std::string name;
  // Gives a scalar, or a value of which each element is looked at.
  std::function<Tensor(DType)> make;
  double expected = kSum;
};

// ---- what is written to one place ------------------------------------------

const std::vector<SumOfHalves>& Scattered() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"IndexedAdd",
       [](DType t) {
         return IndexedAdd(Zeros(t, {4}), Places(2), OnesOf(t))[{2}];
       }},
      {"IndexedAdd, a number",
       [](DType t) {
         return IndexedAdd(Zeros(t, {4}), Places(2), Scalar(t, 1))[{2}];
       }},
      {"IndexedAdd, what is there before",
       [](DType t) {
         return IndexedAdd(Full(t, {4}, 1024), Places(1), OnesOf(t))[{1}];
       },
       kSum + 1024},
      {"IndexedAdd, rows",
       [](DType t) {
         return IndexedAdd(Zeros(t, {4, 3}), Places(3),
                           OnesOf(t, {kOnes, 3}))[{3}];
       }},
      {"IndexedAdd, pairs",
       [](DType t) {
         return IndexedAdd(Zeros(t, {4, 3}), Places(1, 2), OnesOf(t))[{1, 1}];
       }},
      {"IndexedAdd, columns",
       [](DType t) {
         return IndexedAdd(Zeros(t, {3, 4}), Places(2), OnesOf(t, {kOnes, 3}),
                           {1})[{Range(0, 3), 2}];
       }},
  };
  return cases;
}

const std::vector<SumOfHalves>& ScatteredToLargeTables() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"IndexedAdd, a large table",
       [](DType t) {
         return IndexedAdd(Zeros(t, {1 << 19}), Places(77777),
                           OnesOf(t))[{77777}];
       }},
      {"IndexedAdd, a large table that has something",
       [](DType t) {
         return IndexedAdd(Full(t, {1 << 13, 64}, 1024), Places(4321),
                           OnesOf(t, {kOnes, 64}))[{4321}];
       },
       kSum + 1024},
      {"IndexedAdd, pairs in a large table",
       [](DType t) {
         return IndexedAdd(Zeros(t, {1 << 9, 1 << 10}), Places(300, 2),
                           OnesOf(t))[{300, 300}];
       }},
      {"IndexedAdd, several places of a large table",
       [](DType t) {
         const Tensor at = Remainder(Iota(DType::kS32, {kOnes, 1}, 0), 2);
         const Tensor sum =
             IndexedAdd(Zeros(t, {1 << 19}), at * 5000, OnesOf(t));
         return sum[{0}] + sum[{5000}];
       }},
      {"IndexedAdd, of a Vmap",
       [](DType t) {
         return Vmap([&](Tensor x) {
           return IndexedAdd(x, Places(2), OnesOf(t))[{2}];
         })(Batched(Zeros(t, {3, 4})));
       }},
  };
  return cases;
}

// ---- gradients --------------------------------------------------------------

Tensor SumIn32(const Tensor& x) { return Sum(Convert(x, DType::kF32)); }

const std::vector<SumOfHalves>& GradientsOfUses() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"Take",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(Take(w, PlacesAlone(2))); })(
             OnesOf(t, {4}))[{2}];
       }},
      {"Take of rows",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(Take(w, PlacesAlone(2))); })(
             OnesOf(t, {4, 3}))[{2}];
       }},
      {"Take of a large table",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(Take(w, PlacesAlone(7))); })(
             OnesOf(t, {1 << 19}))[{7}];
       }},
      {"TakeAlongAxis",
       [](DType t) {
         return Grad([](Tensor w) {
           return SumIn32(TakeAlongAxis(w, PlacesAlone(2), 0));
         })(OnesOf(t, {4}))[{2}];
       }},
      {"Gather",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(Gather(w, Places(2))); })(
             OnesOf(t, {4}))[{2}];
       }},
      {"a subscript",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(w[PlacesAlone(1)]); })(
             OnesOf(t, {4}))[{1}];
       }},
  };
  return cases;
}

const std::vector<SumOfHalves>& GradientsOfRepeats() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"BroadcastTo",
       [](DType t) {
         return Grad([](Tensor w) {
           return SumIn32(BroadcastTo(w, {kOnes, 4}));
         })(OnesOf(t, {4}));
       }},
      {"a bias",
       [](DType t) {
         return Grad<1>([](Tensor x, Tensor b) { return SumIn32(x + b); })(
             OnesOf(t, {kOnes, 4}), OnesOf(t, {4}));
       }},
      {"Tile",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(Tile(w, {kOnes})); })(
             OnesOf(t, {4}));
       }},
      {"many uses",
       [](DType t) {
         return Grad([&](Tensor w) {
           Tensor sum = Scalar(DType::kF32, 0);
           for (int64_t i = 0; i < kSum / 8; ++i) {
             sum = sum + Convert(w, DType::kF32) * 8.0;
           }
           return sum;
         })(OnesOf(t, {}));
       }},
      {"many slices",
       [](DType t) {
         return Grad([&](Tensor w) {
           Tensor sum = Scalar(DType::kF32, 0);
           for (int64_t i = 0; i < kSum / 8; ++i) {
             sum = sum + SumIn32(Rows(w, 1, 2)) * 8.0;
           }
           return sum;
         })(OnesOf(t, {4}))[{2}];
       }},
  };
  return cases;
}

const std::vector<SumOfHalves>& GradientsOfLoops() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"a weight of each turn",
       [](DType t) {
         return Grad([](Tensor w) {
           return For(kOnes, Scalar(DType::kF32, 0), [&](Tensor, Tensor s) {
             return s + Convert(w, DType::kF32);
           });
         })(OnesOf(t, {}));
       }},
      {"a state that stays",
       [](DType t) {
         return Grad([](Tensor w) {
           const auto [s, last] =
               For(kOnes, std::tuple(Scalar(DType::kF32, 0), w),
                   [&](Tensor, Tensor s, Tensor w) {
                     return std::tuple(s + Convert(w, DType::kF32), w);
                   });
           return s;
         })(OnesOf(t, {}));
       }},
      {"loops in loops",
       [](DType t) {
         return Grad([](Tensor w) {
           const auto inner = [&](Tensor, Tensor s) {
             return s + Convert(w, DType::kF32);
           };
           return For(kOnes / 8, Scalar(DType::kF32, 0),
                      [&](Tensor, Tensor s) { return For(8, s, inner); });
         })(OnesOf(t, {}));
       }},
  };
  return cases;
}

const std::vector<SumOfHalves>& GradientsOfEntriesInLoops() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"a row of each turn",
       [](DType t) {
         return Grad([](Tensor w) {
           return For(kOnes, Scalar(DType::kF32, 0), [&](Tensor i, Tensor s) {
             return s + SumIn32(Rows(w, Remainder(i, 1), 1));
           });
         })(OnesOf(t, {4}))[{0}];
       }},
      {"an embedding of each turn",
       [](DType t) {
         return Grad([](Tensor w) {
           return For(kOnes / 4, Scalar(DType::kF32, 0), [&](Tensor, Tensor s) {
             const Tensor at = T1<int32_t>({1, 1, 1, 1});
             return s + SumIn32(Take(w, at));
           });
         })(OnesOf(t, {4}))[{1}];
       }},
      {"a weight of each step of a Scan",
       [](DType t) {
         return Grad([](Tensor w) {
           const auto [s, all] =
               Scan(Scalar(DType::kF32, 0), Ones(DType::kF32, {kOnes}),
                    [&](Tensor s, Tensor x) {
                      const Tensor next = s + x * Convert(w, DType::kF32);
                      return std::pair(next, next);
                    });
           return s;
         })(OnesOf(t, {}));
       }},
      {"a weight before and in a loop",
       [](DType t) {
         return Grad([](Tensor w) {
           const Tensor first = Convert(w, DType::kF32) * 1024.0;
           return For(kOnes, first, [&](Tensor, Tensor s) {
             return s + Convert(w, DType::kF32);
           });
         })(OnesOf(t, {}));
       },
       kSum + 1024},
      {"a weight of a branch of each turn",
       [](DType t) {
         return Grad([](Tensor w) {
           return For(kOnes, Scalar(DType::kF32, 0), [&](Tensor i, Tensor s) {
             return Cond(
                 i >= 0, [&] { return s + Convert(w, DType::kF32); },
                 [&] { return s; });
           });
         })(OnesOf(t, {}));
       }},
  };
  return cases;
}

// What comes back of scans and extremes.
const std::vector<SumOfHalves>& GradientsOfRuns() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"CumulativeSum",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(CumulativeSum(w)); })(
             OnesOf(t))[{0}];
       }},
      {"CumulativeMax",
       [](DType t) {
         const Tensor x =
             Concatenate({Full(t, {1}, 2), Zeros(t, {kOnes - 1})}, 0);
         return Grad([](Tensor w) { return SumIn32(CumulativeMax(w)); })(
             x)[{0}];
       }},
      {"CumulativeProduct",
       [](DType t) {
         return Grad([](Tensor w) { return SumIn32(CumulativeProduct(w)); })(
             OnesOf(t))[{0}];
       }},
      {"CumulativeMin, backwards",
       [](DType t) {
         const Tensor x =
             Concatenate({OnesOf(t, {kOnes - 1}), Full(t, {1}, -2)}, 0);
         return Grad([](Tensor w) {
           return SumIn32(CumulativeMin(w, {.reverse = true}));
         })(x)[{kOnes - 1}];
       }},
      {"ReduceMax of more ties than f16 counts",
       [](DType t) {
         constexpr int64_t kTies = int64_t{1} << 17;
         return Grad([](Tensor w) {
                  return SumIn32(ReduceMax(w)) * (kTies / 4.0);
                })(OnesOf(t, {kTies}))[{5}] *
                (kSum * 4);
       }},
      {"Product of what leaves the range on the way",
       [](DType t) {
         const Tensor x = Concatenate(
             {Full(t, {4}, 256), Full(t, {4}, 1 / 256.0), OnesOf(t, {1})}, 0);
         return Grad([](Tensor w) { return SumIn32(Product(w)); })(x)[{8}] *
                kSum;
       }},
  };
  return cases;
}

const std::vector<SumOfHalves>& Reduced() {
  static const auto& cases = *new std::vector<SumOfHalves>{
      {"Sum", [](DType t) { return Sum(OnesOf(t)); }},
      {"Reduce",
       [](DType t) {
         return Reduce(OnesOf(t), 0, [](Tensor a, Tensor b) { return a + b; });
       }},
      {"Dot", [](DType t) { return Dot(OnesOf(t), OnesOf(t)); }},
      {"CumulativeSum",
       [](DType t) { return CumulativeSum(OnesOf(t))[{kOnes - 1}]; }},
      {"Mean", [](DType t) { return Mean(OnesOf(t)) * kSum; }},
  };
  return cases;
}

void ExpectSums(const std::vector<SumOfHalves>& cases) {
  int tried = 0;
  for (const SumOfHalves& one : cases) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      const auto value = Convert(one.make(dtype), DType::kF64).Fetch();
      ASSERT_OK(value) << one.name;
      for (const double x : value->data<double>()) {
        EXPECT_EQ(x, one.expected) << one.name << " of " << DTypeName(dtype);
      }
      ++tried;
    }
  }
  std::cout << tried << " sums of halves\n";
}

TEST(HalfSums, OfWhatIsWrittenToOnePlace) {
  ExpectSums(Scattered());
  ExpectSums(ScatteredToLargeTables());
}
TEST(HalfSums, OfGradientsOfManyUses) {
  ExpectSums(GradientsOfUses());
  ExpectSums(GradientsOfRepeats());
}
TEST(HalfSums, OfGradientsOfLoops) {
  ExpectSums(GradientsOfLoops());
  ExpectSums(GradientsOfEntriesInLoops());
}
TEST(HalfSums, OfGradientsOfRuns) { ExpectSums(GradientsOfRuns()); }
TEST(HalfSums, OfReductions) { ExpectSums(Reduced()); }

// What falls outside is dropped, and places that are not named keep their bits,
// however much of the table is touched.
TEST(HalfSums, LeaveTheRestAsItIs) {
  for (const int64_t rows : {8, 1 << 19}) {
    const Tensor table = Convert(Iota(DType::kS32, {rows}), DType::kBF16);
    const Tensor at = TN<int32_t>({-1, 3, 1 << 20, 3, 5}, {5, 1});
    const Tensor sum = IndexedAdd(table, at, Full(DType::kBF16, {5}, 0.5));
    const Tensor all =
        Concatenate({sum[{Range(0, 8)}], Sum(Ne(sum, table))[NewAxis()]}, 0);
    EXPECT_VALUE(Convert(all, DType::kF32), F({0, 1, 2, 4, 4, 5.5, 6, 7, 2}));
  }
}

}  // namespace
}  // namespace hawser
