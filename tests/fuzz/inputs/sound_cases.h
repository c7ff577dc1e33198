// What must hold of every case file that parses; dies where it does not.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_SOUND_CASES_H_
#define HAWSER_TESTS_FUZZ_INPUTS_SOUND_CASES_H_

#include <string>

#include "core/base/status.h"
#include "proto/case.pb.h"

namespace hawser {

// A refusal has a short reason. Of a file that parses every case becomes
// values and modules, which print and encode, or is refused likewise.
void CheckSoundCases(const std::string& text);
void CheckSoundCase(const v1::Case& record);

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_SOUND_CASES_H_
