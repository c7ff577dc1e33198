#include "client/stablehlo/bytecode/container.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

constexpr absl::string_view kMagic = "ML\xEFR";
constexpr uint64_t kNewest = 6;
// The versions that brought these.
constexpr uint64_t kDialectVersions = 1, kOpCounts = 4, kOpFlags = 5;

using Sections = std::array<std::optional<absl::string_view>, kSectionIds>;

absl::StatusOr<Sections> ReadSections(Cursor* cursor, const Source& source) {
  Sections sections;
  while (!cursor->done()) {
    const char* const begin = cursor->at();
    HAWSER_ASSIGN_OR_RETURN(const Section section, ReadSection(cursor, source));
    auto& at = sections[static_cast<size_t>(section.id)];
    if (at.has_value()) {
      return source.Invalid(begin, "section ", static_cast<int>(section.id),
                            " stands twice");
    }
    at = section.bytes;
  }
  return sections;
}

// The lengths, of which each counts a NUL, stand before the bytes, the last
// string's first.
absl::Status ReadStrings(Cursor cursor,
                         std::vector<absl::string_view>* strings) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
  std::vector<uint64_t> sizes;
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(sizes.emplace_back(), cursor.Number());
    if (sizes.back() == 0 || sizes.back() > cursor.left()) {
      return cursor.Invalid("a string of ", sizes.back(), " bytes");
    }
    all += sizes.back();
  }
  if (all != cursor.left()) {
    return cursor.Invalid("strings of ", all, " bytes stand in ",
                          cursor.left());
  }
  for (size_t i = count; i-- > 0;) {
    HAWSER_ASSIGN_OR_RETURN(const absl::string_view one, cursor.Take(sizes[i]));
    if (one.back() != '\0') return cursor.Invalid("a string has no end");
    strings->push_back(one.substr(0, one.size() - 1));
  }
  return absl::OkStatus();
}

// Reads the dialects' names, then those of all ops, dialect by dialect.
absl::Status ReadDialects(Cursor cursor, const Source& source,
                          TreeStrings* kept, Container* to,
                          std::vector<absl::string_view>* dialects) {
  const auto name = [&](bool has_flag,
                        bool* flag) -> absl::StatusOr<absl::string_view> {
    const char* const begin = cursor.at();
    HAWSER_ASSIGN_OR_RETURN(uint64_t number, cursor.Number());
    if (has_flag) {
      *flag = (number & 1) != 0;
      number >>= 1;
    }
    if (number >= to->strings.size()) {
      return source.Invalid(begin, "string ", number, " of ",
                            to->strings.size());
    }
    return to->strings[number];
  };
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
  for (size_t i = 0; i < count; ++i) {
    bool has_version = false;
    HAWSER_ASSIGN_OR_RETURN(
        dialects->emplace_back(),
        name(to->version >= kDialectVersions, &has_version));
    if (has_version) {
      HAWSER_RETURN_IF_ERROR(ReadSection(&cursor, source).status());
    }
  }
  if (to->version >= kOpCounts && !cursor.done()) {
    HAWSER_RETURN_IF_ERROR(cursor.Number().status());
  }
  while (!cursor.done()) {
    HAWSER_ASSIGN_OR_RETURN(const size_t d,
                            cursor.Index(dialects->size(), "dialects"));
    HAWSER_ASSIGN_OR_RETURN(const size_t ops, cursor.Count());
    for (size_t i = 0; i < ops; ++i) {
      bool is_registered = false;
      HAWSER_ASSIGN_OR_RETURN(const absl::string_view op,
                              name(to->version >= kOpFlags, &is_registered));
      kept->push_back(absl::StrCat((*dialects)[d], ".", op));
      to->op_names.push_back(kept->back());
    }
  }
  return absl::OkStatus();
}

absl::Status ReadOffsets(Cursor cursor, Cursor bytes,
                         const std::vector<absl::string_view>& dialects,
                         Container* to) {
  HAWSER_ASSIGN_OR_RETURN(const size_t attributes, cursor.Count());
  HAWSER_ASSIGN_OR_RETURN(const size_t types, cursor.Count());
  const auto read = [&](size_t count,
                        std::vector<CodedEntry>* entries) -> absl::Status {
    while (entries->size() < count) {
      HAWSER_ASSIGN_OR_RETURN(const size_t d,
                              cursor.Index(dialects.size(), "dialects"));
      HAWSER_ASSIGN_OR_RETURN(const size_t group, cursor.Count());
      for (size_t i = 0; i < group; ++i) {
        HAWSER_ASSIGN_OR_RETURN(const uint64_t size, cursor.Number());
        HAWSER_ASSIGN_OR_RETURN(const absl::string_view own,
                                bytes.Take(size >> 1));
        entries->push_back({dialects[d], (size & 1) == 0, own});
      }
      if (group == 0) return cursor.Invalid("an empty group");
    }
    return entries->size() == count
               ? absl::OkStatus()
               : cursor.Invalid("more entries than ", count);
  };
  HAWSER_RETURN_IF_ERROR(read(attributes, &to->attributes));
  return read(types, &to->types);
}

absl::Status ReadProperties(Cursor cursor,
                            std::vector<absl::string_view>* properties) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const uint64_t size, cursor.Number());
    HAWSER_ASSIGN_OR_RETURN(properties->emplace_back(), cursor.Take(size));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Section> ReadSection(Cursor* cursor, const Source& source) {
  const char* const begin = cursor->at();
  HAWSER_ASSIGN_OR_RETURN(const uint8_t id, cursor->Byte());
  HAWSER_ASSIGN_OR_RETURN(const uint64_t size, cursor->Number());
  if ((id & 0x80) != 0) {
    HAWSER_ASSIGN_OR_RETURN(const uint64_t alignment, cursor->Number());
    HAWSER_RETURN_IF_ERROR(cursor->Align(alignment));
  }
  if ((id & 0x7F) >= kSectionIds) {
    return source.Invalid(begin, "there is no section ", id & 0x7F);
  }
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view bytes, cursor->Take(size));
  return Section{static_cast<SectionId>(id & 0x7F), bytes};
}

absl::StatusOr<Container> ReadContainer(const Source& source,
                                        TreeStrings* strings) {
  Cursor cursor(&source, source.text());
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view magic,
                          cursor.Take(kMagic.size()));
  if (magic != kMagic) return source.Invalid(magic.data(), "no MLIR bytecode");
  Container container;
  HAWSER_ASSIGN_OR_RETURN(container.version, cursor.Number());
  if (container.version > kNewest) {
    return source.Error(
        absl::StatusCode::kUnimplemented, cursor.at(),
        absl::StrCat("MLIR bytecode of version ", container.version,
                     "; hawser reads up to ", kNewest));
  }
  const size_t end = cursor.rest().find('\0');
  if (end == absl::string_view::npos) return cursor.Invalid("no producer");
  HAWSER_ASSIGN_OR_RETURN(container.producer, cursor.Take(end + 1));
  container.producer.remove_suffix(1);
  HAWSER_ASSIGN_OR_RETURN(const Sections sections,
                          ReadSections(&cursor, source));
  const auto section = [&](SectionId id) {
    return sections[static_cast<size_t>(id)];
  };
  for (const SectionId id :
       {SectionId::kStrings, SectionId::kDialects, SectionId::kEntries,
        SectionId::kOffsets, SectionId::kOps}) {
    if (section(id).has_value()) continue;
    return cursor.Invalid("section ", static_cast<int>(id), " is not there");
  }
  HAWSER_RETURN_IF_ERROR(ReadStrings(
      Cursor(&source, *section(SectionId::kStrings)), &container.strings));
  std::vector<absl::string_view> dialects;
  HAWSER_RETURN_IF_ERROR(
      ReadDialects(Cursor(&source, *section(SectionId::kDialects)), source,
                   strings, &container, &dialects));
  HAWSER_RETURN_IF_ERROR(ReadOffsets(
      Cursor(&source, *section(SectionId::kOffsets)),
      Cursor(&source, *section(SectionId::kEntries)), dialects, &container));
  if (const auto properties = section(SectionId::kProperties)) {
    HAWSER_RETURN_IF_ERROR(
        ReadProperties(Cursor(&source, *properties), &container.properties));
  }
  container.ops = *section(SectionId::kOps);
  return container;
}

}  // namespace hawser::stablehlo
