// LinkName: a link of a chain in words, for tests that say which there are.
#ifndef HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_
#define HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "kernels/cpu/chains/chains.h"

namespace hawser::cpu {

// "ReverseSubtract" becomes "reverse subtract".
inline std::string WordsOf(absl::string_view name) {
  std::string words;
  for (size_t k = 0; k < name.size(); ++k) {
    const bool begins = k > 0 && absl::ascii_isupper(name[k]);
    if (begins) words += ' ';
    words += absl::ascii_tolower(name[k]);
  }
  return words;
}
inline std::string NameOf(ChainOp op) {
  static constexpr const char* kNames[] = {
#define HAWSER_CHAIN_OP(Name, ...) #Name,
#define HAWSER_CHAIN_F32(Name, ...) #Name,
#define HAWSER_CHAIN_INT(Name, ...) #Name,
#define HAWSER_CHAIN_FUNCTION(Name, ...) #Name,
#define HAWSER_CHAIN_MASK(Name, ...) #Name,
#define HAWSER_CHAIN_LINK(Name) #Name,
#include "kernels/cpu/chains/chain_ops.def"
  };
  return WordsOf(kNames[static_cast<int>(op)]);
}

// "add", "add broadcast", "add $h": the op, and what its operand b is, unless
// there is none or it is lanes in memory. "$a" and "$h" are the registers.
inline std::string LinkName(ChainOp op, ChainOperand b) {
  std::string name = NameOf(op);
  switch (b) {
    case ChainOperand::kNone:
    case ChainOperand::kLanes:
      break;
    case ChainOperand::kBroadcast:
      return name + " broadcast";
    case ChainOperand::kA:
      return name + " $a";
    case ChainOperand::kH:
      return name + " $h";
    case ChainOperand::kIntoH:
      return name + " into $h";
  }
  return name;
}

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_
