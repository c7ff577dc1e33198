#include "client/stablehlo/bytecode/dialects/sdy.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"

namespace hawser::stablehlo::sdy {
namespace {

// Codes of attributes in artifacts, as shardy's bytecode.td numbers them.
enum Code : uint64_t {
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxis = 3,
  kAxis = 4,
  kDimension = 5,
  kSharding = 6,
  kShardingWithUnreduced = 15,
  kShardingWithReduction = 17,
};

// One attribute while it is decoded.
class Decoder {
 public:
  Decoder(Cursor cursor, const std::vector<absl::string_view>& strings,
          size_t num_attributes, AttributeAt at)
      : cursor_(cursor),
        strings_(strings),
        num_attributes_(num_attributes),
        at_(at) {}

  absl::StatusOr<std::string> Text() {
    HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor_.Number());
    switch (code) {
      case kMeshAxis:
        return MeshAxis();
      case kMesh:
        return Mesh();
      case kSubAxis:
        return SubAxis();
      case kAxis:
        return Axis();
      case kDimension:
        return Dimension();
      case kSharding:
      case kShardingWithUnreduced:
      case kShardingWithReduction:
        return Sharding(code != kSharding);
      default:
        return std::string();
    }
  }

 private:
  absl::StatusOr<std::string> Name() {
    HAWSER_ASSIGN_OR_RETURN(const size_t index,
                            cursor_.Index(strings_.size(), "strings"));
    return absl::StrCat("\"", absl::CHexEscape(strings_[index]), "\"");
  }
  absl::StatusOr<std::string> TextAt(size_t index) {
    HAWSER_ASSIGN_OR_RETURN(const AttributePtr value, at_(index));
    if (value == nullptr) return cursor_.Invalid("an attribute that is none");
    if (value->kind == Attribute::kSymbol) {
      return absl::StrCat("@", value->text);
    }
    return std::string(value->text);
  }
  // Returns "a, b" of a list of attributes.
  absl::StatusOr<std::string> List() {
    HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor_.Count());
    std::vector<std::string> items;
    for (size_t i = 0; i < count; ++i) {
      HAWSER_ASSIGN_OR_RETURN(const size_t index,
                              cursor_.Index(num_attributes_, "attributes"));
      HAWSER_ASSIGN_OR_RETURN(std::string item, TextAt(index));
      items.push_back(std::move(item));
    }
    return absl::StrJoin(items, ", ");
  }

  absl::StatusOr<std::string> MeshAxis() {
    HAWSER_ASSIGN_OR_RETURN(const std::string name, Name());
    HAWSER_ASSIGN_OR_RETURN(const int64_t size, cursor_.Signed());
    return absl::StrCat(name, "=", size);
  }
  absl::StatusOr<std::string> Mesh() {
    HAWSER_ASSIGN_OR_RETURN(const std::string axes, List());
    HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor_.Count());
    std::vector<int64_t> ids;
    for (size_t i = 0; i < count; ++i) {
      HAWSER_ASSIGN_OR_RETURN(const int64_t id, cursor_.Signed());
      ids.push_back(id);
    }
    return absl::StrCat(
        "<[", axes, "]",
        ids.empty()
            ? ""
            : absl::StrCat(", device_ids=[", absl::StrJoin(ids, ", "), "]"),
        ">");
  }
  absl::StatusOr<std::string> SubAxis() {
    HAWSER_ASSIGN_OR_RETURN(const int64_t before, cursor_.Signed());
    HAWSER_ASSIGN_OR_RETURN(const int64_t size, cursor_.Signed());
    return absl::StrCat(":(", before, ")", size);
  }
  absl::StatusOr<std::string> Axis() {
    HAWSER_ASSIGN_OR_RETURN(const std::string name, Name());
    // The lowest bit says whether there is one.
    HAWSER_ASSIGN_OR_RETURN(const uint64_t sub, cursor_.Number());
    if ((sub & 1) == 0) return name;
    if ((sub >> 1) >= num_attributes_) {
      return cursor_.Invalid("there is no attribute ", sub >> 1);
    }
    HAWSER_ASSIGN_OR_RETURN(const std::string part, TextAt(sub >> 1));
    return absl::StrCat(name, part);
  }
  // Priorities, which come behind, say nothing of where parts lie.
  absl::StatusOr<std::string> Dimension() {
    HAWSER_ASSIGN_OR_RETURN(const std::string axes, List());
    HAWSER_ASSIGN_OR_RETURN(const uint8_t closed, cursor_.Byte());
    return absl::StrCat("{", axes,
                        closed != 0    ? ""
                        : axes.empty() ? "?"
                                       : ", ?",
                        "}");
  }
  absl::StatusOr<std::string> Sharding(bool with_unreduced) {
    HAWSER_ASSIGN_OR_RETURN(const size_t index,
                            cursor_.Index(num_attributes_, "attributes"));
    HAWSER_ASSIGN_OR_RETURN(const std::string mesh, TextAt(index));
    HAWSER_ASSIGN_OR_RETURN(const std::string dimensions, List());
    HAWSER_ASSIGN_OR_RETURN(const std::string replicated, List());
    std::string unreduced;
    if (with_unreduced) {
      HAWSER_ASSIGN_OR_RETURN(unreduced, List());
    }
    const auto named = [](absl::string_view name, absl::string_view axes) {
      return axes.empty() ? "" : absl::StrCat(", ", name, "={", axes, "}");
    };
    return absl::StrCat("#sdy.sharding<", mesh, ", [", dimensions, "]",
                        named("replicated", replicated),
                        named("unreduced", unreduced), ">");
  }

  Cursor cursor_;
  const std::vector<absl::string_view>& strings_;
  const size_t num_attributes_;
  const AttributeAt at_;
};

}  // namespace

absl::StatusOr<std::string> TextOf(
    Cursor cursor, const std::vector<absl::string_view>& strings,
    size_t num_attributes, AttributeAt at) {
  return Decoder(cursor, strings, num_attributes, at).Text();
}

const std::vector<absl::string_view>* DeclaredAttributes(
    absl::string_view name) {
  static const auto& mesh =
      *new std::vector<absl::string_view>{"mesh", "sym_name"};
  return name == "sdy.mesh" ? &mesh : nullptr;
}

}  // namespace hawser::stablehlo::sdy
