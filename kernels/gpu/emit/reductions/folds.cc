#include "kernels/gpu/emit/reductions/folds.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/gpu/emit/text/op_text.h"

namespace hawser::gpu {
namespace {

using plan::Point;
using plan::PointId;

void Describe(const RegionSource& source, const Instruction& i, Fold* fold) {
  if (i.op == &kReduce) {
    for (const PointId p : fold->inputs) {
      fold->dtypes.push_back(source.shape(p).dtype());
    }
    DescribeComputation(source.module.computation(i.called[0]), fold);
    return;
  }
  fold->kind = Fold::kExtreme;
  fold->dtypes = {source.shape(fold->inputs[0]).dtype(),
                  source.body().shape(i.first_result).dtype()};
  const bool last = i.attributes.GetString("tie", "low") == "high";
  fold->operation = absl::StrCat("Extreme<", ComputeTypeName(fold->dtypes[0]),
                                 ", ", TypeName(fold->dtypes[1]), ", ",
                                 i.op == &kArgMax ? "true" : "false", ", ",
                                 last ? "true" : "false", ">");
}

}  // namespace

void DescribeComputation(const Computation& body, Fold* fold) {
  const OpDef* monoid = MonoidOf(body);
  // The dialect has its operations for one value that is not complex.
  if (monoid == nullptr || body.instructions().size() != 3 ||
      IsComplex(fold->dtypes[0])) {
    fold->kind = Fold::kComputation;
    return;
  }
  fold->kind = Fold::kMonoid;
  fold->operation = absl::StrCat(monoid->monoid.name, "<",
                                 ComputeTypeName(fold->dtypes[0]), ">");
}

namespace {

// The members of a computation's own operation.
absl::Status WriteOperation(const RegionSource& source, const Fold& fold,
                            const std::string& part, TextWriter* writer) {
  const Instruction& i = source.body().instructions()[fold.instruction];
  std::vector<ValueText> arguments;
  std::vector<std::string> zeros = {"0u"};
  for (const char* side : {"a", "b"}) {
    for (size_t k = 0; k < fold.dtypes.size(); ++k) {
      arguments.push_back({absl::StrCat(side, ".v", k), fold.dtypes[k], false});
    }
  }
  for (const DType d : fold.dtypes) zeros.push_back(ComputeTypeName(d) + "{}");
  writer->Line("enum { kCommutes = 0 };");
  writer->Line("HK_MEMBER ", part, " Identity() { return {",
               absl::StrJoin(zeros, ", "), "}; }");
  writer->Open("HK_MEMBER ", part, " Combine(", part, " a, ", part, " b)");
  writer->Line("if (a.any == 0u) return b;");
  writer->Line("if (b.any == 0u) return a;");
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<ValueText> results,
      ScalarComputationText(source.module.computation(i.called[0]), arguments,
                            source.options.strict, "v", writer));
  std::vector<std::string> values = {"1u"};
  for (const ValueText& v : results) values.push_back(v.Computed());
  writer->Line("return {", absl::StrJoin(values, ", "), "};");
  writer->Close();
  return absl::OkStatus();
}

}  // namespace

std::string Fold::Component(const std::string& part, size_t k) const {
  if (kind == kMonoid) return part;
  if (kind == kExtreme) return part + (k == 0 ? ".value" : ".index");
  return absl::StrCat(part, ".v", k);
}

std::string Fold::PartOf(absl::Span<const std::string> components) const {
  if (kind == kMonoid) return components[0];
  return absl::StrCat(part(), "{", kind == kComputation ? "1u, " : "",
                      absl::StrJoin(components, ", "), "}");
}

int64_t Fold::part_bytes() const {
  int64_t bytes = kind == kComputation ? 8 : 0;
  for (const DType d : dtypes) {
    bytes += std::max<int64_t>(ByteWidth(d), kind == kMonoid ? 4 : 8);
  }
  return bytes;
}

absl::StatusOr<std::vector<Fold>> FindFolds(const RegionSource& source) {
  std::vector<Fold> folds;
  for (size_t n = 0; n < source.region.points.size(); ++n) {
    const PointId id = static_cast<PointId>(n);
    const Point& p = source.point(id);
    if (p.kind != Point::kReduce) continue;
    // A reduction folds the same values for all its results.
    const auto same = std::find_if(
        folds.begin(), folds.end(),
        [&](const Fold& f) { return f.instruction == p.instruction; });
    if (same != folds.end()) {
      same->points.push_back(id);
      continue;
    }
    const Instruction& i = source.instruction(p);
    const size_t inputs = i.op == &kReduce ? p.operands.size() / 2 : 1;
    const auto middle = p.operands.end() - inputs;
    Fold fold{.number = static_cast<int>(folds.size()),
              .stage = p.stage,
              .instruction = p.instruction,
              .points = {id},
              .initial = {p.operands.begin(), middle},
              .inputs = {middle, p.operands.end()}};
    Describe(source, i, &fold);
    folds.push_back(std::move(fold));
  }
  return folds;
}

absl::Status DeclareFold(const RegionSource& source, const Fold& fold,
                         KernelBuilder* kernel) {
  TextWriter& body = kernel->body();
  if (fold.kind != Fold::kComputation) {
    body.Line("typedef ", fold.operation, " ", fold.type(), ";");
    body.Line("typedef ",
              fold.kind == Fold::kMonoid ? ComputeTypeName(fold.dtypes[0])
                                         : fold.type() + "::F",
              " ", fold.part(), ";");
    return absl::OkStatus();
  }
  TextWriter& front = kernel->front();
  const std::string part = absl::StrCat(KernelBuilder::kName, "_", fold.part());
  front.Open("struct ", part);
  front.Line("u32 any;");
  for (size_t k = 0; k < fold.dtypes.size(); ++k) {
    front.Line(ComputeTypeName(fold.dtypes[k]), " v", k, ";");
  }
  front.Close(";");
  front.Open("struct ", KernelBuilder::kName, "_", fold.type());
  HAWSER_RETURN_IF_ERROR(WriteOperation(source, fold, part, &front));
  front.Close(";");
  body.Line("typedef ", KernelBuilder::kName, "_", fold.type(), " ",
            fold.type(), ";");
  body.Line("typedef ", part, " ", fold.part(), ";");
  return absl::OkStatus();
}

void DeclareRunning(const Fold& fold, KernelBuilder* kernel) {
  kernel->body().Line(fold.part(), " ", fold.name(), " = ", fold.type(),
                      "::Identity();");
}

void DeclareShared(const Fold& fold, int64_t size, KernelBuilder* kernel) {
  kernel->body().Line("HK_SHARED(", fold.part(), ", shared", fold.number, ", ",
                      size, ");");
}

void ReduceOverLanes(const Fold& fold, int64_t lanes, KernelBuilder* kernel) {
  if (lanes == 1) return;
  kernel->body().Line(fold.name(), " = GroupReduce<", fold.type(), ", ", lanes,
                      "u>(", fold.name(), ");");
}

void ReduceOverBlock(const Fold& fold, int64_t threads, KernelBuilder* kernel) {
  kernel->body().Line(fold.name(), " = BlockReduce<", fold.type(), ", ",
                      threads, "u>(", fold.name(), ", shared", fold.number,
                      ");");
}

void WriteCombine(const RegionSource& source, const Fold& fold,
                  const std::string& running, PointWriter* writer,
                  KernelBuilder* kernel) {
  std::vector<std::string> values;
  for (const PointId p : fold.inputs) {
    values.push_back(writer->Value(p).Computed());
  }
  if (fold.kind == Fold::kExtreme) {
    const auto& axes =
        source.region.maps[source.point(fold.inputs[0]).map].axes;
    const Instruction& i = source.body().instructions()[fold.instruction];
    HAWSER_CHECK(!axes.empty());
    values.push_back(absl::StrCat(
        "(", TypeName(fold.dtypes[1]), ")(",
        writer->AxisText(source.point(fold.inputs[0]),
                         static_cast<int>(i.attributes.GetInt("dimension"))),
        ")"));
  }
  kernel->body().Line(running, " = ", fold.type(), "::Combine(", running, ", ",
                      fold.PartOf(values), ");");
}

void DefineResults(const RegionSource& source, const Fold& fold,
                   const std::string& folded, PointWriter* writer,
                   KernelBuilder* kernel) {
  std::string all = folded;
  if (fold.kind != Fold::kExtreme) {
    writer->Write(fold.initial);
    std::vector<std::string> initial;
    for (const PointId p : fold.initial) {
      initial.push_back(writer->Value(p).Computed());
    }
    all = kernel->Unique("t");
    kernel->body().Line("const ", fold.part(), " ", all, " = ", fold.type(),
                        "::Combine(", fold.PartOf(initial), ", ", folded, ");");
  }
  for (const PointId p : fold.points) {
    const size_t k = fold.kind == Fold::kExtreme ? 1 : source.point(p).result;
    ValueText value{fold.Component(all, k), source.shape(p).dtype(), false};
    if (source.options.strict) value = {value.Stored(), value.dtype};
    writer->DefineVariable(p, value);
  }
}

}  // namespace hawser::gpu
