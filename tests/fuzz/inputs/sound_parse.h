// What must hold of every parse, whatever the text; dies where it does not.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_SOUND_PARSE_H_
#define HAWSER_TESTS_FUZZ_INPUTS_SOUND_PARSE_H_

#include <string>

#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/registry.h"
#include "core/wire/codec.h"

namespace hawser {

// One of the three codes a reader may give, and a short reason.
inline void CheckRefusal(const absl::Status& why) {
  HAWSER_CHECK(why.code() == absl::StatusCode::kInvalidArgument ||
               why.code() == absl::StatusCode::kResourceExhausted ||
               why.code() == absl::StatusCode::kUnimplemented);
  HAWSER_CHECK(!why.message().empty() && why.message().size() < 16384);
}

// The module prints as a text that reads back the same; and so does what the
// wire makes of it, which takes no name that is long or not UTF-8.
inline void CheckPrintsAndEncodes(const Module& module) {
  HAWSER_CHECK(Verify(module).ok());
  const std::string printed = Print(module);
  const absl::StatusOr<Module> back = ParseModule(printed, FindOp);
  HAWSER_CHECK(back.ok() && Print(*back) == printed);
  const absl::StatusOr<Module> decoded = DecodeModule(EncodeModule(module));
  if (!decoded.ok()) {
    CheckRefusal(decoded.status());
  } else {
    HAWSER_CHECK(Print(*decoded) == printed);
  }
}

inline void CheckSoundParse(absl::string_view text) {
  const absl::StatusOr<Module> module = ParseModule(text, FindOp);
  if (!module.ok()) {
    CheckRefusal(module.status());
  } else {
    CheckPrintsAndEncodes(*module);
  }
}

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_SOUND_PARSE_H_
