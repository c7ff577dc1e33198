// A good module with some entries of its columns changed: gets deeper than
// arbitrary bytes, which mostly fail at the first column. The first byte
// chooses the module, every four after it one edit: column, place (two), value.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/wire/codec.h"
#include "proto/graph.pb.h"
#include "tests/fuzz/inputs/sound_decode.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

const std::vector<v1::ModuleProto>& Originals() {
  static const auto* const originals = [] {
    auto* all = new std::vector<v1::ModuleProto>;
    for (const NamedModule& sample : SampleModules()) {
      all->emplace_back().ParseFromString(EncodeModule(sample.module));
    }
    for (uint64_t seed = 0; seed < 26; ++seed) {
      all->emplace_back().ParseFromString(EncodeModule(RandomModule(seed)));
    }
    return all;
  }();
  return *originals;
}

// Small numbers as they are, then the edges of every width.
uint64_t ValueOf(uint8_t byte) {
  if (byte < 192) return byte;
  if (byte < 255) return (uint64_t{1} << (byte - 191)) - 1;
  return ~uint64_t{0};
}

void SetEntry(const FieldDescriptor* field, int place, uint8_t byte,
              v1::ModuleProto* proto) {
  const Reflection* r = proto->GetReflection();
  const uint64_t value = ValueOf(byte);
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      r->SetRepeatedUInt32(proto, field, place, static_cast<uint32_t>(value));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      r->SetRepeatedUInt64(proto, field, place, value);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      r->SetRepeatedInt64(proto, field, place, static_cast<int64_t>(value));
      break;
    default:  // strings and blobs: repeat a letter
      r->SetRepeatedString(proto, field, place,
                           std::string(value % 64, static_cast<char>('a')));
  }
}

void Edit(const uint8_t* edit, v1::ModuleProto* proto) {
  const auto* descriptor = v1::ModuleProto::descriptor();
  const FieldDescriptor* field =
      descriptor->field(edit[0] % descriptor->field_count());
  if (!field->is_repeated()) return;
  const int size = proto->GetReflection()->FieldSize(*proto, field);
  if (size == 0) return;
  const int place = (edit[1] | edit[2] << 8) % size;
  if (edit[1] == 255) {
    proto->GetReflection()->SwapElements(proto, field, place, edit[3] % size);
  } else {
    SetEntry(field, place, edit[3], proto);
  }
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto& originals = hawser::Originals();
  hawser::v1::ModuleProto proto = originals[data[0] % originals.size()];
  for (size_t at = 1; at + 4 <= size; at += 4) {
    hawser::Edit(data + at, &proto);
  }
  hawser::CheckSoundDecode(proto.SerializeAsString());
  return 0;
}
