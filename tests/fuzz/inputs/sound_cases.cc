#include "tests/fuzz/inputs/sound_cases.h"

#include "client/cli/cases/case_codec.h"
#include "core/base/values/compare.h"
#include "tests/fuzz/inputs/sound_parse.h"

namespace hawser {
namespace {

// A few bytes may ask for a large tensor of one value, which is no mistake.
constexpr int64_t kLargestTensor = 1 << 16;

bool IsSmall(const v1::CaseTensor& tensor) {
  const auto shape = ParseShape(tensor.shape());
  return !shape.ok() || shape->num_elements() <= kLargestTensor;
}

bool IsSmall(const v1::CaseAttribute& attribute) {
  return !attribute.has_tensor() || IsSmall(attribute.tensor());
}

bool IsSmall(const v1::Case& record) {
  for (const auto& input : record.inputs()) {
    if (!IsSmall(input)) return false;
  }
  for (const auto& output : record.outputs()) {
    if (!IsSmall(output)) return false;
  }
  for (const auto& attribute : record.attributes()) {
    if (!IsSmall(attribute)) return false;
  }
  return true;
}

// NotFound and the like do not come from a text.
template <typename T>
bool Sound(const absl::StatusOr<T>& result) {
  if (!result.ok()) CheckRefusal(result.status());
  return result.ok();
}

}  // namespace

void CheckSoundCase(const v1::Case& record) {
  if (!IsSmall(record)) return;
  (void)Sound(cli::ToLiterals(record.inputs()));
  (void)Sound(cli::ToLiterals(record.outputs()));
  (void)Sound(cli::ToFunctionAttributes(record.attributes()));
  for (const v1::CaseTensor& output : record.outputs()) {
    const auto once = cli::ToLiteral(output);
    if (!once.ok()) continue;
    const auto again = cli::ToLiteral(output);
    HAWSER_CHECK(again.ok() && again->BitEquals(*once));
  }
  if (!record.fn().empty()) return;
  const auto module = cli::ModuleOf(record);
  if (Sound(module)) CheckPrintsAndEncodes(*module);
}

void CheckSoundCases(const std::string& text) {
  const auto file = cli::ParseCaseFile(text);
  if (!Sound(file)) return;
  for (const v1::Case& record : file->cases()) CheckSoundCase(record);
}

}  // namespace hawser
