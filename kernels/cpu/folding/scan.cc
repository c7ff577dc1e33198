// Scans: each element becomes what it and those before it come to. Monoids run
// typed loops (scan_runs.h); other scalar bodies run over lanes; anything else
// goes through the evaluator, element by element.
#include "core/ops/contraction/scan.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/elements/scan_runs.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/folding/monoid.h"
#include "kernels/cpu/lane_program.h"
#include "kernels/cpu/movement/axis_track.h"

namespace hawser::cpu {
namespace {

// Columns that run side by side, in the nearest cache.
constexpr int64_t kColumns = 1024;
// Of a run that several threads share.
constexpr int64_t kSharedRun = 4 * kParallelElements;
constexpr double kBlockSteps = 2 * kScanBlock;

// By a monoid's loops.
class MonoidScan {
 public:
  MonoidScan(const KernelContext& c, const RunScan& scan,
             const AxisTrack& track, char* out)
      : c_(c),
        scan_(scan),
        track_(track),
        width_(ByteWidth(c.shape(0).dtype())),
        accumulator_(ByteWidth(scan.accumulator)),
        out_(out) {}

  absl::Status Run() const {
    if (track_.inner > 1) return RunColumns();
    const bool shared = track_.size >= kSharedRun && track_.outer < 16 &&
                        c_.environment.pool != nullptr &&
                        c_.environment.pool->size() > 1;
    return shared ? RunShared() : RunRows();
  }

 private:
  struct Accumulator {  // as large and aligned as any
    double parts[2];
  };

  const char* In(int64_t element) const {
    return c_.data(0) + element * width_;
  }
  char* Out(int64_t element) const { return out_ + element * width_; }

  absl::Status RunRows() const {
    return c_.ForMetered(
        track_.outer, 2.0 * static_cast<double>(track_.size),
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          for (int64_t o = begin; o < end; ++o) {
            HAWSER_RETURN_IF_ERROR(RunRow(o, meter));
          }
          return meter->End();
        });
  }

  absl::Status RunRow(int64_t o, WorkMeter* meter) const {
    Accumulator all;
    char* const after = reinterpret_cast<char*>(&all);
    for (int64_t i = 0; i < track_.size; i += kScanBlock) {
      const int64_t count = std::min(kScanBlock, track_.size - i);
      HAWSER_RETURN_IF_ERROR(meter->Begin(2.0 * static_cast<double>(count)));
      const int64_t at = track_.Begin(o) + i * track_.step;
      scan_.block(In(at), track_.step, count, i == 0 ? nullptr : after,
                  Out(at), after);
    }
    return absl::OkStatus();
  }

  // One row after the other, each by several threads: what its blocks come to,
  // what stands before each, then all blocks.
  absl::Status RunShared() const {
    const int64_t blocks = (track_.size + kScanBlock - 1) / kScanBlock;
    HAWSER_ASSIGN_OR_RETURN(
        Literal totals, c_.Allocate(Shape::Of(scan_.accumulator, {blocks})));
    char* const before = totals.mutable_bytes().data();
    for (int64_t o = 0; o < track_.outer; ++o) {
      HAWSER_RETURN_IF_ERROR(
          ForBlocks(o, blocks, [&](int64_t b, int64_t at, int64_t n) {
            scan_.total(In(at), track_.step, n, before + b * accumulator_);
          }));
      for (int64_t b = 1; b < blocks; ++b) {
        Accumulator next;
        std::memcpy(&next, before + b * accumulator_, accumulator_);
        std::memcpy(before + b * accumulator_, before + (b - 1) * accumulator_,
                    accumulator_);
        scan_.add(reinterpret_cast<char*>(&next), before + b * accumulator_);
      }
      HAWSER_RETURN_IF_ERROR(
          ForBlocks(o, blocks, [&](int64_t b, int64_t at, int64_t n) {
            Accumulator after;
            scan_.block(In(at), track_.step, n,
                        b == 0 ? nullptr : before + (b - 1) * accumulator_,
                        Out(at), reinterpret_cast<char*>(&after));
          }));
    }
    return absl::OkStatus();
  }

  // fn(block, its first element, how many).
  absl::Status ForBlocks(
      int64_t o, int64_t blocks,
      absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn) const {
    return c_.ForRanges(blocks, kBlockSteps, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        fn(b, track_.Begin(o) + b * kScanBlock * track_.step,
           std::min(kScanBlock, track_.size - b * kScanBlock));
      }
      return absl::OkStatus();
    });
  }

  absl::Status RunColumns() const {
    const int64_t pieces = (track_.inner + kColumns - 1) / kColumns;
    const int64_t columns = std::min(kColumns, track_.inner);
    return c_.ForMetered(
        track_.outer * pieces,
        static_cast<double>(track_.size) * static_cast<double>(columns),
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          std::vector<Accumulator> running(columns);
          for (int64_t p = begin; p < end; ++p) {
            const int64_t column = p % pieces * kColumns;
            const int64_t n = std::min(kColumns, track_.inner - column);
            int64_t at = track_.Begin(p / pieces * track_.inner) + column;
            for (int64_t i = 0; i < track_.size; ++i, at += track_.step) {
              HAWSER_RETURN_IF_ERROR(meter->Begin(static_cast<double>(n)));
              scan_.row(In(at), n, i == 0,
                        reinterpret_cast<char*>(running.data()), Out(at));
            }
          }
          return meter->End();
        });
  }

  const KernelContext& c_;
  const RunScan& scan_;
  const AxisTrack& track_;
  const int64_t width_, accumulator_;
  char* const out_;
};

// By a body of N running values.
class BodyScan {
 public:
  BodyScan(const KernelContext& c, const AxisTrack& track,
           absl::Span<char* const> out)
      : c_(c), track_(track), out_(out) {}

  // Runs of all indices of the other axes, so many at a time.
  absl::Status RunLanes(const LaneProgram& program) const {
    const int64_t runs = track_.runs();
    const int64_t lanes = program.lanes();
    const double cost = static_cast<double>(std::min(lanes, runs)) *
                        static_cast<double>(track_.size) * program.cost();
    return c_.ForMetered(
        (runs + lanes - 1) / lanes, cost,
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          LaneColumns columns;
          program.Prepare(columns);
          for (int64_t g = begin; g < end; ++g) {
            HAWSER_RETURN_IF_ERROR(RunGroup(program, columns, g * lanes,
                                            std::min((g + 1) * lanes, runs),
                                            meter));
          }
          return meter->End();
        });
  }

  // The slow and general way: any body, one call an element.
  absl::Status RunCalls() const {
    const int64_t runs = track_.runs();
    for (int64_t run = 0; run < runs; ++run) {
      std::vector<Literal> running;
      int64_t at = track_.Begin(run);
      for (int64_t i = 0; i < track_.size; ++i, at += track_.step) {
        HAWSER_RETURN_IF_ERROR(
            c_.environment.Look(static_cast<double>(n()) * kScalarSteps));
        for (size_t k = 0; k < n(); ++k) {
          HAWSER_ASSIGN_OR_RETURN(
              Literal element,
              c_.ScalarAt(c_.shape(static_cast<int>(k)).dtype(),
                          c_.data(static_cast<int>(k)) + at * width(k)));
          running.push_back(std::move(element));
        }
        if (i > 0) {
          HAWSER_ASSIGN_OR_RETURN(running, c_.call(0, std::move(running)));
        }
        for (size_t k = 0; k < n(); ++k) {
          std::memcpy(out_[k] + at * width(k), running[k].bytes().data(),
                      width(k));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  size_t n() const { return out_.size(); }
  int64_t width(size_t k) const {
    return ByteWidth(c_.shape(static_cast<int>(k)).dtype());
  }

  // Elements of runs [begin, end) that are `at` from their first ones, as a
  // column, or back.
  void Load(const char* from, int64_t at, int64_t begin, int64_t end,
            int64_t width, char* column) const {
    VisitWidth(width, [&](auto tag) {
      using W = typename decltype(tag)::type;
      const W* elements = reinterpret_cast<const W*>(from) + at;
      W* to = reinterpret_cast<W*>(column);
      for (int64_t run = begin; run < end; ++run) {
        to[run - begin] = elements[track_.Begin(run)];
      }
    });
  }
  void Store(const char* column, int64_t at, int64_t begin, int64_t end,
             int64_t width, char* out) const {
    VisitWidth(width, [&](auto tag) {
      using W = typename decltype(tag)::type;
      const W* from = reinterpret_cast<const W*>(column);
      W* elements = reinterpret_cast<W*>(out) + at;
      for (int64_t run = begin; run < end; ++run) {
        elements[track_.Begin(run)] = from[run - begin];
      }
    });
  }

  absl::Status RunGroup(const LaneProgram& program, LaneColumns& columns,
                        int64_t begin, int64_t end, WorkMeter* meter) const {
    int64_t at = 0;
    for (int64_t i = 0; i < track_.size; ++i, at += track_.step) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(2.0 * static_cast<double>(n()) *
                                          static_cast<double>(end - begin)));
      // The running values are read back from where they were left.
      for (size_t k = 0; k < n(); ++k) {
        const int first = static_cast<int>(k);
        const int second = static_cast<int>(n() + k);
        Load(c_.data(first), at, begin, end, width(k),
             columns.own(i == 0 ? first : second));
        if (i == 0) continue;
        Load(out_[k], at - track_.step, begin, end, width(k),
             columns.own(first));
      }
      if (i > 0) HAWSER_RETURN_IF_ERROR(program.Run(end - begin, columns, meter));
      for (size_t k = 0; k < n(); ++k) {
        const int which = static_cast<int>(k);
        Store(columns.at(i == 0 ? which : program.result_value(which)), at,
              begin, end, width(k), out_[k]);
      }
    }
    return absl::OkStatus();
  }

  const KernelContext& c_;
  const AxisTrack& track_;
  const absl::Span<char* const> out_;
};

absl::StatusOr<Literals> RunScanOp(const KernelContext& c) {
  absl::InlinedVector<char*, 2> results;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&results));
  if (c.shape(0).num_elements() == 0) return out;
  const AxisTrack track(c.shape(0), c.attributes().GetInt("dimension"),
                        c.attributes().GetBool("reverse"));
  const Computation& body = c.module.computation(c.instruction.called[0]);
  if (const CpuKernel* monoid = MonoidKernel(body)) {
    const RunScan& scan = *monoid->scan(c.shape(0).dtype());
    HAWSER_RETURN_IF_ERROR(MonoidScan(c, scan, track, results[0]).Run());
    return out;
  }
  const BodyScan scan(c, track, results);
  const auto program = LaneProgram::Make(body);
  HAWSER_RETURN_IF_ERROR(program.has_value() ? scan.RunLanes(*program)
                                             : scan.RunCalls());
  return out;
}

double ScanCost(const CostContext& c) {
  const Computation& body = c.module.computation(c.instruction.called[0]);
  const auto n = static_cast<double>(c.instruction.operands.size());
  const double elements = c.elements(c.operand(0));
  if (MonoidKernel(body) != nullptr) return 2 * elements;
  return elements *
         c.called[0].lane.value_or(c.called[0].steps + n * kScalarSteps);
}

constexpr CpuKernel kKernels[] = {
    {&kScan, RunScanOp, nullptr, ScanCost},
};

}  // namespace

absl::Span<const CpuKernel> ScanKernels() { return kKernels; }

}  // namespace hawser::cpu
