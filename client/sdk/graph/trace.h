// Trace: a computation while the user's function is building it.
#ifndef HAWSER_CLIENT_SDK_GRAPH_TRACE_H_
#define HAWSER_CLIENT_SDK_GRAPH_TRACE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/places.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/graph/user_code.h"
#include "core/ir/builder.h"

namespace hawser::sdk {

// The tensors from outside a trace that may be used inside it.
enum class Captures : uint8_t {
  kSmallValues,  // Jit: host values up to kSmallBytes, baked as constants
  kLift,         // loops, branches: values become extra operands
  // The same, in traces inside too, but integers of rank 0 which are known here
  // become constants: they may say how often a loop runs.
  kLiftButCounts,
  kNone,  // reductions: small host values only, nothing of a trace
};

// Lives on the stack of the thread that traces, which alone uses it. While a
// Scope of it is the innermost on that thread, every SDK function called there
// builds into it. Traces nest: a loop's body is a trace inside its function's.
class Trace {
 public:
  // Makes a trace inside the one that is current now.
  Trace(std::string name, Captures captures);
  ~Trace();  // warns of what was to be printed, and is not
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  static Trace* Current();
  class Scope {
   public:
    explicit Scope(Trace* trace);
    ~Scope();

   private:
    Trace* const previous_;
    const UserCode user_code_;
  };

  Tensor Parameter(const Shape& shape, SourceLocation where);
  // Parameters of the shapes that `like` have.
  std::vector<Tensor> Parameters(absl::Span<const Tensor> like,
                                 SourceLocation where);
  // Adds an instruction on behalf of an SDK function; returns its first result.
  // After an error every result is that error, and so is Finish.
  Tensor Add(absl::string_view function, const OpDef& op,
             absl::Span<const Tensor> operands, Attributes attributes,
             absl::Span<const Region> called, SourceLocation where);
  // Makes `status`, whose text says where, the error of this trace unless it
  // has one. Returns a tensor with the trace's error.
  Tensor Fail(const absl::Status& status);

  // Notes a value of it for the owner, which takes it and makes it a result.
  void Print(Printed printed) { printed_.push_back(std::move(printed)); }
  std::vector<Printed> TakePrinted() { return std::move(printed_); }

  // Makes a value from outside a parameter after those there are.
  void Lift(const Tensor& outer);
  // The values from outside that were lifted, in the order of parameters.
  const Tensors& lifted() const { return lifted_; }

  // Adds results to those that the computation has; a value from outside is
  // lifted or baked.
  void Return(absl::Span<const Tensor> results, SourceLocation where);
  // The module whose entry is this computation. Call it once, after Return.
  absl::StatusOr<Module> Finish();
  // The same as a region, with the lines of it.
  absl::StatusOr<Region> FinishRegion();
  // The places where the user made each instruction of the entry. After Finish.
  absl::Span<const SourceLocation> locations() const {
    return builder_.locations();
  }
  // These, and those of what it calls.
  Places places() const;

 private:
  using Key = std::pair<const Node*, int>;
  struct Known {
    Tensor keep;  // so that the key stays the node's own address
    ValueId value;
  };

  // The first error: the builder's, naming the function where one is known.
  const absl::Status& error() const {
    return error_.ok() ? builder_.status() : error_;
  }
  // The number of `tensor` in this computation. Errors say where.
  absl::StatusOr<ValueId> Import(const Tensor& tensor, SourceLocation where)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  absl::StatusOr<ValueId> ImportTraced(const Tensor& tensor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  absl::StatusOr<ValueId> ImportOutside(const Tensor& tensor,
                                        SourceLocation where)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  // Rebuilds a recorded expression of small host values inside this trace.
  absl::StatusOr<ValueId> Inline(const Tensor& tensor, SourceLocation where)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  absl::Status InlineOne(Node* node, SourceLocation where)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);
  ValueId LiftNew(const Tensor& outer);
  absl::InlinedVector<int, 2> AddRegions(absl::Span<const Region> called);

  const uint64_t id_;
  bool lifts() const {
    return captures_ == Captures::kLift ||
           captures_ == Captures::kLiftButCounts;
  }

  const Captures captures_;
  Trace* const parent_;
  const bool lifts_all_;  // no Jit function around: any value is lifted
  const bool bakes_counts_;
  Module module_;
  ComputationBuilder builder_;
  absl::Status error_;
  std::vector<ValueId> results_;
  RegionIndex regions_;
  std::vector<Places::Called> called_places_;
  Tensors lifted_;
  std::vector<Printed> printed_;
  absl::flat_hash_map<Key, Known> known_;
};

// The error of a traced tensor used outside its trace.
absl::Status LeakedError(const Tensor& tensor);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_TRACE_H_
