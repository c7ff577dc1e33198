// scatter by integers: the threads of the updates combine them where they meet.
// Integers come out the same in any order, and f32 go as integers.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/scatter_loops.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/gpu/emit/text/launch.h"
#include "kernels/gpu/emit/text/op_text.h"

namespace hawser::gpu {
namespace {

using plan::ScatterWay;

// Bits that a sum of so many updates has more than one of them.
int RoomFor(int64_t vectors) {
  int room = 0;
  while (int64_t{1} << room < vectors) ++room;
  return room;
}

const char* Atomic(const OpDef* monoid) {
  return monoid == &kMaximum   ? "AtomicMax"
         : monoid == &kMinimum ? "AtomicMin"
                               : "AtomicAdd";
}

// Opens a loop of all threads, `index` from 0 to `count`.
LaunchShape OpenLoop(const char* index, int64_t count, const IndexNames& names,
                     const EmitOptions& options, TextWriter* body) {
  body->Open("for (", names.type(), " ", index, " = (", names.type(),
             ")HK_BID * ", kThreads, "u + HK_TID; ", index, " < ",
             names.Number(count), "; ", index, " += HK_NBLK * ", kThreads,
             "u)");
  return LoopShape(count, options);
}

// Emits the kernels of a scatter one after the other: loops over elements of
// the input, and loops over updates.
class AtomicScatter {
 public:
  explicit AtomicScatter(const RegionSource& source)
      : source_(source),
        c_(source.module.computation(source.region.computation)),
        i_(c_.instructions()[source.region.instruction]),
        input_(c_.shape(i_.operands[0])),
        indices_(c_.shape(i_.operands[1])),
        monoid_(MonoidOf(source.module.computation(i_.called[0]))),
        names_(NamesOfScatter(c_, i_)),
        elements_(input_.num_elements()) {}

  Kernels Emit() {
    HAWSER_ASSIGN_OR_RETURN(loops_, FindScatterLoops(c_, i_));
    switch (source_.region.scatter_way) {
      case ScatterWay::kIntegers:
        ForUpdates("scatter", [this](KernelBuilder* k) {
          k->body().Line(Atomic(monoid_), "(", Result(k, input_.dtype()),
                         " + at, Load(", Updates(k), " + from));");
        });
        break;
      case ScatterWay::kOrdered:
        EmitOrdered();
        break;
      case ScatterWay::kFixedPoint:
        EmitFixedPoint();
        break;
      case ScatterWay::kOwners:
        return Internal("a scatter by owners");
    }
    return std::move(kernels_);
  }

 private:
  void EmitOrdered() {
    const std::string order =
        absl::StrCat("OrderOf<", monoid_ == &kMinimum, ">(");
    ForElements("scatter_order", [&](KernelBuilder* k) {
      const std::string to = Result(k, DType::kS32);
      k->body().Line("Store(", to, " + e, ", order, "BitCast<float>(Load(", to,
                     " + e))));");
    });
    ForUpdates("scatter", [&](KernelBuilder* k) {
      k->body().Line(Atomic(monoid_), "(", Result(k, DType::kS32), " + at, ",
                     order, "Load(", Updates(k), " + from)));");
    });
    ForElements("scatter_values", [&](KernelBuilder* k) {
      const std::string to = Result(k, DType::kS32);
      k->body().Line("Store(", to, " + e, BitCast<s32>(OfOrder(Load(", to,
                     " + e))));");
    });
  }

  void EmitFixedPoint() {
    const std::string room = absl::StrCat(", ", RoomFor(loops_.vectors), ")");
    ForElements("scatter_clear", [&](KernelBuilder* k) {
      k->body().Line("Store(", Sums(k, Access::kWrite), " + e, (s64)0);");
      k->body().Line("Store(", Sizes(k, Access::kWrite), " + e, 0u);");
    });
    ForUpdates("scatter_sizes", [&](KernelBuilder* k) {
      const std::string sizes = Sizes(k, Access::kUpdate);
      k->body().Line("AtomicMax(", sizes, " + at, SizeOf(Load(", Updates(k),
                     " + from)));");
    });
    ForUpdates("scatter_sums", [&](KernelBuilder* k) {
      k->body().Line("AtomicAdd(", Sums(k, Access::kUpdate),
                     " + at, FixedOf(Load(", Updates(k), " + from), Load(",
                     Sizes(k, Access::kRead), " + at)", room, ");");
    });
    ForElements("scatter_finish", [&](KernelBuilder* k) {
      k->body().Line("const u32 size = Load(", Sizes(k, Access::kRead),
                     " + e);");
      const std::string sums = Sums(k, Access::kRead);
      const std::string to = Result(k, DType::kF32);
      k->body().Line("if (size > 0u) Store(", to, " + e, (float)((double)Load(",
                     to, " + e) + FloatOfFixed(Load(", sums, " + e), size",
                     room, "));");
    });
  }

  // A kernel that does `write` at each element e of the input.
  template <typename Write>
  void ForElements(const char* kind, const Write& write) {
    KernelBuilder kernel(kind);
    const LaunchShape shape =
        OpenLoop("e", elements_, names_, source_.options, &kernel.body());
    write(&kernel);
    kernel.body().Close();
    kernels_.push_back(kernel.Finish(shape));
  }
  // One that does it at each update inside the input: element `from` of the
  // updates, `at` of the input.
  template <typename Write>
  void ForUpdates(const char* kind, const Write& write) {
    KernelBuilder kernel(kind);
    TextWriter& body = kernel.body();
    const LaunchShape shape = OpenLoop("u", loops_.vectors * loops_.window,
                                       names_, source_.options, &body);
    const std::string wide = names_.Number(loops_.window);
    body.Line("const ", names_.type(), " n = u / ", wide, ", w = u % ", wide,
              ";");
    loops_.WriteComponents(
        kernel.Parameter({KernelParameter::kOperand, 1, 0, indices_.byte_size(),
                          Access::kRead},
                         TypeName(indices_.dtype()), true),
        names_, &body);
    body.Open("if (", loops_.InsideText(), ")");
    loops_.WriteOffsets(names_, &body);
    write(&kernel);
    body.Close();
    body.Close();
    kernels_.push_back(kernel.Finish(shape));
  }
  std::string Result(KernelBuilder* kernel, DType dtype) const {
    return kernel->Parameter(
        {KernelParameter::kResult, 0, 0, input_.byte_size(), Access::kUpdate},
        TypeName(dtype), false);
  }
  std::string Updates(KernelBuilder* kernel) const {
    const Shape& shape = c_.shape(i_.operands[2]);
    return kernel->Parameter(
        {KernelParameter::kOperand, 2, 0, shape.byte_size(), Access::kRead},
        TypeName(shape.dtype()), true);
  }
  // They lie as plan::ScratchBytesOf has it.
  std::string Sums(KernelBuilder* kernel, Access access) const {
    return kernel->Parameter(
        {KernelParameter::kScratch, 0, 0, elements_ * 8, access}, "s64", false);
  }
  std::string Sizes(KernelBuilder* kernel, Access access) const {
    return kernel->Parameter(
        {KernelParameter::kScratch, 0, elements_ * 8, elements_ * 4, access},
        "u32", false);
  }

  const RegionSource& source_;
  const Computation& c_;
  const Instruction& i_;
  const Shape& input_;
  const Shape& indices_;
  const OpDef* const monoid_;
  const IndexNames names_;
  const int64_t elements_;
  ScatterLoops loops_;
  std::vector<EmittedKernel> kernels_;
};

}  // namespace

Kernels EmitAtomicScatter(const RegionSource& source) {
  return AtomicScatter(source).Emit();
}

}  // namespace hawser::gpu
