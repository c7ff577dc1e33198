#include "kernels/cpu/transforms/plan.h"

#include <algorithm>
#include <complex>
#include <list>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cpu/butterflies/roots.h"
#include "kernels/cpu/transforms/line_transform.h"

namespace hawser::cpu {
namespace {

// Bytes of plans that are kept. One that is larger is made anew for each call,
// in memory that the call is charged for.
constexpr int64_t kKeptBytes = int64_t{64} << 20;
constexpr int64_t kKeptLength = int64_t{1} << 20;
// The longest transform whose columns have all their roots in a table.
constexpr int64_t kMostTurns = int64_t{1} << 16;
// Roots between two looks at the token: some 4 ms.
constexpr int64_t kRootsOfLook = 1 << 15;

template <typename T>
constexpr DType kPartDType = DType::kF32;
template <>
constexpr DType kPartDType<double> = DType::kF64;

// ---- the kept ones ----------------------------------------------------------

template <typename T>
int64_t BytesOf(const FftPlan<T>& plan) {
  int64_t bytes = sizeof(plan);
  for (const Literal& table : plan.tables) bytes += table.shape().byte_size();
  return bytes;
}

// The plans of a process for one dtype, those last used in front.
template <typename T>
class KeptPlans {
 public:
  using Key = std::pair<int64_t, PlanFor>;

  FftPlanPtr<T> Find(const Key& key) {
    MutexLock lock(&mu_);
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    plans_.splice(plans_.begin(), plans_, at->second);
    return at->second->second;
  }
  void Keep(const Key& key, const FftPlanPtr<T>& plan) {
    MutexLock lock(&mu_);
    if (places_.count(key) > 0) return;
    plans_.emplace_front(key, plan);
    places_[key] = plans_.begin();
    bytes_ += BytesOf(*plan);
    while (bytes_ > kKeptBytes && plans_.size() > 1) {
      bytes_ -= BytesOf(*plans_.back().second);
      places_.erase(plans_.back().first);
      plans_.pop_back();
    }
  }

 private:
  using Plans = std::list<std::pair<Key, FftPlanPtr<T>>>;
  Mutex mu_;
  Plans plans_ ABSL_GUARDED_BY(mu_);
  std::map<Key, typename Plans::iterator> places_ ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// ---- making one -------------------------------------------------------------

// Tables of roots for a plan.
template <typename T>
class TableMaker {
 protected:
  TableMaker(const KernelContext& context, int64_t n)
      : context_(context), plan_(std::make_shared<FftPlan<T>>()) {
    plan_->n = n;
  }

  static void Put(std::complex<double> root, T* to) {
    to[0] = static_cast<T>(root.real());
    to[1] = static_cast<T>(root.imag());
  }

  // Memory for so many numbers, which lives as long as the plan.
  absl::StatusOr<T*> Table(int64_t count) {
    const Shape shape = Shape::Of(kPartDType<T>, {count});
    Literal table;
    if (plan_->n > kKeptLength) {
      HAWSER_ASSIGN_OR_RETURN(table, context_.environment.allocator->Allocate(
                                         shape, context_.environment.memory));
    } else {
      table = Literal::Uninitialized(shape);
    }
    plan_->tables.push_back(std::move(table));
    return plan_->tables.back().template mutable_data<T>().data();
  }

  // The same for both parts of so many.
  absl::StatusOr<LaneParts<T>> PartTables(int64_t count) {
    HAWSER_ASSIGN_OR_RETURN(T* const re, Table(count));
    HAWSER_ASSIGN_OR_RETURN(T* const im, Table(count));
    return LaneParts<T>{re, im};
  }
  static void Put(std::complex<double> root, const LaneParts<T>& to,
                  int64_t at) {
    to.re[at] = static_cast<T>(root.real());
    to.im[at] = static_cast<T>(root.imag());
  }

  // fn(i) for i < n, each of which makes `roots` of them.
  absl::Status ForEach(int64_t n, int64_t roots,
                       absl::FunctionRef<void(int64_t)> fn) {
    for (int64_t i = 0; i < n; ++i) {
      if ((made_ += roots) >= kRootsOfLook) {
        made_ = 0;
        HAWSER_RETURN_IF_ERROR(context_.environment.cancel.Check());
      }
      fn(i);
    }
    return absl::OkStatus();
  }

  // fn(j, e^(-pi i j^2 / n)) for j < n.
  absl::Status ForEachChirp(
      absl::FunctionRef<void(int64_t, std::complex<double>)> fn) {
    const int64_t twice = 2 * plan_->n;
    const Roots roots(twice);
    int64_t square = 0;
    return ForEach(plan_->n, 1, [&](int64_t j) {
      fn(j, roots.At(square));
      square = (square + 2 * j + 1) % twice;
    });
  }

  const KernelContext& context_;
  const std::shared_ptr<FftPlan<T>> plan_;

 private:
  int64_t made_ = 0;
};

template <typename T>
class PlanMaker : TableMaker<T> {
 public:
  PlanMaker(const KernelContext& context, int64_t n, PlanFor use)
      : TableMaker<T>(context, n), use_(use) {}

  absl::StatusOr<FftPlanPtr<T>> Make() {
    if (use_ == PlanFor::kHalves) {
      HAWSER_RETURN_IF_ERROR(MakeHalves());
      return plan_;
    }
    FftWay& way = plan_->way;
    way = use_ == PlanFor::kLanes ? WayInLanes(plan_->n) : WayOf(plan_->n);
    if (way.kind == FftWay::kPasses) {
      HAWSER_RETURN_IF_ERROR(MakePasses());
    } else if (way.kind == FftWay::kMatrix) {
      HAWSER_RETURN_IF_ERROR(MakeMatrix());
    } else {
      HAWSER_RETURN_IF_ERROR(MakeChirps());
    }
    return plan_;
  }

 private:
  using TableMaker<T>::context_;
  using TableMaker<T>::ForEach;
  using TableMaker<T>::ForEachChirp;
  using TableMaker<T>::PartTables;
  using TableMaker<T>::plan_;
  using TableMaker<T>::Put;
  using TableMaker<T>::Table;

  absl::Status MakeHalves() {
    const Roots roots(plan_->n);
    const int64_t count = plan_->n / 4 + 1;
    HAWSER_ASSIGN_OR_RETURN(T* const table, Table(2 * count));
    plan_->halves = table;
    return ForEach(count, 1,
                   [&](int64_t k) { Put(roots.At(k), table + 2 * k); });
  }

  absl::Status MakePasses() {
    const int64_t n = plan_->n;
    const Roots roots(n);
    int64_t before = 1;
    for (const int radix : plan_->way.radices) {
      const int64_t behind = n / before / radix;
      HAWSER_ASSIGN_OR_RETURN(T* const table, Table(2 * behind * (radix - 1)));
      HAWSER_ASSIGN_OR_RETURN(T* const turns, Table(2 * radix));
      plan_->passes.push_back({radix, before, behind, table, turns});
      HAWSER_RETURN_IF_ERROR(ForEach(behind, radix, [&](int64_t p) {
        for (int k = 1; k < radix; ++k) {
          Put(roots.At(p * k * before), table + 2 * (p * (radix - 1) + k - 1));
        }
      }));
      for (int k = 0; k < radix; ++k) {
        Put(roots.At(n / radix * k), turns + 2 * k);
      }
      before *= radix;
    }
    return absl::OkStatus();
  }

  absl::Status MakeMatrix() {
    FftPlan<T>& plan = *plan_;
    HAWSER_ASSIGN_OR_RETURN(
        plan.columns, FindPlan<T>(context_, plan.way.columns, PlanFor::kLanes));
    HAWSER_ASSIGN_OR_RETURN(
        plan.rows, FindPlan<T>(context_, plan.way.rows, PlanFor::kLanes));
    const Roots roots(plan.n);
    const int64_t groups = (plan.way.rows - 1) / kMostLanes<T> + 1;
    const bool is_long = plan.n > kMostTurns;
    const int64_t height = plan.way.columns;
    plan.pitch = (is_long ? 1 : groups) * kMostLanes<T>;
    HAWSER_ASSIGN_OR_RETURN(const LaneParts<T> turns,
                            PartTables(height * plan.pitch));
    plan.turns = {turns.re, turns.im};
    HAWSER_RETURN_IF_ERROR(ForEach(height, plan.pitch, [&](int64_t k) {
      for (int64_t j = 0; j < plan.pitch; ++j) {
        Put(roots.At(j * k % plan.n), turns, k * plan.pitch + j);
      }
    }));
    if (!is_long) return absl::OkStatus();
    HAWSER_ASSIGN_OR_RETURN(const LaneParts<T> further,
                            PartTables(groups * height));
    plan.further = {further.re, further.im};
    return ForEach(groups, height, [&](int64_t g) {
      for (int64_t k = 0; k < height; ++k) {
        Put(roots.At(g * kMostLanes<T> * k % plan.n), further, g * height + k);
      }
    });
  }

  absl::Status MakeChirps() {
    FftPlan<T>& plan = *plan_;
    const int64_t wide = plan.way.wide;
    HAWSER_ASSIGN_OR_RETURN(plan.wide, FindPlan<T>(context_, wide));
    HAWSER_ASSIGN_OR_RETURN(const LaneParts<T> chirp, PartTables(plan.n));
    HAWSER_ASSIGN_OR_RETURN(const LaneParts<T> answer, PartTables(wide));
    plan.chirp = {chirp.re, chirp.im};
    plan.answer = {answer.re, answer.im};
    HAWSER_RETURN_IF_ERROR(ForEachChirp(
        [&](int64_t j, std::complex<double> root) { Put(root, chirp, j); }));
    HAWSER_ASSIGN_OR_RETURN(const Literal exact, ExactAnswer());
    const auto from = exact.data<double>();
    return ForEach(wide, 0, [&](int64_t k) {
      Put({from[2 * k], from[2 * k + 1]}, answer, k);
    });
  }

  // The transform of the chirp's conjugate, which runs round `wide` elements.
  // It is made in f64, so that f32 has no error of its own.
  absl::StatusOr<Literal> ExactAnswer() {
    const int64_t wide = plan_->way.wide;
    HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<double> plan,
                            FindPlan<double>(context_, wide));
    HAWSER_ASSIGN_OR_RETURN(
        Literal line, context_.Allocate(Shape::Of(DType::kF64, {2 * wide})));
    double* const x = line.mutable_data<double>().data();
    std::fill(x, x + 2 * wide, 0.0);
    HAWSER_RETURN_IF_ERROR(
        ForEachChirp([&](int64_t j, std::complex<double> root) {
          for (const int64_t at : {j, (wide - j) % wide}) {
            x[2 * at] = root.real();
            x[2 * at + 1] = -root.imag();
          }
        }));
    LineTransform<double> transform(context_, *plan);
    HAWSER_RETURN_IF_ERROR(transform.Run(
        x, x, {.scale = 1 / static_cast<double>(wide)}, GroupLoop(context_)));
    return line;
  }

  const PlanFor use_;
};

}  // namespace

template <typename T>
absl::StatusOr<FftPlanPtr<T>> FindPlan(const KernelContext& context, int64_t n,
                                       PlanFor use) {
  static auto& kept = *new KeptPlans<T>();
  const typename KeptPlans<T>::Key key(n, use);
  if (FftPlanPtr<T> plan = kept.Find(key)) return plan;
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan,
                          PlanMaker<T>(context, n, use).Make());
  if (n <= kKeptLength) kept.Keep(key, plan);
  return plan;
}

template absl::StatusOr<FftPlanPtr<float>> FindPlan(const KernelContext&,
                                                    int64_t, PlanFor);
template absl::StatusOr<FftPlanPtr<double>> FindPlan(const KernelContext&,
                                                     int64_t, PlanFor);

}  // namespace hawser::cpu
