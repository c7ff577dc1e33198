// kLoop: one thread per vector of neighbours, over and over.
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

class LoopEmitter {
 public:
  explicit LoopEmitter(const RegionSource& source)
      : source_(source),
        extents_(source.region.loops.extents),
        kernel_("loop"),
        writer_(WriterOverLoops(source, &kernel_)) {}

  Kernels Emit() {
    const int64_t turns = ProductOf(extents_);
    const int64_t width = source_.region.vector_width;
    const int64_t vectors = turns / width, rest = turns % width;
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    for (size_t k = 0; k < source_.region.results.size(); ++k) {
      all_.push_back(static_cast<int>(k));
    }
    // If the loop has one element, written in place, other threads may read
    // nothing.
    if (turns > 1) writer_.WriteUniform(source_.region.results);
    const LaunchShape shape = LoopShape(vectors, source_.options);
    body.Line("const ", type, " first = (", type, ")HK_BID * ", kThreads,
              "u + HK_TID;");
    if (vectors <= int64_t{shape.grid.x} * kThreads) {
      Guard("if (first < ", vectors, "first", width);
    } else {
      body.Open("for (", type, " i = first; i < ",
                writer_.names().Number(vectors), "; i += HK_NBLK * ", kThreads,
                "u)");
      WriteBody("i", width);
      body.Close();
    }
    if (rest > 0) {
      body.Line("const ", type, " last = first + ",
                writer_.names().Number(vectors * width), ";");
      Guard("if (last < ", turns, "last", 1);
    }
    if (!writer_.status().ok()) return writer_.status();
    return std::vector<EmittedKernel>{kernel_.Finish(shape)};
  }

 private:
  void Guard(const char* condition, int64_t bound, const char* index,
             int64_t width) {
    kernel_.body().Open(condition, writer_.names().Number(bound), ")");
    WriteBody(index, width);
    kernel_.body().Close();
  }

  void WriteBody(const std::string& index, int64_t width) {
    const int loops = static_cast<int>(extents_.size());
    writer_.NameLoops(extents_, 0, loops, index, width);
    Turn turn{.width = static_cast<int>(width),
              .inner = loops - 1,
              .results = all_};
    if (loops > 0) turn.base = writer_.names().loops[loops - 1];
    WriteTurn(turn, &writer_);
  }

  const RegionSource& source_;
  const Dims& extents_;
  KernelBuilder kernel_;
  PointWriter writer_;
  std::vector<int> all_;
};

}  // namespace

Kernels EmitLoop(const RegionSource& source) {
  return LoopEmitter(source).Emit();
}

}  // namespace hawser::gpu
