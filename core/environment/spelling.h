// Nearest: the word that a misspelt one was meant to be.
#ifndef HAWSER_CLIENT_ENVIRONMENT_SPELLING_H_
#define HAWSER_CLIENT_ENVIRONMENT_SPELLING_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser {

// Returns the one of `words` that `word` becomes by the fewest letters put in,
// left out, changed or swapped; empty when that takes more than a third of it.
absl::string_view Nearest(absl::string_view word,
                          absl::Span<const absl::string_view> words);

}  // namespace hawser
#endif  // HAWSER_CLIENT_ENVIRONMENT_SPELLING_H_
