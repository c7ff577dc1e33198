// ByRow: what an op's row gives, that chains are compared with; LinkAt: a link
// of such a chain.
#ifndef HAWSER_TESTS_KERNELS_CPU_CHAINS_BY_ROW_H_
#define HAWSER_TESTS_KERNELS_CPU_CHAINS_BY_ROW_H_

#include <vector>

#include "core/base/values/literal.h"
#include "kernels/cpu/chains/chains.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

inline constexpr Isa kChainIsas[] = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};

inline Literal ByRow(const OpDef& op, const std::vector<Literal>& operands,
                     DType to, const Attributes& attributes) {
  std::vector<DType> dtypes;
  std::vector<const char*> in;
  for (const Literal& l : operands) {
    dtypes.push_back(l.shape().dtype());
    in.push_back(l.bytes().data());
  }
  Literal result = Literal::Zeros(Shape::Of(to, operands[0].shape().dims()));
  const ElementFn fn = FindCpuKernel(op)->element({dtypes, to, attributes});
  fn(in.data(), result.mutable_bytes().data(), result.shape().num_elements());
  return result;
}
inline Literal ByRow(const OpDef& op, const std::vector<Literal>& operands) {
  return ByRow(op, operands, operands[0].shape().dtype(), Attributes());
}

// A link whose operand b is at an address.
inline ChainLink LinkAt(const Chains& chains, ChainOp op,
                        ChainOperand b = ChainOperand::kNone,
                        const void* at = nullptr) {
  ChainLink link = chains.find(op, b);
  link.at = static_cast<char*>(const_cast<void*>(at));
  return link;
}

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_CHAINS_BY_ROW_H_
