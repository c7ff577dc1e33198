#include "kernels/gpu/emit/blocks/sort_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/text/op_text.h"
#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {
namespace {

const Instruction& InstructionOf(const RegionSource& source) {
  return source.body().instructions()[source.region.instruction];
}

constexpr int64_t kPlaceBytes = 4;

}  // namespace

Sort::Sort(const RegionSource& source)
    : source(source),
      instruction(InstructionOf(source)),
      shape(source.body().shape(instruction.operands[0])),
      layout(source.module, source.region.computation, instruction) {}

DType Sort::dtype(int operand) const {
  return source.body().shape(instruction.operands[operand]).dtype();
}

SortValues::SortValues(const Sort& sort, KernelBuilder* kernel)
    : sort_(sort), kernel_(kernel) {
  names_.wide = sort.layout.runs.runs() * sort.layout.padded >= int64_t{1}
                                                                    << 31;
}

absl::Status SortValues::Declare() {
  TextWriter& front = kernel_->front();
  std::vector<std::string> parameters;
  std::vector<ValueText> arguments;
  for (size_t o = 0; o < sort_.instruction.operands.size(); ++o) {
    const DType dtype = sort_.dtype(static_cast<int>(o));
    const auto key = std::find(sort_.layout.keys.begin(),
                               sort_.layout.keys.end(), static_cast<int>(o));
    for (const char* side : {"a", "b"}) {
      // What nothing looks at is any number.
      std::string text = ZeroText(dtype);
      if (key != sort_.layout.keys.end()) {
        text = absl::StrCat(side, key - sort_.layout.keys.begin());
        parameters.push_back(absl::StrCat(TypeName(dtype), " ", text));
      }
      arguments.push_back({text, dtype});
    }
  }
  front.Open("HK_DEVICE bool ", KernelBuilder::kName, "_less(",
             absl::StrJoin(parameters, ", "), ")");
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<ValueText> results,
      ScalarComputationText(
          sort_.source.module.computation(sort_.instruction.called[0]),
          arguments, sort_.source.options.strict, "v", &front));
  front.Line("return ", results[0].text, ";");
  front.Close();
  return absl::OkStatus();
}

void SortValues::DeclareShared(bool places) {
  TextWriter& body = kernel_->body();
  for (size_t k = 0; k < num_keys(); ++k) {
    body.Line("HK_SHARED(", TypeName(sort_.dtype(sort_.layout.keys[k])), ", k",
              k, ", ", sort_.layout.tile, ");");
  }
  if (places) body.Line("HK_SHARED(u32, place, ", sort_.layout.tile, ");");
}

void SortValues::ReadShared(const std::string& name, const std::string& index,
                            bool places) {
  TextWriter& body = kernel_->body();
  for (size_t k = 0; k < num_keys(); ++k) {
    body.Line("const ", TypeName(sort_.dtype(sort_.layout.keys[k])), " ", name,
              k, " = k", k, "[", index, "];");
  }
  if (places) body.Line("const u32 ", name, "p = place[", index, "];");
}

void SortValues::WriteShared(const std::string& name, const std::string& index,
                             bool places) {
  TextWriter& body = kernel_->body();
  for (size_t k = 0; k < num_keys(); ++k) {
    body.Line("k", k, "[", index, "] = ", name, k, ";");
  }
  if (places) body.Line("place[", index, "] = ", name, "p;");
}

std::string SortValues::ScratchPlace(const std::string& run,
                                     const std::string& at) const {
  return absl::StrCat("(", run, " * ", Number(sort_.layout.runs.size), " + ",
                      at, ")");
}

std::string SortValues::Place(const std::string& run,
                              const std::string& at) const {
  const plan::RunsOf& runs = sort_.layout.runs;
  if (runs.inner == 1) return ScratchPlace(run, at);
  const std::string inner = Number(runs.inner);
  return absl::StrCat("((", run, " / ", inner, " * ", Number(runs.size), " + ",
                      at, ") * ", inner, " + ", run, " % ", inner, ")");
}

std::string SortValues::Key(size_t key, SortSide side, Access access) {
  const int operand = sort_.layout.keys[key];
  const DType dtype = sort_.dtype(operand);
  const int64_t bytes = sort_.shape.num_elements() * ByteWidth(dtype);
  KernelParameter parameter = {KernelParameter::kOperand, operand, 0, bytes,
                               access};
  if (side == SortSide::kResults) parameter.kind = KernelParameter::kResult;
  if (side == SortSide::kScratch) {
    parameter = {KernelParameter::kScratch, 0, sort_.layout.KeysBegin(key),
                 bytes, access};
  }
  return kernel_->Parameter(parameter, TypeName(dtype),
                            side == SortSide::kOperands);
}

std::string SortValues::Places(SortSide side, Access access) {
  const int number = side == SortSide::kScratch ? 1 : 0;
  return kernel_->Parameter(
      {KernelParameter::kScratch, 0, sort_.layout.PlacesBegin(number),
       sort_.shape.num_elements() * kPlaceBytes, access},
      "u32", false);
}

void SortValues::Read(const std::string& name, SortSide side, Access access,
                      const std::string& run, const std::string& at,
                      bool places) {
  TextWriter& body = kernel_->body();
  const std::string scratch = ScratchPlace(run, at);
  const std::string from =
      side == SortSide::kScratch ? scratch : Place(run, at);
  for (size_t k = 0; k < num_keys(); ++k) {
    body.Line("const ", TypeName(sort_.dtype(sort_.layout.keys[k])), " ", name,
              k, " = Load(", Key(k, side, access), " + ", from, ");");
  }
  if (!places) return;
  body.Line(
      "const u32 ", name, "p = ",
      side == SortSide::kOperands
          ? absl::StrCat("(u32)(", at, ")")
          : absl::StrCat("Load(", Places(side, access), " + ", scratch, ")"),
      ";");
}

void SortValues::Write(const std::string& name, SortSide side, Access access,
                       const std::string& run, const std::string& at,
                       bool places) {
  TextWriter& body = kernel_->body();
  const std::string scratch = ScratchPlace(run, at);
  const std::string to = side == SortSide::kScratch ? scratch : Place(run, at);
  for (size_t k = 0; k < num_keys(); ++k) {
    body.Line("Store(", Key(k, side, access), " + ", to, ", ", name, k, ");");
  }
  if (!places) return;
  body.Line("Store(", Places(side, access), " + ", scratch, ", ", name, "p);");
}

void SortValues::WritePayload(const std::string& name, const std::string& run,
                              const std::string& at) {
  TextWriter& body = kernel_->body();
  const std::string from = absl::StrCat("(", names_.type(), ")", name, "p");
  const auto& keys = sort_.layout.keys;
  for (size_t o = 0; o < sort_.instruction.operands.size(); ++o) {
    const int operand = static_cast<int>(o);
    if (std::find(keys.begin(), keys.end(), operand) != keys.end()) continue;
    const DType dtype = sort_.dtype(operand);
    const int64_t bytes = sort_.shape.num_elements() * ByteWidth(dtype);
    const std::string source = kernel_->Parameter(
        {KernelParameter::kOperand, operand, 0, bytes, Access::kRead},
        TypeName(dtype), true);
    const std::string result = kernel_->Parameter(
        {KernelParameter::kResult, operand, 0, bytes, Access::kWrite},
        TypeName(dtype), false);
    body.Line("Store(", result, " + ", Place(run, at), ", Load(", source, " + ",
              Place(run, from), "));");
  }
}

std::string SortValues::Less(const std::string& a, const std::string& b) const {
  std::vector<std::string> arguments;
  for (size_t k = 0; k < num_keys(); ++k) {
    arguments.push_back(absl::StrCat(a, k));
    arguments.push_back(absl::StrCat(b, k));
  }
  return absl::StrCat(KernelBuilder::kName, "_less(",
                      absl::StrJoin(arguments, ", "), ")");
}

}  // namespace hawser::gpu
