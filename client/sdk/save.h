// Save, Freeze and Load: tensors, and structures of them, as files and datasets
// of named arrays.
#ifndef HAWSER_CLIENT_SDK_SAVE_H_
#define HAWSER_CLIENT_SDK_SAVE_H_

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/client/dataset.h"
#include "client/sdk/client/options.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"
#include "core/ir/source_location.h"

namespace hawser {

// HawserNames, declared next to HawserFields, names the fields of a struct in
// files, in the same order. If there is no HawserNames, they are called "0",
// "1" and so on.
//   auto HawserNames(const Layer&) { return std::array{"weight", "bias"}; }
template <typename T>
concept HasNames = requires(const T& value) {
  HawserNames(value);
};

namespace sdk {

// Save and Freeze without their types. A lone tensor has the name "".
absl::Status SaveTensors(const std::string& path,
                         absl::Span<const NamedTensor> tensors,
                         const RunOptions& options);
absl::StatusOr<Dataset> FreezeTensors(const std::string& name,
                                      std::vector<NamedTensor> tensors,
                                      const FreezeOptions& options);

// Named arrays while a structure is made of them.
class LoadedArrays {
 public:
  static absl::StatusOr<LoadedArrays> Read(const std::string& path,
                                           SourceLocation where);
  static absl::StatusOr<LoadedArrays> Of(const Dataset& dataset);
  // The array of this name; "": the only one. If there is no such array: a
  // tensor without a value, which Finish reports.
  Tensor Take(const std::string& name);
  // Returns how many entries a vector of this name has: those that arrays are
  // named after, from 0 up.
  size_t CountEntries(const std::string& name) const;
  // Errors: kInvalidArgument naming arrays that were missing or not taken.
  absl::Status Finish() const;

 private:
  std::string source_;                               // a path or a token
  absl::flat_hash_map<std::string, Tensor> arrays_;  // not taken yet
  std::vector<std::string> missing_;
};

// "layers.0.weight" of "layers.0" and "weight".
std::string NameOf(const std::string& whole, const std::string& part);
inline std::string NameOf(const std::string& whole, size_t part) {
  return NameOf(whole, std::to_string(part));
}

// Calls visitor.OnTensor(name, tensor) for every tensor of a structure, and
// visitor.OnVector(name, vector) before those of a vector, which it may resize.
template <typename T>
struct NamedParts {
  template <typename Visitor>
  static void Visit(T& value, const std::string& name, Visitor& visitor) {
    if constexpr (HasFields<T>) {
      auto fields = HawserFields(value);
      VisitTuple(fields, NamesOf(value), name, visitor);
    } else {
      VisitTuple(value, NumbersOf<T>(), name, visitor);
    }
  }

 private:
  template <typename Tuple>
  static auto NumbersOf() {
    std::array<std::string, std::tuple_size_v<Tuple>> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
    return names;
  }
  static auto NamesOf(T& value) {
    using Fields = decltype(HawserFields(value));
    if constexpr (HasNames<T>) {
      auto names = HawserNames(std::as_const(value));
      static_assert(names.size() == std::tuple_size_v<Fields>,
                    "HawserNames gives a name for each of HawserFields");
      return names;
    } else {
      return NumbersOf<Fields>();
    }
  }
  template <typename Tuple, typename Names, typename Visitor>
  static void VisitTuple(Tuple& parts, const Names& names,
                         const std::string& name, Visitor& visitor) {
    size_t i = 0;
    std::apply(
        [&](auto&... part) {
          (NamedParts<std::remove_cvref_t<decltype(part)>>::Visit(
               part, NameOf(name, std::string(names[i++])), visitor),
           ...);
        },
        parts);
  }
};
template <>
struct NamedParts<Tensor> {
  template <typename Visitor>
  static void Visit(Tensor& tensor, const std::string& name, Visitor& visitor) {
    visitor.OnTensor(name, tensor);
  }
};
template <typename T>
struct NamedParts<std::vector<T>> {
  template <typename Visitor>
  static void Visit(std::vector<T>& parts, const std::string& name,
                    Visitor& visitor) {
    visitor.OnVector(name, parts);
    for (size_t i = 0; i < parts.size(); ++i) {
      NamedParts<T>::Visit(parts[i], NameOf(name, i), visitor);
    }
  }
};

struct Collector {
  std::vector<NamedTensor> tensors;
  void OnTensor(const std::string& name, Tensor& tensor) {
    tensors.push_back({name, tensor});
  }
  template <typename T>
  void OnVector(const std::string&, std::vector<T>&) {}
};
struct Filler {
  LoadedArrays arrays;
  void OnTensor(const std::string& name, Tensor& tensor) {
    tensor = arrays.Take(name);
  }
  template <typename T>
  void OnVector(const std::string& name, std::vector<T>& parts) {
    parts.resize(arrays.CountEntries(name));
  }
};
template <typename T>
absl::StatusOr<T> Filled(LoadedArrays arrays) {
  static_assert(kHoldsTensors<T>,
                "Load gives Tensors and structures of Tensors");
  Filler filler{std::move(arrays)};
  T structure{};
  NamedParts<T>::Visit(structure, "", filler);
  HAWSER_RETURN_IF_ERROR(filler.arrays.Finish());
  return structure;
}

}  // namespace sdk

// Writes tensors to a file, under another name first, so that `path` never
// holds half of it.
//   absl::Status saved = Save("model.safetensors", model);
// path: ends in ".safetensors", ".npz", or, for one tensor, ".npy".
// structure: a Tensor or a structure of Tensors (structure.h). Each tensor is
// called after the fields on the way to it, with dots between: "layers.0.w";
// see HawserNames; entries of tuples and vectors are numbers; a lone tensor in
// a file with names is called "tensor". options: as for Fetch; the deadline is
// for all of it. Runs what was recorded in one execution, and blocks until the
// file is there.
// Errors: those of Fetch, naming the tensor; kInvalidArgument for another
// ending, a structure in an npy file, names that the format cannot hold, and a
// dtype it cannot: bf16 in npz and npy; what the file system says. c128 in
// safetensors is read by hawser alone.
template <typename T>
absl::Status Save(const std::string& path, T structure,
                  const RunOptions& options = {}) {
  static_assert(sdk::kHoldsTensors<T>,
                "Save takes Tensors and structures of Tensors");
  sdk::Collector collector;
  sdk::NamedParts<T>::Visit(structure, "", collector);
  return sdk::SaveTensors(path, collector.tensors, options);
}

// Makes the tensors of a structure a dataset where they are, named as Save
// names them, and lets "@name" stand for it, also where that stood for another
// before.
//   absl::StatusOr<Dataset> frozen = Freeze("model", model);
//   absl::StatusOr<Model> again = Load<Model>(*client.Dataset("@model"));
//   for (...) OrExit(Freeze("run", model, {.keep = 3}));  // the last three
// name: what CheckTag (core/runtime/dataset.h) takes, with or without its "@";
// "": no tag. structure: as for Save. options: where, unless the tensors are on
// a client already, within which time, and how many of this name are kept (by
// one program at a time: others must not freeze the name meanwhile). See
// Client::Freeze for what a frozen dataset is and when this returns.
// Errors: those of Client::Freeze and Client::Tag; kInvalidArgument for a
// negative keep, or for one without a name.
template <typename T>
absl::StatusOr<Dataset> Freeze(const std::string& name, T structure,
                               const FreezeOptions& options = {}) {
  static_assert(sdk::kHoldsTensors<T>,
                "Freeze takes Tensors and structures of Tensors");
  sdk::Collector collector;
  sdk::NamedParts<T>::Visit(structure, "", collector);
  return sdk::FreezeTensors(name, std::move(collector.tensors), options);
}

// Makes a structure of the arrays of a file, as Save names them.
//   absl::StatusOr<Model> model = Load<Model>("model.safetensors");
// T: a Tensor, for a file of one array of any name, or a structure of Tensors
// that can be made empty; its vectors get as many entries as the file names.
// path: any file ReadArrays knows; what it holds decides about the format.
// Result: host values, mapped where the format allows; they go to a client at
// their first use. Errors: those of reading; kInvalidArgument naming the arrays
// that are missing, or that T has no place for.
template <typename T>
absl::StatusOr<T> Load(const std::string& path,
                       SourceLocation where = SourceLocation::Current()) {
  HAWSER_ASSIGN_OR_RETURN(sdk::LoadedArrays arrays,
                          sdk::LoadedArrays::Read(path, where));
  return sdk::Filled<T>(std::move(arrays));
}
// Makes it of the arrays of a dataset, which stay where they are.
// Errors: kInvalidArgument as above; those of opening them.
template <typename T>
absl::StatusOr<T> Load(const Dataset& dataset) {
  HAWSER_ASSIGN_OR_RETURN(sdk::LoadedArrays arrays,
                          sdk::LoadedArrays::Of(dataset));
  return sdk::Filled<T>(std::move(arrays));
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_SAVE_H_
