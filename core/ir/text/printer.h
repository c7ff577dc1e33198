// The text form of a module, for people, golden files and `hawser explain`.
#ifndef HAWSER_CORE_IR_TEXT_PRINTER_H_
#define HAWSER_CORE_IR_TEXT_PRINTER_H_

#include <string>

#include "core/ir/module.h"

namespace hawser {

// Deterministic, complete (constants in full) and free of addresses: the same
// module always prints the same bytes. Grammar in core/ir/README.md.
std::string Print(const Module& module);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TEXT_PRINTER_H_
