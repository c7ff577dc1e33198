#include <algorithm>
#include <string>
#include <utility>

#include "client/sdk/functions/table/function_table.h"
#include "client/sdk/ops/create.h"
#include "core/base/status.h"

namespace hawser {
namespace {

template <typename T>
constexpr AttributeKind kKindOf = AttributeKind::kInt;
template <>
constexpr AttributeKind kKindOf<bool> = AttributeKind::kBool;
template <>
constexpr AttributeKind kKindOf<double> = AttributeKind::kFloat;
template <>
constexpr AttributeKind kKindOf<std::string> = AttributeKind::kString;
template <>
constexpr AttributeKind kKindOf<Dims> = AttributeKind::kInts;
template <>
constexpr AttributeKind kKindOf<DType> = AttributeKind::kDType;

}  // namespace

Operand FunctionCall::operator[](size_t i) const {
  if (const auto* number = std::get_if<Number>(&arguments_[i])) {
    return Operand(*number, where_);
  }
  return Operand(std::get<Tensor>(arguments_[i]), where_);
}

std::vector<Tensor> FunctionCall::Tensors(size_t i) const {
  std::vector<Tensor> out;
  for (; i < arguments_.size(); ++i) {
    const auto* number = std::get_if<Number>(&arguments_[i]);
    out.push_back(number != nullptr ? Scalar(*number, where_)
                                    : std::get<Tensor>(arguments_[i]));
  }
  return out;
}

std::vector<Operand> FunctionCall::Operands(size_t i) const {
  std::vector<Operand> out;
  for (; i < arguments_.size(); ++i) out.push_back((*this)[i]);
  return out;
}

template <typename T>
T FunctionCall::Get(absl::string_view name, const T* fallback) {
  read_.push_back(name);
  const AttributeValue* value = attributes_.Find(name);
  if (value == nullptr) {
    if (fallback != nullptr) return *fallback;
    if (error_.ok()) {
      error_ = InvalidArgument("attribute ", name, " is missing");
    }
    return T{};
  }
  if (const T* typed = std::get_if<T>(value)) return *typed;
  if (error_.ok()) {
    error_ = InvalidArgument("attribute ", name, " is ",
                             AttributeKindName(KindOf(*value)), ", must be ",
                             AttributeKindName(kKindOf<T>));
  }
  return T{};
}

Dims FunctionCall::Ints(absl::string_view name) {
  return Get<Dims>(name, nullptr);
}
Dims FunctionCall::Ints(absl::string_view name, Dims fallback) {
  return Get<Dims>(name, &fallback);
}
int64_t FunctionCall::Int(absl::string_view name) {
  return Get<int64_t>(name, nullptr);
}
int64_t FunctionCall::Int(absl::string_view name, int64_t fallback) {
  return Get<int64_t>(name, &fallback);
}
bool FunctionCall::Bool(absl::string_view name, bool fallback) {
  return Get<bool>(name, &fallback);
}
double FunctionCall::Float(absl::string_view name, double fallback) {
  return Get<double>(name, &fallback);
}
std::string FunctionCall::Text(absl::string_view name) {
  return Get<std::string>(name, nullptr);
}
DType FunctionCall::Type(absl::string_view name) {
  return Get<DType>(name, nullptr);
}
DType FunctionCall::Type(absl::string_view name, DType fallback) {
  return Get<DType>(name, &fallback);
}

absl::Status FunctionCall::Check() const {
  if (!error_.ok()) return error_;
  for (const auto& [name, value] : attributes_) {
    if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
      return InvalidArgument("there is no attribute ", name);
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser
