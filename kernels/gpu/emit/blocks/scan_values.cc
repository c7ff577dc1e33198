#include "kernels/gpu/emit/blocks/scan_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/gpu/emit/text/launch.h"
#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {
namespace {

Fold FoldOf(const RegionSource& source, const Instruction& i) {
  Fold fold{.instruction = source.region.instruction};
  for (const ValueId v : i.operands) {
    fold.dtypes.push_back(source.body().shape(v).dtype());
  }
  DescribeComputation(source.module.computation(i.called[0]), &fold);
  return fold;
}

// Neighbours that one access of each array moves; a lane has them together.
int WidthOf(const Scan& scan) {
  if (scan.layout.by_thread()) return 1;
  const int64_t size = scan.layout.runs.size;
  // No more than keeps the lanes of a warp at work.
  int64_t width = std::min<int64_t>(8, PowerOfTwo(CeilDivide(size, 32)));
  for (const DType d : scan.fold.dtypes) {
    width = IsBool(d) ? 1 : std::min<int64_t>(width, 16 / ByteWidth(d));
  }
  while (width > 1 && size % width != 0) width /= 2;
  return static_cast<int>(width);
}

}  // namespace

Scan::Scan(const RegionSource& source)
    : source(source),
      instruction(source.instruction()),
      shape(source.body().shape(instruction.operands[0])),
      reverse(instruction.attributes.GetBool("reverse")),
      layout(shape, instruction.attributes.GetInt("dimension"),
             source.region.splits),
      fold(FoldOf(source, instruction)) {
  sums_floats =
      fold.operation == "Sum<float>" || fold.operation == "Sum<double>";
}

ScanValues::ScanValues(const Scan& scan, ScanPhase phase, KernelBuilder* kernel)
    : scan_(scan), phase_(phase), kernel_(kernel) {
  names_.wide = scan.shape.num_elements() >= int64_t{1} << 31;
  if (phase != ScanPhase::kCarries) width_ = WidthOf(scan);
}

absl::Status ScanValues::Declare() {
  Fold fold = scan_.fold;
  if (scan_.sums_floats) {
    const std::string type = ComputeTypeName(fold.dtypes[0]);
    TextWriter& front = kernel_->front();
    front.Open("struct ", KernelBuilder::kName, "_sum : ", fold.operation);
    front.Line("HK_MEMBER ", type, " Identity() { return -(", type, ")0; }");
    front.Close(";");
    fold.operation = absl::StrCat(KernelBuilder::kName, "_sum");
  }
  return DeclareFold(scan_.source, fold, kernel_);
}

std::string ScanValues::Combined(const std::string& a,
                                 const std::string& b) const {
  return absl::StrCat(scan_.fold.type(), "::Combine(", a, ", ", b, ")");
}

std::string ScanValues::Place(const std::string& run,
                              const std::string& step) const {
  const plan::RunsOf& runs = scan_.layout.runs;
  if (phase_ == ScanPhase::kCarries) {
    return absl::StrCat(step, " * ", names_.Number(runs.runs()), " + ", run);
  }
  const std::string along =
      scan_.reverse ? absl::StrCat("(", names_.Number(runs.size - width_),
                                   " - ", step, ")")
                    : step;
  if (runs.inner == 1) {
    return absl::StrCat(run, " * ", names_.Number(runs.size), " + ", along);
  }
  const std::string inner = names_.Number(runs.inner);
  return absl::StrCat("(", run, " / ", inner, " * ", names_.Number(runs.size),
                      " + ", along, ") * ", inner, " + ", run, " % ", inner);
}

std::string ScanValues::Scratch(size_t k, bool before, Access access) {
  const plan::ScanLayout& layout = scan_.layout;
  int64_t offset = 0;
  for (size_t n = 0; n < scan_.fold.dtypes.size(); ++n) {
    const int64_t bytes = layout.ArrayBytes(scan_.fold.dtypes[n]);
    offset += (n < k ? bytes : 0) + (before ? bytes : 0);
  }
  const DType dtype = scan_.fold.dtypes[k];
  const std::string type = ComputeTypeName(dtype);
  const int64_t width = type == "float" ? 4 : ByteWidth(dtype);
  return kernel_->Parameter({KernelParameter::kScratch, 0, offset,
                             layout.parts * layout.runs.runs() * width, access},
                            type, false);
}

std::string ScanValues::Source(size_t k) {
  if (phase_ == ScanPhase::kCarries) {
    return Scratch(k, /*before=*/false, Access::kRead);
  }
  const Shape& shape = scan_.source.body().shape(scan_.instruction.operands[k]);
  return kernel_->Parameter({KernelParameter::kOperand, static_cast<int>(k), 0,
                             shape.byte_size(), Access::kRead},
                            TypeName(shape.dtype()), true);
}

std::string ScanValues::Result(size_t k) {
  if (phase_ == ScanPhase::kCarries) {
    return Scratch(k, /*before=*/true, Access::kWrite);
  }
  const Shape& shape = scan_.source.body().shape(scan_.instruction.operands[k]);
  return kernel_->Parameter({KernelParameter::kResult, static_cast<int>(k), 0,
                             shape.byte_size(), Access::kWrite},
                            TypeName(shape.dtype()), false);
}

void ScanValues::Load(const std::string& run, const std::string& step) {
  TextWriter& body = kernel_->body();
  body.Line("const ", names_.type(), " from = ", Place(run, step), ";");
  const auto& dtypes = scan_.fold.dtypes;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    const std::string source = Source(k);
    if (width_ > 1) {
      body.Line("const Vector<", TypeName(dtypes[k]), ", ", width_, "> in", k,
                " = LoadVector<", width_, ">(", source, " + from);");
    } else if (phase_ == ScanPhase::kCarries) {
      body.Line("const ", ComputeTypeName(dtypes[k]), " in", k, " = Load(",
                source, " + from);");
    } else {
      body.Line("const ", TypeName(dtypes[k]), " in", k, " = Load(", source,
                " + from);");
    }
  }
  for (int e = 0; e < width_; ++e) {
    const int at = scan_.reverse ? width_ - 1 - e : e;
    std::vector<std::string> values;
    for (size_t k = 0; k < dtypes.size(); ++k) {
      const std::string in = width_ > 1 ? absl::StrCat("in", k, ".v[", at, "]")
                                        : absl::StrCat("in", k);
      const bool stored = phase_ != ScanPhase::kCarries;
      values.push_back(ValueText{in, dtypes[k], stored}.Computed());
    }
    const std::string part = scan_.fold.PartOf(values);
    body.Line("x", e, " = ",
              e == 0 ? part : Combined(absl::StrCat("x", e - 1), part), ";");
  }
}

void ScanValues::Store(const std::string& run, const std::string& step) {
  TextWriter& body = kernel_->body();
  body.Line("const ", names_.type(), " to = ", Place(run, step), ";");
  const auto& dtypes = scan_.fold.dtypes;
  const auto value = [&](int e, size_t k) {
    const std::string of = absl::StrCat("y", e);
    return ValueText{scan_.fold.Component(of, k), dtypes[k], false};
  };
  for (size_t k = 0; k < dtypes.size(); ++k) {
    const std::string result = Result(k);
    if (width_ == 1) {
      const ValueText y = value(0, k);
      body.Line("Store(", result, " + to, ",
                phase_ == ScanPhase::kCarries ? y.text : y.Stored(), ");");
      continue;
    }
    body.Line("Vector<", TypeName(dtypes[k]), ", ", width_, "> out", k, ";");
    for (int e = 0; e < width_; ++e) {
      body.Line("out", k, ".v[", scan_.reverse ? width_ - 1 - e : e,
                "] = ", value(e, k).Stored(), ";");
    }
    body.Line("StoreVector(", result, " + to, out", k, ");");
  }
}

void ScanValues::DeclareCarry(const std::string& name, const std::string& part,
                              const std::string& run) {
  TextWriter& body = kernel_->body();
  body.Line(scan_.fold.part(), " ", name, " = ", Identity(), ";");
  if (phase_ != ScanPhase::kParts) return;
  std::vector<std::string> values;
  for (size_t k = 0; k < scan_.fold.dtypes.size(); ++k) {
    values.push_back(absl::StrCat(
        "Load(", Scratch(k, /*before=*/true, Access::kRead), " + (", part,
        " * ", names_.Number(scan_.layout.runs.runs()), " + ", run, "))"));
  }
  body.Line("if (", part, " > 0u) ", name, " = ", scan_.fold.PartOf(values),
            ";");
}

void ScanValues::StoreTotal(const std::string& name, const std::string& part,
                            const std::string& run) {
  for (size_t k = 0; k < scan_.fold.dtypes.size(); ++k) {
    kernel_->body().Line("Store(", Scratch(k, /*before=*/false, Access::kWrite),
                         " + (", part, " * ",
                         names_.Number(scan_.layout.runs.runs()), " + ", run,
                         "), ", scan_.fold.Component(name, k), ");");
  }
}

}  // namespace hawser::gpu
