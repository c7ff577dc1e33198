// TerminalText: words of others, as they may go to a terminal.
#ifndef HAWSER_CORE_BASE_TEXT_TERMINAL_TEXT_H_
#define HAWSER_CORE_BASE_TEXT_TERMINAL_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hawser {

// `text` with each control character but newline and tab as \xNN, also those
// that UTF-8 spells in two bytes: a terminal would take them for orders.
std::string TerminalText(absl::string_view text);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_TEXT_TERMINAL_TEXT_H_
