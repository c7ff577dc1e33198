// Fourier transforms.
#include <string>
#include <utility>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/linalg/fft.h"

namespace hawser::stablehlo {
namespace {

absl::StatusOr<Values> LowerFft(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_ASSIGN_OR_RETURN(Dims lengths, context.Ints("fft_length"));
  return context.Add(kFft, context.operands,
                     {{"fft_length", std::move(lengths)},
                      {"fft_type", std::string(context.Text("fft_type"))}});
}

constexpr Row kFftRows[] = {
    {"stablehlo.fft", LowerFft},
};

}  // namespace

absl::Span<const Row> FftRows() { return kFftRows; }

}  // namespace hawser::stablehlo
