#include "tests/core/vectorize/entries.h"

#include <algorithm>
#include <utility>

#include "core/ir/builder.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/registry.h"
#include "core/ops/windows/convolution.h"
#include "core/vectorize/vectorize.h"
#include "gtest/gtest.h"
#include "tests/reference/evaluator.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

Dims WithAxis0(int64_t size, const Dims& dims) {
  Dims all = dims;
  all.insert(all.begin(), size);
  return all;
}

// Of a constant, by what uses it.
Role RoleOf(const Computation& entry, ValueId constant) {
  Role role = Role::kFree;
  for (const Instruction& i : entry.instructions()) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k] != constant) continue;
      if (i.op == &kReduce && k >= i.operands.size() / 2) role = Role::kFixed;
      if (i.op == &kWhile && k == 0) return Role::kCounter;
    }
  }
  return role;
}

// `entries` of one shape, one behind the other.
Literal Stacked(absl::Span<const Literal> entries, const Shape& entry) {
  const auto size = static_cast<int64_t>(entries.size());
  Literal all =
      Literal::Zeros(Shape::Of(entry.dtype(), WithAxis0(size, entry.dims())));
  char* to = size == 0 ? nullptr : all.mutable_bytes().data();
  for (const Literal& e : entries) {
    to = std::copy(e.bytes().begin(), e.bytes().end(), to);
  }
  return all;
}

}  // namespace

Module ParsedModule(absl::string_view text) {
  auto module = ParseModule(text, FindOp);
  EXPECT_OK(module) << text;
  return module.ok() ? *std::move(module) : Module();
}

absl::StatusOr<std::vector<Literal>> RunOnReference(
    const Module& module, absl::Span<const Literal> arguments) {
  static auto& evaluator = *new reference::Evaluator();
  return evaluator.Evaluate(module,
                            static_cast<int>(module.computations().size()) - 1,
                            arguments, CancelToken());
}

Literal EntryOf(const Literal& batch, int64_t b) {
  Dims dims = batch.shape().dims();
  dims.erase(dims.begin());
  const Shape shape = Shape::Of(batch.shape().dtype(), dims);
  const auto bytes = static_cast<size_t>(shape.byte_size());
  return *Literal::FromBytes(shape, batch.bytes().subspan(b * bytes, bytes));
}

OpenModule Opened(const Module& module) {
  OpenModule open{module, {}, {}};
  const Computation entry = module.entry();
  open.roles.resize(entry.num_parameters(), Role::kFree);
  open.values.resize(entry.num_parameters());
  ComputationBuilder b(&open.module, "opened");
  std::vector<ValueId> moved(entry.num_values());
  for (const Instruction& i : entry.instructions()) {
    std::vector<ValueId> operands;
    for (const ValueId v : i.operands) operands.push_back(moved[v]);
    ValueId first = kNoValue;
    if (i.op == &kParameter) {
      first = b.Parameter(entry.shape(i.first_result));
    } else if (i.op == &kConstant) {
      first = b.Parameter(entry.shape(i.first_result));
      open.roles.push_back(RoleOf(entry, i.first_result));
      open.values.push_back(i.attributes.GetLiteral("value"));
    } else {
      first = b.Add(*i.op, operands, i.attributes, i.called);
    }
    for (int k = 0; k < i.num_results; ++k) {
      moved[i.first_result + k] = first + k;
    }
  }
  std::vector<ValueId> results;
  for (const ValueId v : entry.results()) results.push_back(moved[v]);
  EXPECT_OK(b.Finish(results));
  return open;
}

bool FoldsFloats(const Module& module) {
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      if (i.op != &kReduce && i.op != &kDotGeneral &&
          i.op != &kConvolution) {
        continue;
      }
      for (const ValueId v : i.operands) {
        const DType dtype = c.shape(v).dtype();
        if (IsFloat(dtype) || IsComplex(dtype)) return true;
      }
    }
  }
  return false;
}

std::vector<bool> SomeBatched(const OpenModule& open, Random& random) {
  std::vector<bool> batched;
  const int64_t one_in = random.Between(1, 3);
  for (size_t p = 0; p < open.roles.size(); ++p) {
    batched.push_back(random.OneIn(one_in));
  }
  return batched;
}

std::vector<Literal> DrawArguments(const OpenModule& open,
                                   const std::vector<bool>& batched,
                                   int64_t size, Random& random) {
  const auto& shapes = open.module.signature().parameters;
  const bool extremes = !FoldsFloats(open.module);
  std::vector<Literal> arguments;
  for (size_t p = 0; p < shapes.size(); ++p) {
    std::vector<Literal> entries;
    for (int64_t b = 0; b < (batched[p] ? size : 1); ++b) {
      if (open.roles[p] == Role::kFree) {
        entries.push_back(RandomLiteral(shapes[p], random, extremes));
      } else if (open.roles[p] == Role::kFixed || !batched[p]) {
        entries.push_back(open.values[p]);
      } else {
        entries.push_back(Literal::Scalar(static_cast<int32_t>(b)));
      }
    }
    arguments.push_back(batched[p] ? Stacked(entries, shapes[p]) : entries[0]);
  }
  return arguments;
}

void ExpectEntries(const Module& module, const std::vector<bool>& batched,
                   int64_t size, absl::Span<const Literal> arguments,
                   const std::string& which, const Tolerance& tolerance) {
  const auto batch = Vectorize(module, {.size = size, .batched = batched});
  ASSERT_OK(batch) << which << "\n" << Print(module);
  const auto got = RunOnReference(*batch, arguments);
  ASSERT_OK(got) << which << "\n" << Print(module) << Print(*batch);
  const auto& results = module.signature().results;
  ASSERT_EQ(got->size(), results.size());
  for (size_t k = 0; k < results.size(); ++k) {
    ASSERT_EQ((*got)[k].shape(),
              Shape::Of(results[k].dtype(), WithAxis0(size, results[k].dims())))
        << which;
  }
  for (int64_t b = 0; b < size; ++b) {
    std::vector<Literal> of_entry;
    for (size_t p = 0; p < arguments.size(); ++p) {
      of_entry.push_back(batched[p] ? EntryOf(arguments[p], b) : arguments[p]);
    }
    const auto want = RunOnReference(module, of_entry);
    ASSERT_OK(want) << which << "\n" << Print(module);
    for (size_t k = 0; k < results.size(); ++k) {
      ASSERT_OK(CompareLiterals(EntryOf((*got)[k], b), (*want)[k], tolerance))
          << which << ", entry " << b << " of " << size << ", result " << k
          << "\n"
          << Print(module) << Print(*batch);
    }
  }
}

}  // namespace hawser
