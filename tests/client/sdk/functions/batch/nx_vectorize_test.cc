// What real Nx answers for vectorized tensors, by Vmap of the functions.
#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/cli/cases/case_codec.h"
#include "client/sdk/functions/table/function_table.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using Names = std::vector<std::string>;

struct Input {
  FunctionArgument value;
  Names axes;  // those that are left, from the first on
};

bool IsBatched(const Input& input, const std::string& axis) {
  return !input.axes.empty() && input.axes[0] == axis;
}

// The function below a Vmap for each of the axes.
Tensor Batched(const v1::Case& record, const std::vector<Input>& inputs,
               const Names& axes, size_t from) {
  if (from == axes.size()) {
    std::vector<FunctionArgument> arguments;
    for (const Input& input : inputs) arguments.push_back(input.value);
    const auto attributes = cli::ToFunctionAttributes(record.attributes());
    EXPECT_OK(attributes);
    const auto results =
        CallFunction(*FindFunction(record.fn()), arguments, *attributes);
    EXPECT_OK(results);
    return results.ok() ? results->at(0) : Tensor();
  }
  std::vector<Tensor> batched, shared;
  for (const Input& input : inputs) {
    if (const auto* tensor = std::get_if<Tensor>(&input.value)) {
      (IsBatched(input, axes[from]) ? batched : shared).push_back(*tensor);
    }
  }
  const auto one = [&](std::vector<Tensor> own, std::vector<Tensor> others) {
    std::vector<Input> within = inputs;
    size_t next_own = 0, next_other = 0;
    for (Input& input : within) {
      if (!std::holds_alternative<Tensor>(input.value)) continue;
      if (IsBatched(input, axes[from])) {
        input.value = own[next_own++];
        input.axes.erase(input.axes.begin());
      } else {
        input.value = others[next_other++];
      }
    }
    return Batched(record, within, axes, from + 1);
  };
  return Vmap(one, {.in_axes = {0, std::nullopt}})(batched, shared);
}

// Of axes of one entry, which Nx stretches, an input has none: Vmap's entries are
// equally many.
void ShareSingles(std::vector<Input>* inputs) {
  for (Input& input : *inputs) {
    auto* tensor = std::get_if<Tensor>(&input.value);
    if (tensor == nullptr) continue;
    Dims dims = tensor->shape().dims();
    for (size_t a = input.axes.size(); a-- > 0;) {
      if (dims[a] != 1) continue;
      dims.erase(dims.begin() + static_cast<int64_t>(a));
      input.axes.erase(input.axes.begin() + static_cast<int64_t>(a));
    }
    *tensor = Reshape(*tensor, dims);
  }
}

TEST(NxVectorize, AnswersAreThoseOfVmap) {
  ASSERT_OK_AND_ASSIGN(
      const v1::CaseFile file,
      cli::ReadCaseFile(
          "tests/client/sdk/functions/batch/nx_vectorize.txtpb"));
  for (const v1::Case& record : file.cases()) {
    SCOPED_TRACE(record.name());
    ASSERT_OK_AND_ASSIGN(const auto literals, cli::ToLiterals(record.inputs()));
    const Names of_inputs = absl::StrSplit(
        record.name().substr(record.name().find(": ") + 2), " | ");
    ASSERT_EQ(of_inputs.size(), literals.size());
    std::vector<Input> inputs;
    Names axes;
    for (size_t i = 0; i < literals.size(); ++i) {
      Names own = absl::StrSplit(of_inputs[i], ' ');
      if (own[0] == "-") own.clear();
      for (const std::string& axis : own) {
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
          axes.push_back(axis);
        }
      }
      FunctionArgument value = Constant(literals[i]);
      if (record.inputs(static_cast<int>(i)).weak()) {
        value = VisitDType(literals[i].shape().dtype(), [&](auto tag) {
          return Number(literals[i].data<typename decltype(tag)::type>()[0]);
        });
      }
      inputs.push_back({value, own});
    }
    ShareSingles(&inputs);  // no result has such an axis
    ASSERT_OK_AND_ASSIGN(const auto want, cli::ToLiterals(record.outputs()));
    const auto got = Batched(record, inputs, axes, 0).Fetch();
    ASSERT_OK(got);
    EXPECT_OK(CompareLiterals(*got, want[0],
                              {.atol = record.atol(), .rtol = record.rtol()}));
  }
  std::cout << file.cases_size() << " answers\n";
}

}  // namespace
}  // namespace hawser
