// Nx's answers for vectorized tensors, by Vmap: one for each axis that Nx hides.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/cli/cases/case_codec.h"
#include "client/sdk/functions/batch/vmap.h"
#include "client/sdk/functions/function_table.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

constexpr char kFile[] = "tests/client/sdk/functions/batch/nx_vectorize.txtpb";

struct Axis {
  std::string name;
  int64_t size;
};
using Axes = std::vector<Axis>;

// "[x2,y3]"
Axes AxesOf(absl::string_view text) {
  Axes axes;
  for (absl::string_view axis :
       absl::StrSplit(text, absl::ByAnyChar("[,]"), absl::SkipEmpty())) {
    int64_t size = 0;
    EXPECT_TRUE(absl::SimpleAtoi(axis.substr(1), &size)) << text;
    axes.push_back({std::string(axis.substr(0, 1)), size});
  }
  return axes;
}

// Tensors, and the axes in front of each that are still to be mapped over; the
// numbers beside them are in their place.
struct Arguments {
  std::vector<FunctionArgument> values;
  std::vector<Axes> axes;
};

// Without axes of one entry where the result has more: all entries share them.
void ShareSingles(const Axes& of_result, Arguments* arguments) {
  for (size_t i = 0; i < arguments->values.size(); ++i) {
    Axes kept;
    Dims dims;
    auto* tensor = std::get_if<Tensor>(&arguments->values[i]);
    if (tensor == nullptr) continue;
    const Axes& axes = arguments->axes[i];
    for (size_t a = 0; a < axes.size(); ++a) {
      bool shared = false;
      for (const Axis& r : of_result) {
        shared |= r.name == axes[a].name && r.size != axes[a].size;
      }
      if (shared) continue;
      kept.push_back(axes[a]);
      dims.push_back(axes[a].size);
    }
    for (int d = static_cast<int>(axes.size()); d < tensor->rank(); ++d) {
      dims.push_back(tensor->dim(d));
    }
    *tensor = Reshape(*tensor, dims);
    arguments->axes[i] = kept;
  }
}

// The function over the axes from `level` on, outermost first.
Tensor Mapped(const FunctionEntry& function, const Attributes& attributes,
              const Axes& axes, size_t level, const Arguments& arguments) {
  if (level == axes.size()) {
    const auto got = CallFunction(function, arguments.values, attributes);
    EXPECT_OK(got);
    return got.ok() ? (*got)[0] : Tensor();
  }
  std::vector<sdk::VmapLeaf> leaves;
  VmapOptions options;
  Arguments inner = arguments;
  for (size_t i = 0; i < arguments.values.size(); ++i) {
    const auto* tensor = std::get_if<Tensor>(&arguments.values[i]);
    if (tensor == nullptr) continue;
    auto& left = inner.axes[i];
    const bool has = !left.empty() && left[0].name == axes[level].name;
    if (has) left.erase(left.begin());
    leaves.push_back({*tensor, leaves.size()});
    options.in_axes.push_back(has ? std::optional<int64_t>(0) : std::nullopt);
  }
  return sdk::RunVmap(
      leaves, leaves.size(), options,
      [&](const sdk::Values& entries) {
        size_t next = 0;
        for (FunctionArgument& value : inner.values) {
          if (std::holds_alternative<Tensor>(value)) value = entries[next++];
        }
        return sdk::Values{
            Mapped(function, attributes, axes, level + 1, inner)};
      },
      SourceLocation::Current())[0];
}

void ExpectCase(const v1::Case& record) {
  const std::vector<std::string> words = absl::StrSplit(record.name(), ' ');
  const Axes of_result = AxesOf(words.back());
  Arguments arguments;
  for (int i = 0; i < record.inputs_size(); ++i) {
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         cli::ToLiteral(record.inputs(i)));
    arguments.axes.push_back(AxesOf(words[1 + i]));
    if (!record.inputs(i).weak()) {
      arguments.values.emplace_back(Constant(value));
    } else if (value.shape().dtype() == DType::kF32) {
      arguments.values.emplace_back(Number(value.data<float>()[0]));
    } else {
      arguments.values.emplace_back(Number(value.data<int32_t>()[0]));
    }
  }
  ShareSingles(of_result, &arguments);
  const FunctionEntry* function = FindFunction(record.fn());
  ASSERT_NE(function, nullptr) << record.fn();
  ASSERT_OK_AND_ASSIGN(const Attributes attributes,
                       cli::ToFunctionAttributes(record.attributes()));
  const Tensor got = Mapped(*function, attributes, of_result, 0, arguments);
  ASSERT_OK_AND_ASSIGN(const Literal value, got.Fetch());
  ASSERT_OK_AND_ASSIGN(const Literal want,
                       cli::ToLiteral(record.outputs(0)));
  const Tolerance near{.atol = record.atol(), .rtol = record.rtol()};
  EXPECT_THAT(value, LiteralNear(want, near)) << record.name();
}

TEST(NxVectorize, VmapGivesItsAnswers) {
  const ScopedClient scope{Client(std::make_shared<CountingClient>())};
  ASSERT_OK_AND_ASSIGN(const v1::CaseFile file, cli::ReadCaseFile(kFile));
  EXPECT_EQ(file.cases_size(), 34);
  for (const v1::Case& record : file.cases()) ExpectCase(record);
}

}  // namespace
}  // namespace hawser
