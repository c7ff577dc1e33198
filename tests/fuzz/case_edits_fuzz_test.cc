// Good cases with fields changed by reflection (message_edits.h).
#include <google/protobuf/text_format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/cases/case_codec.h"
#include "tests/fuzz/inputs/message_edits.h"
#include "tests/fuzz/inputs/sample_cases.h"
#include "tests/fuzz/inputs/sound_cases.h"

namespace hawser {
namespace {

const v1::CaseFile& Original() {
  static const auto& file = *[] {
    auto parsed = cli::ParseCaseFile(std::string(kSampleCases));
    HAWSER_CHECK(parsed.ok());
    return new v1::CaseFile(*std::move(parsed));
  }();
  return file;
}

// The cases that are not as they were: checking the others again at every run
// would take nearly all of its time.
v1::CaseFile ChangedCases(const v1::CaseFile& file) {
  v1::CaseFile changed = file;
  changed.clear_cases();
  for (int i = 0; i < file.cases_size(); ++i) {
    if (i < Original().cases_size() &&
        file.cases(i).SerializeAsString() ==
            Original().cases(i).SerializeAsString()) {
      continue;
    }
    *changed.add_cases() = file.cases(i);
  }
  return changed;
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& words =
      *new std::vector<std::string>(hawser::WordsOf(hawser::Original()));
  hawser::v1::CaseFile file = hawser::Original();
  hawser::EditMessage({data, size}, words, &file);
  file = hawser::ChangedCases(file);
  // Without the rules of a file too, which most edits of names break.
  for (const auto& record : file.cases()) hawser::CheckSoundCase(record);
  std::string text;
  HAWSER_CHECK(google::protobuf::TextFormat::PrintToString(file, &text));
  hawser::CheckSoundCases(text);
  return 0;
}
