#include "tests/fuzz/inputs/message_edits.h"

#include <limits>

#include "google/protobuf/descriptor.h"

namespace hawser {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kBytesPerEdit = 6;

// One edit's way to say things.
struct Edit {
  uint32_t walk;
  uint8_t field, action, place, value;
};

// Small numbers as they are, then the edges of every width.
uint64_t IntegerOf(uint8_t byte) {
  if (byte < 192) return byte;
  if (byte < 255) return (uint64_t{1} << (byte - 191)) - 1;
  return ~uint64_t{0};
}

double FloatOf(uint8_t byte) {
  using Limits = std::numeric_limits<double>;
  const double kEdges[] = {Limits::quiet_NaN(), Limits::infinity(),
                           -Limits::infinity(), Limits::max(),
                           Limits::denorm_min(), -0.0, 1e39, 65520};
  if (byte < std::size(kEdges)) return kEdges[byte];
  return (byte - 128) / 4.0;
}

std::string WordOf(uint8_t byte, absl::Span<const std::string> words) {
  const char* const kEdges[] = {"", "f32[", "s4[2]", "u8[9223372036854775807]",
                                "f64[-1]", "\xFF", "bool[]", "bf16[2,0]"};
  const size_t at = byte % (words.size() + std::size(kEdges));
  return at < words.size() ? words[at] : kEdges[at - words.size()];
}

// The messages right under `message`.
std::vector<Message*> Children(Message* message) {
  const Reflection* r = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  r->ListFields(*message, &fields);
  std::vector<Message*> children;
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      children.push_back(r->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < r->FieldSize(*message, field); ++i) {
      children.push_back(r->MutableRepeatedMessage(message, field, i));
    }
  }
  return children;
}

// The digits of `walk`, to the base of each message's number of ways on.
Message* WalkTo(uint32_t walk, Message* message) {
  while (true) {
    const auto children = Children(message);
    const uint32_t way = walk % (children.size() + 1);
    if (way == children.size()) return message;
    walk /= children.size() + 1;
    message = children[way];
  }
}

void SetSingular(const FieldDescriptor* f, uint8_t byte,
                 absl::Span<const std::string> words, Message* message) {
  const Reflection* r = message->GetReflection();
  const uint64_t n = IntegerOf(byte);
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetInt32(message, f, static_cast<int32_t>(n));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetInt64(message, f, static_cast<int64_t>(n));
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->SetUInt32(message, f, static_cast<uint32_t>(n));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->SetUInt64(message, f, n);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetFloat(message, f, static_cast<float>(FloatOf(byte)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->SetDouble(message, f, FloatOf(byte));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->SetBool(message, f, byte % 2 != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetEnumValue(message, f, static_cast<int>(byte % 8));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetString(message, f, WordOf(byte, words));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      r->MutableMessage(message, f);
  }
}

// A new entry at the end.
void AddEntry(const FieldDescriptor* f, uint8_t byte,
              absl::Span<const std::string> words, Message* message) {
  const Reflection* r = message->GetReflection();
  const uint64_t n = IntegerOf(byte);
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->AddInt32(message, f, static_cast<int32_t>(n));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->AddInt64(message, f, static_cast<int64_t>(n));
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->AddUInt32(message, f, static_cast<uint32_t>(n));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->AddUInt64(message, f, n);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->AddFloat(message, f, static_cast<float>(FloatOf(byte)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->AddDouble(message, f, FloatOf(byte));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->AddBool(message, f, byte % 2 != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->AddEnumValue(message, f, static_cast<int>(byte % 8));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->AddString(message, f, WordOf(byte, words));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const int size = r->FieldSize(*message, f);
      Message* const added = r->AddMessage(message, f);
      // AddMessage may have moved the others.
      if (size > 0) {
        added->CopyFrom(r->GetRepeatedMessage(*message, f, byte % size));
      }
    }
  }
}

void EditRepeated(const FieldDescriptor* f, const Edit& edit,
                  absl::Span<const std::string> words, Message* message) {
  const Reflection* r = message->GetReflection();
  const int size = r->FieldSize(*message, f);
  if (size == 0 || edit.action % 4 == 0) {
    AddEntry(f, edit.value, words, message);
    return;
  }
  const int place = edit.place % size;
  switch (edit.action % 4) {
    case 1:  // remove
      r->SwapElements(message, f, place, size - 1);
      r->RemoveLast(message, f);
      break;
    case 2:
      r->SwapElements(message, f, place, edit.value % size);
      break;
    default:  // replace
      AddEntry(f, edit.value, words, message);
      r->SwapElements(message, f, place, size);
      r->RemoveLast(message, f);
  }
}

void Apply(const Edit& edit, absl::Span<const std::string> words,
           Message* root) {
  Message* const message = WalkTo(edit.walk, root);
  const auto* descriptor = message->GetDescriptor();
  if (descriptor->field_count() == 0) return;
  const FieldDescriptor* f =
      descriptor->field(edit.field % descriptor->field_count());
  if (f->is_repeated()) {
    EditRepeated(f, edit, words, message);
  } else if (edit.action % 4 == 0) {
    message->GetReflection()->ClearField(message, f);
  } else {
    SetSingular(f, edit.value, words, message);
  }
}

void CollectWords(const Message& message, std::vector<std::string>* words) {
  const Reflection* r = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  r->ListFields(message, &fields);
  for (const FieldDescriptor* f : fields) {
    const bool text = f->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    const bool nested = f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int size = f->is_repeated() ? r->FieldSize(message, f) : 1;
    for (int i = 0; (text || nested) && i < size; ++i) {
      if (nested) {
        CollectWords(f->is_repeated() ? r->GetRepeatedMessage(message, f, i)
                                      : r->GetMessage(message, f),
                     words);
      } else {
        words->push_back(f->is_repeated() ? r->GetRepeatedString(message, f, i)
                                          : r->GetString(message, f));
      }
    }
  }
}

}  // namespace

std::vector<std::string> WordsOf(const Message& message) {
  std::vector<std::string> words;
  CollectWords(message, &words);
  return words;
}

void EditMessage(absl::Span<const uint8_t> bytes,
                 absl::Span<const std::string> words, Message* message) {
  for (; bytes.size() >= kBytesPerEdit; bytes.remove_prefix(kBytesPerEdit)) {
    const Edit edit{bytes[0] | uint32_t{bytes[1]} << 8, bytes[2], bytes[3],
                    bytes[4], bytes[5]};
    Apply(edit, words, message);
  }
}

}  // namespace hawser
