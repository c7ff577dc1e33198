// Set, Get: fields of structs that may be shorter or longer than ours.
#ifndef HAWSER_CLIENT_PJRT_ABI_STRUCT_FIELDS_H_
#define HAWSER_CLIENT_PJRT_ABI_STRUCT_FIELDS_H_

#include <cstddef>

namespace hawser::pjrt {

// True if the caller's struct, which says its size, has the field.
template <typename Args, typename T>
bool Has(const Args& args, T Args::*field) {
  const auto* begin = reinterpret_cast<const char*>(&args);
  const auto* end = reinterpret_cast<const char*>(&(args.*field)) + sizeof(T);
  return static_cast<size_t>(end - begin) <= args.header.struct_size;
}

// The field, or what stands for it in a shorter struct.
template <typename Args, typename T>
T Get(const Args& args, T Args::*field, T fallback = T()) {
  return Has(args, field) ? args.*field : fallback;
}

// Does nothing where the struct is too short.
template <typename Args, typename T>
void Set(Args* args, T Args::*field, T value) {
  if (Has(*args, field)) args->*field = value;
}

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_STRUCT_FIELDS_H_
