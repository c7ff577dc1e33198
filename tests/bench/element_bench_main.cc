// What one element of an op costs on this machine: the typical time, the worst
// over values that arithmetic finds hard, and what the op's row says; then the
// same by lanes, and what their cost row says. Takes names of ops; all of them
// without.
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/values/literal.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/registry.h"
#include "kernels/cpu/chains/op_loops.h"
#include "kernels/cpu/costs/lane_costs.h"
#include "kernels/cpu/kernel.h"

namespace hawser {
namespace {

using cpu::ElementFn;

constexpr int64_t kElements = 64;
constexpr int kRepeats = 5;
// What reading and writing an element takes, whatever is done to it.
constexpr double kMove = 2;
// The worst should be within this of what the row says.
constexpr double kMostRow = 5;
// The bound on worst / typical.
constexpr double kMostRatio = 16;
// Of lanes: a tile's.
constexpr int64_t kLanes = 2048;
// The bound on measured / row of lanes, and on its inverse.
constexpr double kMostLaneRatio = 4;

// Powers of two of both signs over the whole range, and what is no number.
template <typename T>
std::vector<T> Hard() {
  std::vector<T> out;
  if constexpr (std::is_same_v<T, bool>) {
    out = {false, true};
  } else if constexpr (kIsInteger<T>) {
    using Limits = std::numeric_limits<T>;
    out = {0,
           1,
           2,
           3,
           static_cast<T>(-1),
           static_cast<T>(-7),
           Limits::min(),
           Limits::max(),
           static_cast<T>(Limits::max() - 1)};
  } else if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    using Limits = std::numeric_limits<Part>;
    const Part parts[] = {0,
                          1,
                          static_cast<Part>(-1.5),
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::max() / 4,
                          Limits::denorm_min() * 5,
                          Limits::min() * 3,
                          static_cast<Part>(1e30),
                          static_cast<Part>(0.9999)};
    for (Part re : parts) {
      for (Part im : parts) out.push_back(T(re, im));
    }
  } else {
    for (double x :
         {0.0,      1.0,    0.7,     0.999999, 1.000001, 1.5707963267948966,
          3e-5,     6e-8,   1.4e-45, 1e-40,    1.2e-38,  1e-30,
          1.5e-323, 1e-310, 3e-308,  1e-200,   20.5,     88.7,
          -87.5,    104.0,  709.7,   745.0,    65504.0,  1e10,
          3.1e38,   1e22,   1e100,   1e300,    1.7e308,  HUGE_VAL}) {
      out.push_back(T(static_cast<ComputeType<T>>(x)));
      out.push_back(T(static_cast<ComputeType<T>>(-x)));
    }
    out.push_back(T(static_cast<ComputeType<T>>(NAN)));
  }
  return out;
}

template <typename T>
T Ordinary(int64_t i) {
  const double x = 0.6 + 0.37 * static_cast<double>(i * 7 % 11);
  if constexpr (std::is_same_v<T, bool>) {
    return i % 3 == 0;
  } else if constexpr (kIsInteger<T>) {
    return static_cast<T>(i * 7 % 11 + 1);
  } else if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(x), static_cast<Part>(1.3 - x / 3));
  } else {
    return T(static_cast<ComputeType<T>>(x));
  }
}

// A value in every element, or ordinary ones.
struct Operand {
  DType dtype;
  std::vector<char> bytes;
  std::string text;
};

template <typename T>
std::string TextOf(T value) {
  if constexpr (kIsComplex<T>) {
    return absl::StrFormat("%g%+gi", value.real(), value.imag());
  } else {
    return absl::StrFormat("%g", static_cast<double>(value));
  }
}

std::vector<Operand> HardOperands(DType dtype) {
  return VisitDType(dtype, [](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<Operand> out;
    for (const T value : Hard<T>()) {
      Operand o{kDTypeOf<T>, std::vector<char>(kElements * sizeof(T)),
                TextOf(value)};
      for (int64_t i = 0; i < kElements; ++i) {
        std::memcpy(o.bytes.data() + i * sizeof(T), &value, sizeof(T));
      }
      out.push_back(std::move(o));
    }
    return out;
  });
}

Operand OrdinaryOperand(DType dtype, int64_t from,
                        int64_t elements = kElements) {
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operand o{kDTypeOf<T>, std::vector<char>(elements * sizeof(T)), ""};
    for (int64_t i = 0; i < elements; ++i) {
      const T value = Ordinary<T>(i + from);
      std::memcpy(o.bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return o;
  });
}

double Nanoseconds(ElementFn fn, const std::vector<const Operand*>& operands,
                   int64_t elements = kElements) {
  static std::vector<char> out(kLanes * 16);
  std::vector<const char*> in;
  for (const Operand* o : operands) in.push_back(o->bytes.data());
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    fn(in.data(), out.data(), elements);
    fn(in.data(), out.data(), elements);
    const std::chrono::duration<double, std::nano> took =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / (2 * static_cast<double>(elements)));
  }
  return best;
}

// One op on operands of these dtypes.
struct Subject {
  const OpDef* op;
  std::vector<DType> operands;
  DType result;
  Attributes attributes;
};

struct Worst {
  double time = 0;
  std::string with;
  void Add(double ns, const std::vector<const Operand*>& operands) {
    if (ns <= time) return;
    time = ns;
    with = absl::StrJoin(
        operands, ", ", [](std::string* to, const auto* o) { *to += o->text; });
  }
};

// "0.052 0.050 ": measured and as the row says, by lanes; a '!' where they are
// too far apart.
std::string ByLanes(const Subject& s) {
  const ElementFn fn = cpu::FindLoop(
      *s.op, {s.operands, s.result, s.attributes}, cpu::ProcessIsa());
  const double row = std::max(cpu::LaneSteps(*s.op, s.operands[0]),
                              cpu::LaneSteps(*s.op, s.result));
  if (fn == nullptr) return absl::StrFormat("%8s %8.3f ", "-", row);
  std::vector<Operand> ordinary;
  std::vector<const Operand*> chosen;
  for (size_t k = 0; k < s.operands.size(); ++k) {
    ordinary.push_back(OrdinaryOperand(s.operands[k], k * 5, kLanes));
  }
  for (const Operand& o : ordinary) chosen.push_back(&o);
  const double took = Nanoseconds(fn, chosen, kLanes);
  const bool is_off =
      took > kMostLaneRatio * row || row > kMostLaneRatio * took;
  return absl::StrFormat("%8.3f %8.3f%s", took, row, is_off ? "!" : " ");
}

void Report(const Subject& s, ElementFn fn) {
  std::vector<Operand> ordinary;
  std::vector<std::vector<Operand>> hard;
  std::vector<const Operand*> chosen;
  for (size_t k = 0; k < s.operands.size(); ++k) {
    ordinary.push_back(OrdinaryOperand(s.operands[k], k * 5));
    hard.push_back(HardOperands(s.operands[k]));
  }
  for (const Operand& o : ordinary) chosen.push_back(&o);
  const double typical = Nanoseconds(fn, chosen);
  Worst worst;
  for (const Operand& a : hard[0]) {
    chosen[0] = &a;
    if (chosen.size() == 1) worst.Add(Nanoseconds(fn, chosen), chosen);
    for (size_t j = 0; chosen.size() > 1 && j < hard[1].size(); ++j) {
      chosen[1] = &hard[1][j];
      if (chosen.size() > 2) chosen[2] = &hard[2][j];
      worst.Add(Nanoseconds(fn, chosen), chosen);
    }
  }
  const double ratio = worst.time / std::max(typical, kMove);
  const cpu::ElementSteps& row = cpu::FindCpuKernel(*s.op)->steps;
  const int steps = std::max(row.Of(s.operands[0]), row.Of(s.result));
  std::cout << absl::StrFormat(
      "%-22s %-5s %-5s %8.2f %8.1f %6.1f%s %5d%s %s  %s\n", s.op->name,
      DTypeName(s.operands[0]), DTypeName(s.result), typical, worst.time, ratio,
      ratio > kMostRatio ? "!" : " ", steps,
      worst.time > kMostRow * steps || typical > kMostRow * steps ? "!" : " ",
      ByLanes(s), worst.with);
}

std::vector<Subject> SubjectsOf(const OpDef& op) {
  std::vector<Subject> out;
  for (DType dtype : AllDTypes()) {
    if (!op.dtypes.Has(dtype)) continue;
    Subject s{&op, std::vector<DType>(op.arity.min, dtype), dtype, {}};
    if (&op == &kCompare) s.attributes.Set("direction", std::string("EQ"));
    if (&op == &kReducePrecision) {
      s.attributes.Set("exponent_bits", int64_t{5});
      s.attributes.Set("mantissa_bits", int64_t{10});
    }
    if (&op == &kSelect) s.operands[0] = DType::kBool;
    if (op.result.kind != DTypeRule::kFromAttribute) {
      out.push_back(s);
      continue;
    }
    for (DType to : AllDTypes()) {
      s.result = to;
      out.push_back(s);
    }
  }
  return out;
}

int Main(int argc, char** argv) {
  std::cout << "op                     of    gives  typical    worst  ratio   "
               "row    lanes      row  worst of (ns an element; ratio to at "
               "least 2 ns)\n";
  for (const OpDef* op : AllOps()) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= op->name == argv[i];
    const cpu::CpuKernel* kernel = cpu::FindCpuKernel(*op);
    if (!wanted || kernel == nullptr || kernel->element == nullptr) continue;
    for (const Subject& s : SubjectsOf(*op)) {
      const ElementFn fn =
          kernel->element({s.operands, s.result, s.attributes});
      if (fn != nullptr) Report(s, fn);
    }
  }
  return 0;
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) { return hawser::Main(argc, argv); }
