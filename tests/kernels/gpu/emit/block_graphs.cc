#include "tests/kernels/gpu/emit/block_graphs.h"

#include <string>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"

namespace hawser::gpu {
namespace {

std::vector<ValueId> Pairs(const std::vector<DType>& dtypes, bool adjacent,
                           ComputationBuilder* b) {
  std::vector<ValueId> values;
  const size_t n = dtypes.size();
  for (size_t k = 0; k < 2 * n; ++k) {
    values.push_back(
        b->Parameter(Shape::Scalar(dtypes[adjacent ? k / 2 : k % n])));
  }
  return values;
}

int AddScanBody(ScanBody body, const std::vector<DType>& dtypes,
                Module* module) {
  ComputationBuilder b(module, "body");
  const std::vector<ValueId> p = Pairs(dtypes, /*adjacent=*/false, &b);
  std::vector<ValueId> results;
  switch (body) {
    case ScanBody::kSum:
      results = {b.Add(kAdd, {p[0], p[1]})};
      break;
    case ScanBody::kProduct:
      results = {b.Add(kMultiply, {p[0], p[1]})};
      break;
    case ScanBody::kLargest:
      results = {b.Add(kMaximum, {p[0], p[1]})};
      break;
    case ScanBody::kRecurrence: {
      const ValueId moved = b.Add(kMultiply, {p[1], p[2]});
      results = {b.Add(kMultiply, {p[0], p[2]}), b.Add(kAdd, {moved, p[3]})};
      break;
    }
    case ScanBody::kSumAndLargest:
      results = {b.Add(kAdd, {p[0], p[2]}), b.Add(kMaximum, {p[1], p[3]})};
      break;
    case ScanBody::kLast:
      results = {p[1]};
      break;
  }
  const auto number = b.Finish(results);
  HAWSER_CHECK(number.ok());
  return *number;
}

int AddSortBody(SortBody body, const std::vector<DType>& dtypes,
                Module* module) {
  if (body == SortBody::kAscending || body == SortBody::kDescending) {
    const std::vector<DType> others(dtypes.begin() + 1, dtypes.end());
    return AddComparator(dtypes[0], body == SortBody::kDescending, others,
                         module);
  }
  ComputationBuilder b(module, "less");
  const std::vector<ValueId> p = Pairs(dtypes, /*adjacent=*/true, &b);
  const auto compare = [&](const char* direction, ValueId l, ValueId r) {
    return b.Add(kCompare, {l, r}, {{"direction", std::string(direction)}});
  };
  ValueId result = compare("LT", p[0], p[1]);
  if (body == SortBody::kNever) {
    result = b.Constant(Literal::Scalar(false));
  } else if (body == SortBody::kTurned) {
    result = compare("LT", p[1], p[0]);
  } else if (body == SortBody::kBySum) {
    result =
        compare("LT", b.Add(kAdd, {p[0], p[2]}), b.Add(kAdd, {p[1], p[3]}));
  } else if (body == SortBody::kLexicographic) {
    const ValueId tied =
        b.Add(kAnd, {compare("EQ", p[0], p[1]), compare("LT", p[2], p[3])});
    result = b.Add(kOr, {result, tied});
  }
  const auto number = b.Finish({result});
  HAWSER_CHECK(number.ok());
  return *number;
}

Module Whole(const OpDef& op, Module module, int body,
             const std::vector<DType>& dtypes, const Dims& dims,
             Attributes attributes) {
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> inputs, results;
  for (const DType d : dtypes)
    inputs.push_back(b.Parameter(Shape::Of(d, dims)));
  const ValueId first = b.Add(op, inputs, std::move(attributes), {body});
  for (size_t k = 0; k < dtypes.size(); ++k) {
    results.push_back(first + static_cast<ValueId>(k));
  }
  const auto finished = b.Finish(results);
  HAWSER_CHECK(finished.ok());
  return module;
}

}  // namespace

Module ScanModule(ScanBody body, const std::vector<DType>& dtypes,
                  const Dims& dims, int64_t axis, bool reverse) {
  Module module("scan");
  const int number = AddScanBody(body, dtypes, &module);
  return Whole(kScan, std::move(module), number, dtypes, dims,
               {{"dimension", axis}, {"reverse", reverse}});
}

Module SortModule(SortBody body, const std::vector<DType>& dtypes,
                  const Dims& dims, int64_t axis) {
  Module module("sort");
  const int number = AddSortBody(body, dtypes, &module);
  return Whole(kSort, std::move(module), number, dtypes, dims,
               {{"dimension", axis}});
}

Module FirstOfSortModule(SortBody body, const std::vector<DType>& dtypes,
                         const Dims& dims, int64_t count) {
  Module module("first of sort");
  const int number = AddSortBody(body, dtypes, &module);
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> operands, results;
  for (const DType dtype : dtypes) {
    operands.push_back(b.Parameter(Shape::Of(dtype, dims)));
  }
  const ValueId sorted =
      b.Add(kSort, operands,
            {{"dimension", static_cast<int64_t>(dims.size()) - 1}}, {number});
  Dims limit = dims;
  limit.back() = count;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    results.push_back(b.Add(kSlice, {sorted + static_cast<ValueId>(k)},
                            {{"limit_indices", limit},
                             {"start_indices", Dims(dims.size(), 0)},
                             {"strides", Dims(dims.size(), 1)}}));
  }
  HAWSER_CHECK(b.Finish(results).ok());
  return module;
}

}  // namespace hawser::gpu
