#include "core/sharding/shard_spec.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using Kind = AxisCut::Kind;
using Contracted = ShardSpec::Contracted;

std::string NameOf(const AxisCut& cut, bool result) {
  return absl::StrCat("axis ", cut.axis, " of ",
                      result ? "result " : "argument ", cut.value);
}

// The axis from the front, or -1.
int FromFront(int axis, int rank) {
  const int front = axis < 0 ? axis + rank : axis;
  return front < 0 || front >= rank ? -1 : front;
}

absl::StatusOr<AxisCut> ParseCut(absl::string_view word) {
  const auto wrong = [&] {
    return InvalidArgument("\"", word, "\" is no cut: must be ARGUMENT.AXIS",
                           " and then /PARTS, =SIZE+SIZE..., * or .");
  };
  AxisCut cut;
  absl::string_view rest = word;
  const auto number = [&](int* to) {
    size_t digits = rest.empty() || rest[0] != '-' ? 0 : 1;
    while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
    const bool ok = absl::SimpleAtoi(rest.substr(0, digits), to);
    rest.remove_prefix(digits);
    return ok;
  };
  if (!number(&cut.value) || !absl::ConsumePrefix(&rest, ".") ||
      !number(&cut.axis) || cut.value < 0 || rest.empty()) {
    return wrong();
  }
  const char how = rest[0];
  rest.remove_prefix(1);
  if (how == '/') {
    cut.kind = Kind::kParts;
    return absl::SimpleAtoi(rest, &cut.parts) ? absl::StatusOr<AxisCut>(cut)
                                              : wrong();
  }
  if (how == '=') {
    cut.kind = Kind::kSizes;
    for (absl::string_view size : absl::StrSplit(rest, '+')) {
      if (!absl::SimpleAtoi(size, &cut.sizes.emplace_back())) return wrong();
    }
    return cut;
  }
  if (!rest.empty() || (how != '*' && how != '.')) return wrong();
  cut.kind = how == '*' ? Kind::kEveryIndex : Kind::kWhole;
  return cut;
}

std::string TextOf(const AxisCut& cut) {
  const std::string name = absl::StrCat(cut.value, ".", cut.axis);
  switch (cut.kind) {
    case Kind::kParts:
      return absl::StrCat(name, "/", cut.parts);
    case Kind::kSizes:
      return absl::StrCat(name, "=", absl::StrJoin(cut.sizes, "+"));
    case Kind::kEveryIndex:
      return name + "*";
    case Kind::kWhole:
      break;
  }
  return name + ".";
}

absl::Status CheckCut(const AxisCut& cut, bool result, int64_t size,
                      int64_t max_tasks) {
  if (cut.kind == Kind::kParts) {
    if (cut.parts < 1) {
      return InvalidArgument(NameOf(cut, result), ": cut into ", cut.parts,
                             " parts");
    }
    if (std::min(cut.parts, size) > max_tasks) {
      return InvalidArgument(NameOf(cut, result), ": ", cut.parts,
                             " parts are more than ", max_tasks, " tasks");
    }
  }
  if (cut.kind != Kind::kSizes) return absl::OkStatus();
  int64_t sum = 0;
  for (int64_t part : cut.sizes) {
    if (part < 0 || part > size - sum) {
      return InvalidArgument(NameOf(cut, result), ": sizes ",
                             absl::StrJoin(cut.sizes, "+"),
                             " do not lie within ", size);
    }
    sum += part;
  }
  if (sum != size) {
    return InvalidArgument(NameOf(cut, result), ": sizes ",
                           absl::StrJoin(cut.sizes, "+"), " add up to ", sum,
                           ", the axis has ", size);
  }
  if (static_cast<int64_t>(cut.sizes.size()) > max_tasks) {
    return InvalidArgument(NameOf(cut, result), ": ", cut.sizes.size(),
                           " parts are more than ", max_tasks, " tasks");
  }
  return absl::OkStatus();
}

absl::Status CheckCuts(absl::Span<const AxisCut> cuts, bool result,
                       absl::Span<const Shape> shapes, int64_t max_tasks) {
  std::set<std::pair<int, int>> named;
  for (const AxisCut& cut : cuts) {
    if (cut.value < 0 || cut.value >= static_cast<int>(shapes.size())) {
      return InvalidArgument(NameOf(cut, result), ": there are ", shapes.size(),
                             result ? " results" : " arguments");
    }
    const Shape& shape = shapes[cut.value];
    const int axis = FromFront(cut.axis, shape.rank());
    if (axis < 0) {
      return InvalidArgument(NameOf(cut, result), ": it is ", shape.ToString());
    }
    if (!named.insert({cut.value, axis}).second) {
      return InvalidArgument(NameOf(cut, result), " is cut twice");
    }
    HAWSER_RETURN_IF_ERROR(CheckCut(cut, result, shape.dim(axis), max_tasks));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShardSpec> ParseShardSpec(absl::string_view text) {
  ShardSpec spec;
  for (absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    if (word == "split" || word == "refuse") {
      spec.contracted =
          word == "split" ? Contracted::kSplit : Contracted::kRefuse;
      continue;
    }
    const bool result = absl::ConsumePrefix(&word, "r");
    HAWSER_ASSIGN_OR_RETURN(AxisCut cut, ParseCut(word));
    (result ? spec.results : spec.parameters).push_back(std::move(cut));
  }
  return spec;
}

std::string ToString(const ShardSpec& spec) {
  std::vector<std::string> words;
  for (const AxisCut& cut : spec.parameters) words.push_back(TextOf(cut));
  for (const AxisCut& cut : spec.results) words.push_back("r" + TextOf(cut));
  if (spec.contracted != Contracted::kWhole) {
    words.push_back(spec.contracted == Contracted::kSplit ? "split" : "refuse");
  }
  return absl::StrJoin(words, " ");
}

absl::StatusOr<ShardSpec> FromMesh(
    absl::Span<const MeshAxis> mesh,
    absl::Span<const std::vector<MeshCut>> parameters) {
  ShardSpec spec;
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::set<std::string> used;
    for (const MeshCut& cut : parameters[i]) {
      AxisCut own{.value = static_cast<int>(i),
                  .axis = cut.axis,
                  .kind = Kind::kParts,
                  .parts = 1,
                  .sizes = {}};
      for (const std::string& name : cut.mesh_axes) {
        const auto at =
            std::find_if(mesh.begin(), mesh.end(),
                         [&](const MeshAxis& one) { return one.name == name; });
        if (at == mesh.end() || at->size < 1) {
          return InvalidArgument("argument ", i, ": the mesh has no axis \"",
                                 name, "\" of at least one device");
        }
        if (!used.insert(name).second) {
          return InvalidArgument("argument ", i, ": mesh axis \"", name,
                                 "\" cuts it twice");
        }
        own.parts *= at->size;
      }
      spec.parameters.push_back(std::move(own));
    }
  }
  return spec;
}

absl::Status CheckShardSpec(const ShardSpec& spec,
                            const ir::Signature& signature) {
  if (spec.max_tasks < 1) {
    return InvalidArgument("at most ", spec.max_tasks, " tasks");
  }
  HAWSER_RETURN_IF_ERROR(CheckCuts(spec.parameters, /*result=*/false,
                                   signature.parameters, spec.max_tasks));
  return CheckCuts(spec.results, /*result=*/true, signature.results,
                   spec.max_tasks);
}

ShardSpec ForPlaces(ShardSpec spec, int64_t places) {
  for (auto* cuts : {&spec.parameters, &spec.results}) {
    for (AxisCut& cut : *cuts) {
      if (cut.kind == Kind::kParts && cut.parts == 0) cut.parts = places;
    }
  }
  return spec;
}

std::vector<int64_t> BoundariesOf(const AxisCut& cut, int64_t size) {
  std::vector<int64_t> boundaries;
  const auto add = [&](int64_t at) {
    if (at > 0 && at < size && (boundaries.empty() || boundaries.back() < at)) {
      boundaries.push_back(at);
    }
  };
  switch (cut.kind) {
    case Kind::kParts: {
      const int64_t parts = std::min(cut.parts, size);
      for (int64_t i = 1; i < parts; ++i) {
        add(i * (size / parts) + std::min(i, size % parts));
      }
      break;
    }
    case Kind::kSizes: {
      int64_t at = 0;
      for (int64_t part : cut.sizes) add(at += part);
      break;
    }
    case Kind::kEveryIndex:
      for (int64_t i = 1; i < size; ++i) add(i);
      break;
    case Kind::kWhole:
      break;
  }
  return boundaries;
}

}  // namespace hawser
