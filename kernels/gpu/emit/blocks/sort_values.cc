#include "kernels/gpu/emit/blocks/sort_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/text/op_text.h"
#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {
namespace {

constexpr int64_t kPlaceBytes = 4;

}  // namespace

Sort::Sort(const RegionSource& source)
    : source(source),
      instruction(source.instruction()),
      shape(source.body().shape(instruction.operands[0])),
      layout(source.module, source.region.computation, instruction) {}

const Computation& Sort::comparator() const {
  return source.module.computation(instruction.called[0]);
}

DType Sort::dtype(int operand) const {
  return source.body().shape(instruction.operands[operand]).dtype();
}

SortValues::SortValues(const Sort& sort, KernelBuilder* kernel)
    : sort_(sort), kernel_(kernel) {
  names_.wide = sort.layout.runs.runs() * sort.layout.padded >= int64_t{1}
                                                                    << 31;
}

absl::Status SortValues::DeclareLess() {
  TextWriter& front = kernel_->front();
  std::vector<std::string> parameters;
  std::vector<ValueText> arguments;
  for (size_t o = 0; o < sort_.instruction.operands.size(); ++o) {
    const DType dtype = sort_.dtype(static_cast<int>(o));
    const auto key = std::find(sort_.layout.keys.begin(),
                               sort_.layout.keys.end(), static_cast<int>(o));
    for (const char* side : {"a", "b"}) {
      // An operand that the comparator does not look at may be any number.
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
      ScalarComputationText(sort_.comparator(), arguments,
                            sort_.source.options.strict, "v", &front));
  front.Line("return ", results[0].text, ";");
  front.Close();
  return absl::OkStatus();
}

absl::Status SortValues::DeclareBits() {
  TextWriter& front = kernel_->front();
  std::vector<ValueText> arguments;
  for (size_t o = 0; o < sort_.instruction.operands.size(); ++o) {
    const DType dtype = sort_.dtype(static_cast<int>(o));
    arguments.insert(arguments.end(), 2, {ZeroText(dtype), dtype});
  }
  std::vector<std::string> parameters;
  for (const int key : sort_.layout.keys) {
    const std::string name = absl::StrCat("a", parameters.size());
    parameters.push_back(absl::StrCat(TypeName(sort_.dtype(key)), " ", name));
    // The same element on both sides, of which one is looked at.
    arguments[2 * key].text = arguments[2 * key + 1].text = name;
  }
  const plan::SortOrder& order = sort_.layout.order;
  front.Open("HK_DEVICE auto ", KernelBuilder::kName, "_bits(",
             absl::StrJoin(parameters, ", "), ")");
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<ValueText> values,
      ScalarValuesText(sort_.comparator(), {&order.image, 1}, arguments,
                       sort_.source.options.strict, "v", &front));
  front.Line("return OrderedBits<", order.descending ? "true" : "false", ">(",
             values[0].text, ");");
  front.Close();
  return absl::OkStatus();
}

std::vector<SharedArray> SortValues::SharedArrays(bool places) const {
  std::vector<SharedArray> arrays;
  for (size_t k = 0; k < num_carried(); ++k) {
    arrays.push_back({absl::StrCat("k", k), TypeName(CarriedType(k))});
  }
  if (places) arrays.push_back({"place", "u32"});
  return arrays;
}

void SortValues::DeclareShared(int64_t elements, bool places) {
  for (const SharedArray& array : SharedArrays(places)) {
    kernel_->body().Line("HK_SHARED(", array.type, ", ", array.name, ", ",
                         elements, ");");
  }
}

void SortValues::ReadSharedFirst(size_t count, const std::string& name,
                                 const std::string& index) {
  for (size_t k = 0; k < count; ++k) {
    kernel_->body().Line("const ", TypeName(CarriedType(k)), " ", name, k,
                         " = k", k, "[", index, "];");
  }
}

void SortValues::ReadSharedKeys(const std::string& name,
                                const std::string& index) {
  ReadSharedFirst(sort_.layout.keys.size(), name, index);
}

void SortValues::ReadShared(const std::string& name, const std::string& index,
                            bool places) {
  ReadSharedFirst(num_carried(), name, index);
  if (places) {
    kernel_->body().Line("const u32 ", name, "p = place[", index, "];");
  }
}

void SortValues::WriteShared(const std::string& name, const std::string& index,
                             bool places) {
  TextWriter& body = kernel_->body();
  for (size_t k = 0; k < num_carried(); ++k) {
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

std::string SortValues::Carried(size_t k, SortSide side, Access access) {
  const int operand = sort_.layout.carried[k];
  const DType dtype = sort_.dtype(operand);
  const int64_t bytes = sort_.shape.num_elements() * ByteWidth(dtype);
  KernelParameter parameter = {KernelParameter::kOperand, operand, 0, bytes,
                               access};
  if (side == SortSide::kResults) parameter.kind = KernelParameter::kResult;
  if (side == SortSide::kScratch) {
    parameter = {KernelParameter::kScratch, 0, sort_.layout.CarriedBegin(k),
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

void SortValues::DeclareFrom(SortSide side, const std::string& run,
                             const std::string& at, bool keys, bool places) {
  TextWriter& body = kernel_->body();
  const std::string scratch = ScratchPlace(run, at);
  const std::string from =
      side == SortSide::kScratch ? scratch : Place(run, at);
  for (size_t k = 0; k < NumRead(keys); ++k) {
    body.Line("const ", TypeName(CarriedType(k)), "* const from", k, " = ",
              Carried(k, side, Access::kRead), " + ", from, ";");
  }
  stride_ = side == SortSide::kScratch ? 1 : sort_.layout.runs.inner;
  counts_ = side == SortSide::kOperands;
  if (!places) return;
  if (counts_) {
    body.Line("const u32 fromp = (u32)(", at, ");");
  } else {
    body.Line("const u32* const fromp = ", Places(side, Access::kRead), " + ",
              scratch, ";");
  }
}

void SortValues::ReadFrom(const std::string& name, const std::string& by,
                          bool keys, bool places) {
  TextWriter& body = kernel_->body();
  for (size_t k = 0; k < NumRead(keys); ++k) {
    body.Line("const ", TypeName(CarriedType(k)), " ", name, k, " = Load(from",
              k, " + ", by, stride_ == 1 ? "" : " * " + Number(stride_), ");");
  }
  if (!places) return;
  const std::string at = absl::StrCat("fromp + ", by);
  body.Line("const u32 ", name,
            "p = ", counts_ ? at : absl::StrCat("Load(", at, ")"), ";");
}

void SortValues::Read(const std::string& name, SortSide side, Access access,
                      const std::string& run, const std::string& at,
                      bool places) {
  TextWriter& body = kernel_->body();
  const std::string scratch = ScratchPlace(run, at);
  const std::string from =
      side == SortSide::kScratch ? scratch : Place(run, at);
  for (size_t k = 0; k < num_carried(); ++k) {
    body.Line("const ", TypeName(CarriedType(k)), " ", name, k, " = Load(",
              Carried(k, side, access), " + ", from, ");");
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
  for (size_t k = 0; k < num_carried(); ++k) {
    body.Line("Store(", Carried(k, side, access), " + ", to, ", ", name, k,
              ");");
  }
  if (!places) return;
  body.Line("Store(", Places(side, access), " + ", scratch, ", ", name, "p);");
}

void SortValues::WritePayload(const std::string& name, const std::string& run,
                              const std::string& at) {
  TextWriter& body = kernel_->body();
  const std::string from = absl::StrCat("(", names_.type(), ")", name, "p");
  const auto& carried = sort_.layout.carried;
  for (size_t o = 0; o < sort_.instruction.operands.size(); ++o) {
    const int operand = static_cast<int>(o);
    if (std::find(carried.begin(), carried.end(), operand) != carried.end()) {
      continue;
    }
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
  for (size_t k = 0; k < sort_.layout.keys.size(); ++k) {
    arguments.push_back(absl::StrCat(a, k));
    arguments.push_back(absl::StrCat(b, k));
  }
  return absl::StrCat(KernelBuilder::kName, "_less(",
                      absl::StrJoin(arguments, ", "), ")");
}

std::string SortValues::Bits(const std::string& name) const {
  std::vector<std::string> arguments;
  for (size_t k = 0; k < sort_.layout.keys.size(); ++k) {
    arguments.push_back(absl::StrCat(name, k));
  }
  return absl::StrCat(KernelBuilder::kName, "_bits(",
                      absl::StrJoin(arguments, ", "), ")");
}

}  // namespace hawser::gpu
