#include "tests/bench/gpu/programs/exported_program.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/stablehlo.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "core/passes/optimize.h"
#include "kernels/cpu/evaluator.h"
#include "nlohmann/json.hpp"

namespace hawser::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRanges[] = "programs.json";
constexpr int64_t kMeansOver = 65536;
constexpr int kSamples = 24;

absl::StatusOr<std::string> ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("no file ", path.string()));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The entry of `path` in the file of ranges beside it; null without one.
absl::StatusOr<Json> EntryOf(const std::filesystem::path& path) {
  const auto text = ReadAll(path.parent_path() / kRanges);
  if (!text.ok()) return Json();
  const Json entries = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!entries.is_array()) {
    return InvalidArgument(kRanges, " beside ", path.string(),
                           " is no list of programs");
  }
  for (const Json& entry : entries) {
    if (entry.value("name", "") == path.stem().string()) return entry;
  }
  return Json();
}

uint32_t HashOf(uint32_t element, uint32_t number) {
  uint32_t h = element * 2654435761u + number * 2246822519u;
  h ^= h >> 15;
  h *= 2246822519u;
  return h ^ (h >> 13);
}

// The range of argument `k`, the last of `low` and `high` where none is given.
void RangeOf(const Json& entry, size_t k, double* low, double* high) {
  if (entry.is_null()) return;
  *low = entry["args"][k].value("lo", *low);
  *high = entry["args"][k].value("hi", *high);
}

absl::Status AddArguments(const Json& entry, ExportedProgram* program,
                          size_t count) {
  const auto& parameters = program->module->signature().parameters;
  if (!entry.is_null() &&
      (!entry.contains("args") || entry["args"].size() != count)) {
    return InvalidArgument(kRanges, " has other arguments for ", program->name,
                           ", which takes ", count);
  }
  for (size_t k = 0; k < count; ++k) {
    const bool is_float = IsFloat(parameters[k].dtype());
    double low = is_float ? -1 : 0, high = is_float ? 1 : 2;
    RangeOf(entry, k, &low, &high);
    HAWSER_ASSIGN_OR_RETURN(
        Literal made,
        HashedArgument(parameters[k], static_cast<uint32_t>(k + 1), low, high));
    program->arguments.push_back(std::move(made));
  }
  return absl::OkStatus();
}

// The element as a number: the real part of a complex one.
template <typename T>
double AsDouble(const T& value) {
  if constexpr (kIsComplex<T>) {
    return value.real();
  } else {
    return static_cast<double>(value);
  }
}

// A number that JSON has: NaN and infinities are texts.
Json AsJson(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace

absl::StatusOr<Literal> HashedArgument(const Shape& shape, uint32_t number,
                                       double low, double high) {
  HAWSER_ASSIGN_OR_RETURN(Literal made, Literal::Allocate(shape));
  return VisitDType(shape.dtype(), [&](auto tag) -> absl::StatusOr<Literal> {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      const auto from = static_cast<float>(low);
      const auto width = static_cast<float>(high - low);
      auto to = made.mutable_data<T>();
      for (size_t i = 0; i < to.size(); ++i) {
        const uint32_t h = HashOf(static_cast<uint32_t>(i), number);
        to[i] = static_cast<T>(
            from + width * (static_cast<float>(h >> 8) / 16777216.0f));
      }
      return std::move(made);
    } else if constexpr (kIsInteger<T>) {
      const auto from = static_cast<int64_t>(low);
      const int64_t width =
          std::max<int64_t>(1, static_cast<int64_t>(high) - from);
      auto to = made.mutable_data<T>();
      for (size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<T>(from + HashOf(static_cast<uint32_t>(i), number) %
                                          width);
      }
      return std::move(made);
    } else {
      return absl::UnimplementedError(
          absl::StrCat("no arguments of ", DTypeName(shape.dtype())));
    }
  });
}

absl::StatusOr<ExportedProgram> ReadExportedProgram(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const std::string text, ReadAll(path));
  auto lowered = stablehlo::ReadProgram(text);
  if (!lowered.ok()) return Annotate(lowered.status(), path);
  HAWSER_ASSIGN_OR_RETURN(const Json entry, EntryOf(path));
  HAWSER_ASSIGN_OR_RETURN(
      Module optimized,
      Optimize(lowered->module, {.evaluate = cpu::EvaluateConstants}));
  ExportedProgram program{
      .name = std::filesystem::path(path).stem().string(),
      .module = std::make_shared<const Module>(std::move(optimized)),
      .numerics = lowered->numerics};
  const size_t parameters = program.module->signature().parameters.size();
  HAWSER_RETURN_IF_ERROR(
      AddArguments(entry, &program, parameters - lowered->bound.size()));
  for (const stablehlo::BoundArgument& bound : lowered->bound) {
    if (!std::holds_alternative<Literal>(bound)) {
      return InvalidArgument(path, " names an array of a dataset");
    }
    const Literal& value = std::get<Literal>(bound);
    HAWSER_ASSIGN_OR_RETURN(Literal copy,
                            Literal::FromBytes(value.shape(), value.bytes()));
    program.arguments.push_back(std::move(copy));
  }
  if (!entry.is_null()) program.carried = entry.value("carried", 0);
  const auto results = program.module->signature().results.size();
  if (program.carried < 0 ||
      static_cast<size_t>(program.carried) > std::min(parameters, results)) {
    return InvalidArgument(kRanges, " carries ", program.carried,
                           " results of ", program.name, ", which has ",
                           results);
  }
  return program;
}

std::string SummaryOf(const Literal& result) {
  const int64_t n = result.shape().num_elements();
  const int64_t step = std::max<int64_t>(1, n / kMeansOver);
  double sum = 0, magnitude = 0;
  int64_t count = 0;
  Json sample = Json::array();
  VisitDType(result.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto values = result.data<T>();
    for (int64_t i = 0; i < n; i += step, ++count) {
      sum += AsDouble(values[i]);
      magnitude += std::abs(AsDouble(values[i]));
    }
    for (int64_t j = 0; n > 0 && j < kSamples; ++j) {
      sample.push_back(AsJson(AsDouble(values[n * j / kSamples])));
    }
  });
  count = std::max<int64_t>(1, count);
  return Json::object({{"n", n},
                       {"mean", AsJson(sum / count)},
                       {"abs", AsJson(magnitude / count)},
                       {"sample", sample}})
      .dump();
}

}  // namespace hawser::bench
