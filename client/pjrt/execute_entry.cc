// Execute: a program on its device, or on all those of its partitions.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/buffer.h"
#include "client/pjrt/objects/gather.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// The arguments that this execution may take over.
std::vector<int> DonatedOf(const LoadedExecutable& executable,
                           const ExecuteOptions* options) {
  std::vector<int> donated = executable.donated;
  if (options == nullptr) return donated;
  const int64_t* kept =
      Get(*options, &ExecuteOptions::non_donatable_input_indices);
  const size_t count =
      Get(*options, &ExecuteOptions::num_non_donatable_input_indices);
  std::erase_if(donated, [&](int argument) {
    return kept != nullptr && std::count(kept, kept + count, argument) != 0;
  });
  return donated;
}

// One execution: what it takes of each partition's buffers.
class Execution {
 public:
  // Both outlive it.
  Execution(const LoadedExecutable& executable,
            const LoadedExecutable_ExecuteArgs& args)
      : executable_(executable), args_(args) {}

  const std::vector<runtime::Argument>& arguments() const { return arguments_; }
  const std::vector<int>& donated() const { return donated_; }

  // Errors: kInvalidArgument that names the argument; those of Gather.
  absl::Status TakeArguments() {
    if (args_.num_devices != executable_.device_list.size()) {
      return InvalidArgument("the program runs on ",
                             executable_.device_list.size(),
                             " devices, not on ", args_.num_devices);
    }
    if (args_.num_args != executable_.facts->num_arguments) {
      return InvalidArgument("the program takes ",
                             executable_.facts->num_arguments,
                             " arguments, got ", args_.num_args);
    }
    HAWSER_RETURN_IF_ERROR(CheckLists());
    for (size_t i = 0; i < args_.num_args; ++i) {
      const absl::Status taken = TakeArgument(i);
      if (!taken.ok()) return Annotate(taken, absl::StrCat("argument ", i));
    }
    Donate(DonatedOf(executable_, args_.options));
    arguments_.insert(arguments_.end(), executable_.bound.begin(),
                      executable_.bound.end());
    return absl::OkStatus();
  }

  // Gives buffers back what an execution that failed did not take.
  void Restore() {
    for (const auto& [buffer, held] : taken_) buffer->Restore(held);
  }
  // Makes the buffers of a result.
  void Give(size_t k, const runtime::BufferPtr& value) const {
    if (args_.num_devices == 1) {
      args_.output_lists[0][k] =
          new Buffer(executable_.devices, executable_.device_list[0],
                     value->shape(), {.there = value});
      return;
    }
    const auto whole = std::make_shared<const Together>(Together{value});
    for (size_t p = 0; p < args_.num_devices; ++p) {
      const Box box = TileOf(executable_.tilings.results[k], value->shape(),
                             static_cast<int>(p));
      args_.output_lists[p][k] = new Buffer(
          executable_.devices, executable_.device_list[p],
          ShapeOf(value->shape(), box), {.whole = whole, .box = box});
    }
  }

 private:
  absl::Status CheckLists() const {
    HAWSER_RETURN_IF_ERROR(CheckHandle(args_.argument_lists, "argument list"));
    HAWSER_RETURN_IF_ERROR(CheckHandle(args_.output_lists, "result list"));
    for (size_t p = 0; p < args_.num_devices; ++p) {
      if (args_.num_args != 0) {
        HAWSER_RETURN_IF_ERROR(
            CheckHandle(args_.argument_lists[p], "argument list"));
      }
      if (!executable_.facts->types.empty()) {
        HAWSER_RETURN_IF_ERROR(
            CheckHandle(args_.output_lists[p], "result list"));
      }
    }
    return absl::OkStatus();
  }
  absl::Status TakeArgument(size_t i) {
    std::vector<Buffer*> parts;
    for (size_t p = 0; p < args_.num_devices; ++p) {
      Buffer* const part = args_.argument_lists[p][i];
      const Device* const device = executable_.device_list[p];
      if (part == nullptr) return InvalidArgument("there is no buffer");
      if (part->device != device) {
        return InvalidArgument("is on device ", part->device->description.id,
                               ", the program is for device ",
                               device->description.id);
      }
      parts.push_back(part);
    }
    if (parts.size() == 1) {
      HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr value, parts[0]->OnDevice());
      arguments_.emplace_back(std::move(value));
      return absl::OkStatus();
    }
    HAWSER_ASSIGN_OR_RETURN(const auto client,
                            executable_.devices->AllDevices());
    HAWSER_ASSIGN_OR_RETURN(auto whole,
                            Gather(parts, executable_.tilings.arguments[i],
                                   executable_.shapes[i], *client));
    arguments_.emplace_back(whole->value);
    wholes_.push_back(std::move(whole));
    return absl::OkStatus();
  }

  // Buffers that are donated lose their value. The program may take over a
  // whole if nothing else has it.
  void Donate(const std::vector<int>& wanted) {
    for (const int i : wanted) {
      for (size_t p = 0; p < args_.num_devices; ++p) {
        Buffer* const part = args_.argument_lists[p][i];
        Held held = part->Take();
        // One that is donated in two places was taken before.
        if (held.any()) taken_.emplace_back(part, std::move(held));
      }
    }
    for (const int i : wanted) {
      const auto parts = static_cast<long>(args_.num_devices);
      if (wholes_.empty() ||
          wholes_[static_cast<size_t>(i)].use_count() == 1 + parts) {
        donated_.push_back(i);
      }
    }
  }

  const LoadedExecutable& executable_;
  const LoadedExecutable_ExecuteArgs& args_;
  std::vector<runtime::Argument> arguments_;
  // There is one for each argument, if there are several partitions.
  std::vector<std::shared_ptr<const Together>> wholes_;
  std::vector<int> donated_;
  std::vector<std::pair<Buffer*, Held>> taken_;  // of those that are donated
};

}  // namespace

absl::Status LoadedExecutable_Execute(LoadedExecutable_ExecuteArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  LoadedExecutable& loaded = *args->executable;
  std::shared_ptr<runtime::Executable> executable;
  {
    MutexLock lock(&loaded.mu);
    executable = loaded.runtime;
  }
  if (executable == nullptr) return InvalidArgument("the program was deleted");
  Execution execution(loaded, *args);
  HAWSER_RETURN_IF_ERROR(execution.TakeArguments());
  const auto results = executable->Execute(
      execution.arguments(), {.call = {}, .donated = execution.donated()});
  if (!results.ok()) {
    execution.Restore();
    return results.status();
  }
  for (size_t k = 0; k < results->size(); ++k) {
    execution.Give(k, (*results)[k]);
  }
  // An error that comes later is one of the results, and costs no message until
  // they are asked for.
  for (size_t p = 0;
       args->device_complete_events != nullptr && p < args->num_devices; ++p) {
    args->device_complete_events[p] = new Event(Future<bool>(true));
  }
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
