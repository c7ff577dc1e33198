#include "client/sdk/probes/probes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/graph/node.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::sdk {
namespace {

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}
bool ChecksNan() {
  static const bool checks = IsSet("HAWSER_CHECK_NAN");
  return checks;
}
bool ChecksIndices() {
  static const bool checks = IsSet("HAWSER_CHECK_INDICES");
  return checks;
}

// An axis that run-time indices point along, and the last place there at which
// a window still fits.
struct Bound {
  int axis = 0;
  int64_t last = 0;
};

// Of each component of the index vectors of a scatter.
std::vector<Bound> ScatterBounds(const Shape& input, const Shape& updates,
                                 const Attributes& attributes) {
  const auto inserted = attributes.GetInts("inserted_window_dims");
  const auto window = attributes.GetInts("update_window_dims");
  std::vector<int64_t> sizes;
  size_t next = 0;
  for (int axis = 0; axis < input.rank(); ++axis) {
    const bool is_inserted =
        std::find(inserted.begin(), inserted.end(), axis) != inserted.end();
    sizes.push_back(
        is_inserted ? 1 : updates.dim(static_cast<int>(window[next++])));
  }
  std::vector<Bound> bounds;
  for (const int64_t axis :
       attributes.GetInts("scatter_dims_to_operand_dims")) {
    const int a = static_cast<int>(axis);
    bounds.push_back({a, input.dim(a) - sizes[a]});
  }
  return bounds;
}

std::vector<Bound> GatherBounds(const Shape& from,
                                const Attributes& attributes) {
  const auto sizes = attributes.GetInts("slice_sizes");
  std::vector<Bound> bounds;
  for (const int64_t axis : attributes.GetInts("start_index_map")) {
    const int a = static_cast<int>(axis);
    bounds.push_back({a, from.dim(a) - sizes[a]});
  }
  return bounds;
}

}  // namespace

void WriteValue(const Printed& printed, const Literal& value) {
  std::cerr << absl::StrCat(printed.label, " = ", value.ToString(), " (",
                            printed.where.file, ":", printed.where.line, ")\n")
            << std::flush;
}

void Show(Printed printed) {
  if (Trace* const trace = Trace::Current()) {
    return trace->Print(std::move(printed));
  }
  const auto value = printed.value.Fetch();
  if (value.ok()) return WriteValue(printed, *value);
  std::cerr << absl::StrCat(printed.label, ": ", value.status().message(), "\n")
            << std::flush;
}

// Makes the entry of a module again, with checks behind what it does.
class Probes::Maker {
 public:
  Maker(const Module& from, absl::Span<const SourceLocation> where,
        std::vector<Check>* checks)
      : from_(from.entry()),
        where_(where),
        checks_(*checks),
        module_(from.name()),
        to_(from_.name()) {
    for (const Computation& c :
         from.computations().first(from.computations().size() - 1)) {
      module_.Add(c);
    }
    AddAny();
    for (const Instruction& i : from_.instructions()) {
      Add(*i.op, i.operands, i.attributes, i.called);
    }
    none_ = Constant(Literal::Scalar(false));
  }

  void CheckNan();
  void CheckIndices();
  absl::StatusOr<Module> Finish();

 private:
  // The computation that a reduction of bools calls.
  void AddAny() {
    ComputationBuilder any(&module_, "any");
    const ValueId a = any.Parameter(Shape::Scalar(DType::kBool), {});
    const ValueId b = any.Parameter(Shape::Scalar(DType::kBool), {});
    const ValueId either = any.Add(kOr, {a, b}, {}, {}, {});
    const auto added = any.Finish({either});
    if (added.ok()) {
      any_ = *added;
    } else {
      status_ = added.status();
    }
  }
  ValueId Add(const OpDef& op, absl::Span<const ValueId> operands,
              Attributes attributes = {}, absl::Span<const int> called = {}) {
    if (!status_.ok()) return 0;
    auto value =
        to_.Append(module_, op, operands, std::move(attributes), called);
    status_ = value.status();
    return value.ok() ? *value : 0;
  }
  ValueId Constant(Literal value) {
    return Add(kConstant, {}, {{"value", std::move(value)}});
  }
  ValueId Compare(ValueId a, ValueId b, const char* direction) {
    return Add(kCompare, {a, b}, {{"direction", std::string(direction)}});
  }
  ValueId Broadcast(ValueId value, Dims axes, const Shape& to) {
    return Add(kBroadcastInDim, {value},
               {{"broadcast_dimensions", std::move(axes)},
                {"dims", Dims(to.dims().begin(), to.dims().end())}});
  }

  // One that counts where any of `flags` holds; its number.
  int AddCheck(ValueId flags, std::string what, std::vector<int> unless);
  // What is wrong in instruction k, with the user's line.
  std::string Said(size_t k, absl::string_view variable,
                   absl::string_view what) const;
  // That `indices` are within bounds: one for all, or one for each place along
  // `axis`.
  void AddIndexCheck(size_t k, ValueId indices, int64_t axis,
                     const std::vector<Bound>& bounds);

  const Computation& from_;
  const absl::Span<const SourceLocation> where_;
  std::vector<Check>& checks_;
  Module module_;
  Computation to_;
  int any_ = 0;
  ValueId none_ = 0;
  std::vector<ValueId> flags_;  // bool[1], one for each check
  absl::Status status_;
};

int Probes::Maker::AddCheck(ValueId flags, std::string what,
                            std::vector<int> unless) {
  if (!status_.ok()) return 0;
  if (const int rank = to_.shape(flags).rank(); rank > 0) {
    Dims all(rank);
    std::iota(all.begin(), all.end(), 0);
    flags =
        Add(kReduce, {flags, none_}, {{"dimensions", std::move(all)}}, {any_});
  }
  flags_.push_back(Add(kReshape, {flags}, {{"dims", Dims{1}}}));
  checks_.push_back({std::move(what), std::move(unless)});
  return static_cast<int>(checks_.size()) - 1;
}

std::string Probes::Maker::Said(size_t k, absl::string_view variable,
                                absl::string_view what) const {
  const absl::Status said = InvalidArgument(
      variable, ": ", from_.instructions()[k].op->name, " ", what);
  const SourceLocation where = k < where_.size() ? where_[k] : SourceLocation();
  return std::string(At(said, where).message());
}

void Probes::Maker::CheckNan() {
  std::vector<int> check_of(from_.num_values(), -1);
  for (size_t k = 0; k < from_.instructions().size(); ++k) {
    const Instruction& i = from_.instructions()[k];
    const bool is_given = i.op == &kParameter || i.op == &kConstant;
    std::vector<int> unless;
    for (const ValueId v : i.operands) {
      if (check_of[v] >= 0) unless.push_back(check_of[v]);
    }
    for (ValueId v = i.first_result; v < i.first_result + i.num_results; ++v) {
      const Shape& shape = from_.shape(v);
      if (!IsFloat(shape.dtype()) && !IsComplex(shape.dtype())) continue;
      check_of[v] = AddCheck(
          Compare(v, v, "NE"),
          is_given ? ""
                   : Said(k, "HAWSER_CHECK_NAN",
                          absl::StrCat("gives NaN in a ", shape.ToString(),
                                       ", of operands without one")),
          unless);
    }
  }
}

void Probes::Maker::AddIndexCheck(size_t k, ValueId indices, int64_t axis,
                                  const std::vector<Bound>& bounds) {
  if (!status_.ok() || bounds.empty()) return;
  const Shape& shape = from_.shape(indices);
  // So large that it is negative then: out of range, too.
  const ValueId wide = Add(kConvert, {indices}, {{"dtype", DType::kS64}});
  const Shape wide_shape = to_.shape(wide);
  const int64_t count = static_cast<int64_t>(bounds.size());
  Literal last = Literal::Zeros(Shape::Of(DType::kS64, {count}));
  Literal zeros = Literal::Zeros(Shape::Of(DType::kS64, {count}));
  std::vector<std::string> said;
  for (int64_t b = 0; b < count; ++b) {
    last.mutable_data<int64_t>()[b] = bounds[b].last;
    said.push_back(
        absl::StrCat("0 to ", bounds[b].last, " of axis ", bounds[b].axis));
  }
  const bool has_axis = axis < shape.rank();
  const auto spread = [&](Literal value) {
    const ValueId constant = Constant(std::move(value));
    if (has_axis) return Broadcast(constant, Dims{axis}, wide_shape);
    return Broadcast(Add(kReshape, {constant}, {{"dims", Dims{}}}), Dims{},
                     wide_shape);
  };
  const ValueId below = Compare(wide, spread(std::move(zeros)), "LT");
  const ValueId above = Compare(wide, spread(std::move(last)), "GT");
  AddCheck(Add(kOr, {below, above}),
           Said(k, "HAWSER_CHECK_INDICES",
                absl::StrCat("has an index out of range, which is ",
                             absl::StrJoin(said, ", "))),
           {});
}

void Probes::Maker::CheckIndices() {
  for (size_t k = 0; k < from_.instructions().size(); ++k) {
    const Instruction& i = from_.instructions()[k];
    if (i.op == &kGather) {
      AddIndexCheck(k, i.operands[1], i.attributes.GetInt("index_vector_dim"),
                    GatherBounds(from_.shape(i.operands[0]), i.attributes));
    } else if (i.op == &kScatter) {
      const size_t n = i.operands.size() / 2;
      AddIndexCheck(
          k, i.operands[n], i.attributes.GetInt("index_vector_dim"),
          ScatterBounds(from_.shape(i.operands[0]),
                        from_.shape(i.operands[n + 1]), i.attributes));
    } else if (i.op == &kDynamicSlice || i.op == &kDynamicUpdateSlice) {
      const bool updates = i.op == &kDynamicUpdateSlice;
      const Shape& whole = from_.shape(i.operands[0]);
      const Shape& part = from_.shape(updates ? i.operands[1] : i.first_result);
      for (int axis = 0; axis < whole.rank(); ++axis) {
        AddIndexCheck(k, i.operands[1 + updates + axis], 0,
                      {{axis, whole.dim(axis) - part.dim(axis)}});
      }
    }
  }
}

absl::StatusOr<Module> Probes::Maker::Finish() {
  std::vector<ValueId> results(from_.results().begin(), from_.results().end());
  results.push_back(Add(kConcatenate, flags_, {{"dimension", int64_t{0}}}));
  HAWSER_RETURN_IF_ERROR(status_);
  HAWSER_RETURN_IF_ERROR(to_.SetResults(results));
  module_.Add(std::move(to_));
  return std::move(module_);
}

absl::StatusOr<Probes> Probes::Make(std::vector<Printed> prints,
                                    absl::Span<const SourceLocation> where,
                                    Module* module) {
  Probes probes;
  probes.prints_ = std::move(prints);
  if (!ChecksNan() && !ChecksIndices()) return probes;
  Maker maker(*module, where, &probes.checks_);
  if (ChecksIndices()) maker.CheckIndices();
  if (ChecksNan()) maker.CheckNan();
  if (probes.checks_.empty()) return probes;
  HAWSER_ASSIGN_OR_RETURN(*module, maker.Finish());
  return probes;
}

absl::Status Probes::Tell(absl::Span<const Literal> hidden) const {
  for (size_t p = 0; p < prints_.size(); ++p) WriteValue(prints_[p], hidden[p]);
  if (checks_.empty()) return absl::OkStatus();
  const auto holds = hidden.back().data<bool>();
  for (size_t c = 0; c < checks_.size(); ++c) {
    const Check& check = checks_[c];
    if (!holds[c] || check.what.empty()) continue;
    if (std::any_of(check.unless.begin(), check.unless.end(),
                    [&](int other) { return holds[other]; })) {
      continue;
    }
    return absl::InvalidArgumentError(check.what);
  }
  return absl::OkStatus();
}

}  // namespace hawser::sdk
