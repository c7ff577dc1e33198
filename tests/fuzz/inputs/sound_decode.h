// What must hold of every decode, whatever the bytes; dies where it does not.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_SOUND_DECODE_H_
#define HAWSER_TESTS_FUZZ_INPUTS_SOUND_DECODE_H_

#include <string>

#include "core/base/status.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/wire/codec.h"

namespace hawser {

// A refusal says why, briefly, and is one of the three codes a decoder may
// give. A module that decodes verifies, prints, and comes back the same from
// its own encoding.
inline void CheckSoundDecode(absl::string_view bytes) {
  const absl::StatusOr<Module> module = DecodeModule(bytes);
  if (!module.ok()) {
    const absl::Status& why = module.status();
    HAWSER_CHECK(why.code() == absl::StatusCode::kInvalidArgument ||
                 why.code() == absl::StatusCode::kResourceExhausted ||
                 why.code() == absl::StatusCode::kUnimplemented);
    HAWSER_CHECK(!why.message().empty() && why.message().size() < 16384);
    return;
  }
  HAWSER_CHECK(Verify(*module).ok());
  const std::string encoded = EncodeModule(*module);
  const absl::StatusOr<Module> back = DecodeModule(encoded);
  HAWSER_CHECK(back.ok());
  HAWSER_CHECK(Print(*back) == Print(*module));
  HAWSER_CHECK(EncodeModule(*back) == encoded);
}

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_SOUND_DECODE_H_
