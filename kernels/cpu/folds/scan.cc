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
#include "kernels/cpu/folds/monoid.h"
#include "kernels/cpu/lane_program.h"
#include "kernels/cpu/movement/axis_track.h"

namespace hawser::cpu {
namespace {

// Columns that run side by side, in the nearest cache.
constexpr int64_t kColumns = 1024;
// Elements of a run that several threads share, and steps of a block.
constexpr int64_t kSharedRun = 4 * kParallelElements;
constexpr double kBlockSteps = 2 * kScanBlock;

// Scans by a monoid's loops.
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
    return RunBlocks(o, 0, Blocks(), nullptr, meter);
  }

  // Blocks [first, end) of a row, one after the other. `before`: what stands
  // before them; null: nothing does.
  absl::Status RunBlocks(int64_t o, int64_t first, int64_t end,
                         const char* before, WorkMeter* meter) const {
    Accumulator all;
    char* const after = reinterpret_cast<char*>(&all);
    if (before != nullptr) std::memcpy(after, before, accumulator_);
    for (int64_t b = first; b < end; ++b) {
      const int64_t count = CountOf(b), at = At(o, b);
      HAWSER_RETURN_IF_ERROR(meter->Begin(2.0 * static_cast<double>(count)));
      scan_.block(In(at), track_.step, count, b == 0 ? nullptr : after, Out(at),
                  after);
    }
    return absl::OkStatus();
  }

  // One row after the other, each by several threads: what the blocks of all
  // parts but the last one come to, so what stands before each part, then all
  // parts. Sums meet in the order in which RunRow has them.
  absl::Status RunShared() const {
    const int64_t parts =
        std::min<int64_t>(c_.environment.pool->size(), Blocks());
    const auto begin_of = [&](int64_t part) { return Blocks() * part / parts; };
    const int64_t known = begin_of(parts - 1);
    HAWSER_ASSIGN_OR_RETURN(Literal totals,
                            c_.Allocate(Shape::Of(scan_.accumulator, {known})));
    char* const total = totals.mutable_bytes().data();
    const double steps = kBlockSteps * static_cast<double>(Blocks() / parts);
    for (int64_t o = 0; o < track_.outer; ++o) {
      HAWSER_RETURN_IF_ERROR(AddUp(o, known, total));
      HAWSER_RETURN_IF_ERROR(c_.ForMetered(
          parts, steps,
          [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
            for (int64_t p = begin; p < end; ++p) {
              const int64_t first = begin_of(p);
              const char* before =
                  p == 0 ? nullptr : total + (first - 1) * accumulator_;
              HAWSER_RETURN_IF_ERROR(
                  RunBlocks(o, first, begin_of(p + 1), before, meter));
            }
            return meter->End();
          }));
    }
    return absl::OkStatus();
  }

  // Writes for each of the first `count` blocks of a row its total and those
  // before it.
  absl::Status AddUp(int64_t o, int64_t count, char* total) const {
    HAWSER_RETURN_IF_ERROR(
        c_.ForRanges(count, kBlockSteps, [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            scan_.total(In(At(o, b)), track_.step, CountOf(b),
                        total + b * accumulator_);
          }
          return absl::OkStatus();
        }));
    for (int64_t b = 1; b < count; ++b) {
      Accumulator next;
      char* const sum = total + b * accumulator_;
      std::memcpy(&next, sum, accumulator_);
      std::memcpy(sum, sum - accumulator_, accumulator_);
      scan_.add(reinterpret_cast<char*>(&next), sum);
    }
    return absl::OkStatus();
  }

  int64_t Blocks() const { return (track_.size + kScanBlock - 1) / kScanBlock; }
  // The first element of a row's block, and how many it has.
  int64_t At(int64_t o, int64_t block) const {
    return track_.Begin(o) + block * kScanBlock * track_.step;
  }
  int64_t CountOf(int64_t block) const {
    return std::min(kScanBlock, track_.size - block * kScanBlock);
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

// Scans by a body of N running values.
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
      if (i > 0)
        HAWSER_RETURN_IF_ERROR(program.Run(end - begin, columns, meter));
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
  const LaneProgram* const lanes = c.lanes[0];
  HAWSER_RETURN_IF_ERROR(lanes != nullptr ? scan.RunLanes(*lanes)
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

constexpr CpuKernel kScanKernels[] = {
    {&kScan, RunScanOp, nullptr, ScanCost},
};

}  // namespace

absl::Span<const CpuKernel> ScanKernels() { return kScanKernels; }

}  // namespace hawser::cpu
