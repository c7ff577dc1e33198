// scatter by owners: each thread owns some of the places an index vector may
// name, and one place in the window; it goes through all index vectors in order
// and combines what is its own. So nothing depends on the order of threads.
#include "core/ops/movement/scatter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/rules.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/scatter_loops.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/gpu/emit/text/launch.h"
#include "kernels/gpu/emit/text/op_text.h"

namespace hawser::gpu {
namespace {

// From so many index vectors on f32 sums are made in f64: f32 counts no further
// than 2^24 by ones.
constexpr int64_t kManySums = int64_t{1} << 22;

// Invariant: a place belongs to the bucket `place % buckets_`, and one thread
// combines what falls into a bucket at one place of the window.
class ScatterEmitter {
 public:
  explicit ScatterEmitter(const RegionSource& source)
      : source_(source),
        c_(source.module.computation(source.region.computation)),
        i_(c_.instructions()[source.region.instruction]),
        count_(static_cast<int>(i_.operands.size()) / 2),
        indices_(c_.shape(i_.operands[count_])),
        kernel_("scatter") {}

  Kernels Emit() {
    const Shape& input = c_.shape(i_.operands[0]);
    const Shape& updates = c_.shape(i_.operands[count_ + 1]);
    if (updates.num_elements() == 0) return std::vector<EmittedKernel>();
    HAWSER_ASSIGN_OR_RETURN(loops_, FindScatterLoops(c_, i_));
    names_ = NamesOfScatter(c_, i_);
    const int64_t wanted = CeilDivide(
        int64_t{source_.options.multiprocessors} * 2048, loops_.window);
    buckets_ = std::min(wanted, loops_.places);
    sums_wide_ = count_ == 1 && input.dtype() == DType::kF32 &&
                 loops_.vectors >= kManySums && buckets_ == loops_.places &&
                 MonoidOf(source_.module.computation(i_.called[0])) == &kAdd;
    WriteLoop();
    HAWSER_RETURN_IF_ERROR(status_);
    const int64_t threads = loops_.window * buckets_;
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                            GridOf(CeilDivide(threads, kThreads)));
    return std::vector<EmittedKernel>{
        kernel_.Finish({.grid = grid, .threads = kThreads})};
  }

 private:
  void WriteLoop() {
    TextWriter& body = kernel_.body();
    const char* type = names_.type();
    body.Line("const ", type, " own = (", type, ")HK_BID * ", kThreads,
              "u + HK_TID;");
    body.Line("const ", type, " w = own % ", names_.Number(loops_.window), ";");
    body.Line("const ", type, " bucket = own / ", names_.Number(loops_.window),
              ";");
    body.Line("if (bucket >= ", names_.Number(buckets_), ") return;");
    if (sums_wide_) {
      body.Line("double sum = 0; ", type, " of = 0; bool any = false;");
    }
    body.Open("for (", type, " n = 0; n < ", names_.Number(loops_.vectors),
              "; ++n)");
    const std::string indices =
        kernel_.Parameter({KernelParameter::kOperand, count_, 0,
                           indices_.byte_size(), Access::kRead},
                          TypeName(indices_.dtype()), true);
    loops_.WriteComponents(indices, names_, &body);
    body.Open("if (", loops_.InsideText(), " && (", loops_.PlaceText(names_),
              ") % ", names_.Number(buckets_), " == bucket)");
    loops_.WriteOffsets(names_, &body);
    if (sums_wide_) {
      body.Line("sum += (double)Load(", Updates(0),
                " + from); of = at; any = true;");
    } else {
      WriteCombination();
    }
    body.Close();
    body.Close();
    // The thread has one place, which it has met.
    if (sums_wide_) {
      const std::string to = Result(0);
      body.Line("if (any) Store(", to, " + of, (float)((double)Load(", to,
                " + of) + sum));");
    }
  }

  std::string Result(int k) {
    const Shape& shape = c_.shape(i_.operands[k]);
    return kernel_.Parameter(
        {KernelParameter::kResult, k, 0, shape.byte_size(), Access::kUpdate},
        TypeName(shape.dtype()), false);
  }
  std::string Updates(int k) {
    const Shape& shape = c_.shape(i_.operands[count_ + 1 + k]);
    return kernel_.Parameter({KernelParameter::kOperand, count_ + 1 + k, 0,
                              shape.byte_size(), Access::kRead},
                             TypeName(shape.dtype()), true);
  }

  void WriteCombination() {
    TextWriter& body = kernel_.body();
    std::vector<ValueText> arguments;
    std::vector<std::string> results;
    for (int k = 0; k < count_; ++k) {
      const Shape& shape = c_.shape(i_.operands[k]);
      results.push_back(Result(k));
      body.Line("const ", TypeName(shape.dtype()), " old", k, " = Load(",
                results[k], " + at);");
      arguments.push_back({absl::StrCat("old", k), shape.dtype()});
    }
    for (int k = 0; k < count_; ++k) {
      const Shape& shape = c_.shape(i_.operands[count_ + 1 + k]);
      body.Line("const ", TypeName(shape.dtype()), " new", k, " = Load(",
                Updates(k), " + from);");
      arguments.push_back({absl::StrCat("new", k), shape.dtype()});
    }
    const auto values =
        ScalarComputationText(source_.module.computation(i_.called[0]),
                              arguments, source_.options.strict, "v", &body);
    status_ = values.status();
    for (int k = 0; k < count_ && values.ok(); ++k) {
      body.Line("Store(", results[k], " + at, ", (*values)[k].Stored(), ");");
    }
  }

  const RegionSource& source_;
  const Computation& c_;
  const Instruction& i_;
  const int count_;  // of inputs
  const Shape& indices_;
  KernelBuilder kernel_;
  IndexNames names_;
  absl::Status status_;
  ScatterLoops loops_;
  int64_t buckets_ = 1;
  bool sums_wide_ = false;
};

}  // namespace

Kernels EmitScatter(const RegionSource& source) {
  if (source.region.scatter_way != plan::ScatterWay::kOwners) {
    return EmitAtomicScatter(source);
  }
  return ScatterEmitter(source).Emit();
}

}  // namespace hawser::gpu
