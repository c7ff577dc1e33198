// Losses: how far predictions are from what is known.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_LOSS_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_LOSS_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// The cross entropy of classes, one number for each example: Mean of it is the
// usual loss. logits: reals [..., classes], not normalized; integers and bool
// become f32, f16 and bf16 are computed in f32 and rounded once. labels:
// integers [...], the class of each example. Result: floats [...],
// log(sum(exp(logits))) less the logit at the label, shifted by the maximum, so
// that nothing overflows; NaN, and a gradient of NaN, where the label is no
// class. Errors: as usual; complex logits; no classes; labels that are no
// integers or have other sizes. Grad: of logits, (softmax(logits) less 1 at the
// label) g. Source: PyTorch nn.functional.cross_entropy (reduction none), which
// fails for a label that is no class.
Tensor CrossEntropy(const Operand& logits, const Operand& labels);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_LOSS_H_
