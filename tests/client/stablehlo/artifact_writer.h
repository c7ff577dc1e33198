// ArtifactWriter: writes small portable artifacts of any version of MLIR's
// bytecode, right ones and wrong ones.
#ifndef HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_WRITER_H_
#define HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_WRITER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hawser::stablehlo {

// A number as MLIR writes it, in as few bytes as it takes.
inline std::string Coded(uint64_t value) {
  int bytes = 1;
  while (bytes < 9 && value >> (7 * bytes) != 0) ++bytes;
  if (bytes == 9) {
    std::string out(1, '\0');
    for (int i = 0; i < 8; ++i)
      out.push_back(static_cast<char>(value >> 8 * i));
    return out;
  }
  uint64_t shifted = (value << 1 | 1) << (bytes - 1);
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(shifted & 0xFF));
    shifted >>= 8;
  }
  return out;
}
inline std::string CodedSigned(int64_t value) {
  return Coded(static_cast<uint64_t>(value) << 1 ^
               static_cast<uint64_t>(value >> 63));
}

// What one op says; its numbers are those that the writer gave.
struct CodedOp {
  std::string name;                  // "vhlo.add_v1"
  std::vector<int> properties = {};  // attributes
  std::vector<int> results = {};     // types
  std::vector<int> operands = {};    // values
  std::vector<std::string> regions = {};
  bool isolated = false;
  bool has_properties = false;
};

// The strings, types and attributes of an artifact, each once, by number.
class ArtifactTables {
 public:
  int String(absl::string_view text) {
    const auto at = std::find(strings_.begin(), strings_.end(), text);
    if (at != strings_.end()) return static_cast<int>(at - strings_.begin());
    strings_.emplace_back(text);
    return static_cast<int>(strings_.size()) - 1;
  }
  int Type(const std::string& bytes) { return Add(&types_, {"vhlo", bytes}); }
  int Attribute(const std::string& dialect, const std::string& bytes) {
    return Add(&attributes_, {dialect, bytes});
  }
  int Vhlo(const std::string& bytes) { return Attribute("vhlo", bytes); }
  int Text(absl::string_view text) {
    return Vhlo(Coded(14) + Coded(static_cast<uint64_t>(String(text))));
  }
  int F32() { return Type(Coded(4)); }
  // A tensor of that element type.
  int Tensor(int element, const std::vector<int64_t>& dims) {
    std::string bytes = Coded(20) + Coded(dims.size());
    for (const int64_t size : dims) bytes += CodedSigned(size);
    return Type(bytes + Coded(static_cast<uint64_t>(element)));
  }
  int Elements(int type, absl::string_view raw) {
    return Vhlo(absl::StrCat(Coded(15), Coded(static_cast<uint64_t>(type)),
                             Coded(raw.size()), raw));
  }
  int FunctionType(const std::vector<int>& from, const std::vector<int>& to) {
    const int type = Type(Coded(8) + List(from) + List(to));
    return Vhlo(Coded(17) + Coded(static_cast<uint64_t>(type)));
  }
  int List(const std::vector<int>& items, int code) {
    return Vhlo(Coded(static_cast<uint64_t>(code)) + List(items));
  }

 protected:
  struct Entry {
    std::string dialect, bytes;
  };

  static int Add(std::vector<Entry>* entries, Entry entry) {
    for (size_t i = 0; i < entries->size(); ++i) {
      if ((*entries)[i].dialect == entry.dialect &&
          (*entries)[i].bytes == entry.bytes) {
        return static_cast<int>(i);
      }
    }
    entries->push_back(std::move(entry));
    return static_cast<int>(entries->size()) - 1;
  }
  static std::string List(const std::vector<int>& numbers) {
    std::string out = Coded(numbers.size());
    for (const int number : numbers)
      out += Coded(static_cast<uint64_t>(number));
    return out;
  }

  std::vector<std::string> strings_;
  std::vector<Entry> attributes_, types_;
};

class ArtifactWriter : public ArtifactTables {
 public:
  using ArtifactTables::List;
  explicit ArtifactWriter(int version = 6) : version_(version) {
    location_ = Attribute("builtin", Coded(15));  // unknown
  }

  // One block of a region: the types of its arguments, the number of values in
  // it, and its ops.
  std::string Region(const std::vector<int>& arguments, uint64_t values,
                     const std::vector<std::string>& ops) {
    return Coded(1) + Coded(values) + Block(arguments, ops);
  }
  std::string Block(const std::vector<int>& arguments,
                    const std::vector<std::string>& ops) {
    const bool has = !arguments.empty();
    std::string out = Coded(ops.size() << 1 | (has ? 1 : 0));
    if (has) {
      out += Coded(arguments.size());
      for (const int type : arguments) {
        const auto number = static_cast<uint64_t>(type);
        out += version_ >= 4 ? Coded(number << 1)
                             : Coded(number) + Coded(location());
      }
      if (version_ >= 3) out.push_back('\0');
    }
    for (const std::string& op : ops) out += op;
    return out;
  }
  std::string Op(const CodedOp& op) {
    const bool in_properties = version_ >= 5 && op.has_properties;
    std::string out = Coded(OpName(op.name));
    out.push_back(static_cast<char>(
        (op.results.empty() ? 0 : 2) | (op.operands.empty() ? 0 : 4) |
        (op.regions.empty() ? 0 : 0x10) | (in_properties ? 0x40 : 0)));
    out += Coded(location());
    if (in_properties) {
      std::string bytes;
      for (const int attribute : op.properties) {
        bytes += Coded(static_cast<uint64_t>(attribute));
      }
      properties_.push_back(bytes);
      out += Coded(properties_.size() - 1);
    }
    if (!op.results.empty()) out += List(op.results);
    if (!op.operands.empty()) out += List(op.operands);
    if (op.regions.empty()) return out;
    out += Coded(op.regions.size() << 1 | (op.isolated ? 1 : 0));
    std::string regions;
    for (const std::string& region : op.regions) regions += region;
    return out + (op.isolated && version_ >= 2 ? Section(4, regions) : regions);
  }

  // The file, of these ops.
  std::string File(const std::vector<std::string>& ops) {
    return FileOf(Block({}, ops));
  }
  std::string FileOf(const std::string& ops) {
    std::string out = "ML\xEFR";
    out += Coded(static_cast<uint64_t>(version_));
    out += std::string("test\0", 5);
    std::string offsets = Coded(attributes_.size()) + Coded(types_.size());
    std::string entries;
    const std::string dialects = Dialects();  // names its strings
    for (const auto* all : {&attributes_, &types_}) {
      for (const Entry& entry : *all) {
        offsets += Coded(Dialect(entry.dialect)) + Coded(1) +
                   Coded(entry.bytes.size() << 1 | 1);
        entries += entry.bytes;
      }
    }
    std::string properties = Coded(properties_.size());
    for (const std::string& bytes : properties_) {
      properties += Coded(bytes.size()) + bytes;
    }
    out += Section(0, Strings()) + Section(1, dialects) + Section(2, entries) +
           Section(3, offsets) + Section(4, ops);
    if (version_ >= 5) out += Section(8, properties);
    return out;
  }

  static std::string Section(uint8_t id, const std::string& bytes) {
    return std::string(1, static_cast<char>(id)) + Coded(bytes.size()) + bytes;
  }

 private:
  uint64_t location() const { return static_cast<uint64_t>(location_); }
  uint64_t Dialect(const std::string& name) {
    return name == "builtin" ? 0 : name == "vhlo" ? 1 : 2;
  }
  uint64_t OpName(const std::string& name) {
    const auto at = std::find(ops_.begin(), ops_.end(), name);
    if (at != ops_.end()) return static_cast<uint64_t>(at - ops_.begin());
    ops_.push_back(name);
    return ops_.size() - 1;
  }
  std::string Dialects() {
    std::string out = Coded(3);
    for (const char* name : {"builtin", "vhlo", "other"}) {
      const auto number = static_cast<uint64_t>(String(name));
      out += Coded(version_ >= 1 ? number << 1 : number);
    }
    if (version_ >= 4) out += Coded(ops_.size());
    for (const std::string& op : ops_) {
      const size_t dot = op.find('.');
      const auto number = static_cast<uint64_t>(String(op.substr(dot + 1)));
      out += Coded(Dialect(op.substr(0, dot))) + Coded(1) +
             Coded(version_ >= 5 ? number << 1 | 1 : number);
    }
    return out;
  }
  std::string Strings() const {
    std::string out = Coded(strings_.size()), bytes;
    for (size_t i = strings_.size(); i-- > 0;) {
      out += Coded(strings_[i].size() + 1);
    }
    for (const std::string& one : strings_) {
      bytes += one;
      bytes.push_back('\0');
    }
    return out + bytes;
  }

  const int version_;
  int location_ = 0;
  std::vector<std::string> ops_, properties_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_WRITER_H_
