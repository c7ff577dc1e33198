#include "client/pjrt/programs/load_program.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/pjrt/programs/compile_options.h"
#include "client/stablehlo/lower/bind.h"
#include "client/stablehlo/stablehlo.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "core/passes/optimize.h"
#include "core/sharding/shard_spec.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::pjrt {
namespace {

// A program of the same parts that says how arguments and results lie on the
// partitions, and does nothing: JAX asks for the optimized one, and reads only
// that. An argument whose sharding the caller left open lies as it says.
std::string ShardingsOf(const std::vector<Shape>& takes,
                        const std::vector<Shape>& gives,
                        const stablehlo::FunctionTilings& tilings) {
  std::string taken, parameters, shardings, types, ops, values;
  for (size_t i = 0; i < takes.size(); ++i) {
    const char* const comma = i == 0 ? "" : ", ";
    absl::StrAppend(&taken, comma, "\"",
                    stablehlo::ToString(tilings.arguments[i]), "\"");
    absl::StrAppend(&parameters, comma, "%a", i, ": ",
                    stablehlo::TypeText(takes[i]));
  }
  for (size_t k = 0; k < gives.size(); ++k) {
    const std::string type = stablehlo::TypeText(gives[k]);
    const char* const comma = k == 0 ? "" : ", ";
    absl::StrAppend(&shardings, comma, stablehlo::ToString(tilings.results[k]));
    absl::StrAppend(&types, comma, type);
    absl::StrAppend(&ops, "    %", k,
                    " = stablehlo.custom_call @hawser() : () -> ", type, "\n");
    absl::StrAppend(&values, comma, "%", k);
  }
  return absl::StrCat("module attributes {mhlo.spmd_output_sharding = \"{",
                      shardings, "}\", mhlo.spmd_parameters_shardings = [",
                      taken, "]} {\n  func.func public @main(", parameters,
                      ") -> (", types, ") {\n", ops, "    return ", values,
                      gives.empty() ? "" : " : ", types, "\n  }\n}\n");
}

// The cuts that the program's shardings ask for.
std::shared_ptr<const ShardSpec> CutsOf(
    const stablehlo::FunctionTilings& tilings) {
  auto cuts = std::make_shared<ShardSpec>();
  cuts->contracted = ShardSpec::Contracted::kSplit;
  cuts->unnamed = ShardSpec::Unnamed::kWhole;
  for (size_t i = 0; i < tilings.arguments.size(); ++i) {
    const Dims& tiles = tilings.arguments[i].tiles;
    for (size_t axis = 0; axis < tiles.size(); ++axis) {
      if (tiles[axis] == 1) continue;
      cuts->parameters.push_back({.value = static_cast<int>(i),
                                  .axis = static_cast<int>(axis),
                                  .kind = AxisCut::Kind::kParts,
                                  .parts = tiles[axis]});
    }
  }
  return cuts;
}

// The shapes of the parts of values; those without a tiling are left out.
absl::StatusOr<std::vector<Shape>> PartsOf(
    const std::vector<Shape>& shapes,
    const std::vector<stablehlo::Tiling>& tilings) {
  std::vector<Shape> parts;
  for (size_t i = 0; i < tilings.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(Shape part,
                            stablehlo::TileShape(tilings[i], shapes[i]));
    parts.push_back(std::move(part));
  }
  return parts;
}

absl::StatusOr<std::shared_ptr<const ProgramFacts>> FactsOf(
    const stablehlo::Lowered& lowered, size_t partitions,
    ProgramSource source) {
  auto facts = std::make_shared<ProgramFacts>();
  facts->fingerprint = Sha256(source.code).ToHex();
  facts->name = absl::StrCat("hawser_", facts->fingerprint.substr(0, 12));
  facts->partitions = partitions;
  const Signature& signature = lowered.module.signature();
  std::vector<Shape> gives = signature.results;
  if (partitions > 1) {
    HAWSER_ASSIGN_OR_RETURN(gives, PartsOf(gives, lowered.tilings.results));
    HAWSER_ASSIGN_OR_RETURN(
        const auto takes,
        PartsOf(signature.parameters, lowered.tilings.arguments));
    facts->shardings = ShardingsOf(takes, gives, lowered.tilings);
  }
  facts->num_arguments = signature.parameters.size() - lowered.bound.size();
  for (size_t i = 0; i < facts->num_arguments; ++i) {
    facts->argument_bytes += signature.parameters[i].byte_size();
  }
  for (const int i : lowered.donated) {
    facts->donated_bytes +=
        signature.parameters[static_cast<size_t>(i)].byte_size();
  }
  for (const Shape& shape : gives) {
    facts->types.push_back(TypeOf(shape.dtype()));
    facts->dims.insert(facts->dims.end(), shape.dims().begin(),
                       shape.dims().end());
    facts->ranks.push_back(static_cast<size_t>(shape.rank()));
    facts->result_bytes += shape.byte_size();
  }
  const size_t kinds = std::max(facts->num_arguments, signature.results.size());
  facts->memory_kinds.assign(kinds, kMemoryKind.data());
  facts->memory_kind_sizes.assign(kinds, kMemoryKind.size());
  if (source.code.size() <= kMaxKeptCode) {
    facts->source = std::make_shared<const ProgramSource>(std::move(source));
  }
  return std::shared_ptr<const ProgramFacts>(std::move(facts));
}

// The constants are sent once, as they are arguments of every execution.
absl::Status BindArguments(const std::vector<stablehlo::BoundArgument>& bound,
                           runtime::Client& client, LoadedExecutable* loaded) {
  HAWSER_ASSIGN_OR_RETURN(loaded->bound, stablehlo::Bind(bound, client));
  for (runtime::Argument& argument : loaded->bound) {
    const auto* constant = std::get_if<Literal>(&argument);
    if (constant == nullptr) continue;
    HAWSER_ASSIGN_OR_RETURN(argument, client.Upload(*constant, {}));
  }
  return absl::OkStatus();
}

// A program, read, and the device of each of its partitions.
struct Readable {
  stablehlo::Lowered lowered;
  std::vector<Device*> devices;
};

// Reads a module in the text form of core/ir.
absl::StatusOr<Readable> ReadModule(const Devices& devices,
                                    const ProgramSource& source) {
  if (!source.options.empty() && source.options != "strict") {
    return InvalidArgument("the options of a module are \"strict\" or none");
  }
  HAWSER_ASSIGN_OR_RETURN(Module module, ParseModule(source.code, FindOp));
  Readable program{{.module = std::move(module), .bound = {}},
                   {devices.list[0]}};
  stablehlo::Lowered& lowered = program.lowered;
  lowered.donated.resize(lowered.module.signature().parameters.size());
  std::iota(lowered.donated.begin(), lowered.donated.end(), 0);
  if (!source.options.empty()) lowered.numerics = runtime::Numerics::kStrict;
  return program;
}

absl::StatusOr<Readable> Read(const Devices& devices,
                              const ProgramSource& source) {
  if (source.format == "hawser.text") return ReadModule(devices, source);
  if (source.format != "mlir") {
    return Unimplemented("programs of format \"", source.format,
                         "\": hawser takes \"mlir\"");
  }
  HAWSER_ASSIGN_OR_RETURN(std::vector<Device*> list,
                          DevicesIn(devices, source.options));
  HAWSER_ASSIGN_OR_RETURN(
      stablehlo::Lowered lowered,
      stablehlo::ReadProgram(source.code, static_cast<int>(list.size())));
  return Readable{std::move(lowered), std::move(list)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadProgram(
    const DevicesPtr& devices, ProgramSource source) {
  HAWSER_ASSIGN_OR_RETURN(Readable program, Read(*devices, source));
  stablehlo::Lowered& lowered = program.lowered;
  HAWSER_ASSIGN_OR_RETURN(lowered.module,
                          Optimize(std::move(lowered.module),
                                   {.evaluate = cpu::EvaluateConstants}));
  auto loaded = std::make_unique<LoadedExecutable>();
  loaded->devices = devices;
  loaded->device_list = std::move(program.devices);
  const size_t partitions = loaded->device_list.size();
  const auto& parameters = lowered.module.signature().parameters;
  loaded->donated = lowered.donated;
  HAWSER_ASSIGN_OR_RETURN(loaded->facts,
                          FactsOf(lowered, partitions, std::move(source)));
  std::shared_ptr<runtime::Client> client = loaded->device_list[0]->runtime;
  runtime::CompileOptions compile{.numerics = lowered.numerics};
  if (partitions > 1) {
    HAWSER_ASSIGN_OR_RETURN(client, devices->AllDevices());
    loaded->shapes.assign(
        parameters.begin(),
        parameters.begin() +
            static_cast<ptrdiff_t>(loaded->facts->num_arguments));
    compile.cuts = CutsOf(lowered.tilings);
    loaded->tilings = std::move(lowered.tilings);
  }
  for (size_t p = 0; p < partitions; ++p) {
    loaded->logical_ids.push_back({0, static_cast<int>(p)});
  }
  HAWSER_RETURN_IF_ERROR(BindArguments(lowered.bound, *client, loaded.get()));
  HAWSER_ASSIGN_OR_RETURN(
      auto executable,
      client->Compile(std::make_shared<const Module>(std::move(lowered.module)),
                      compile, {}));
  MutexLock lock(&loaded->mu);
  loaded->runtime = std::move(executable);
  return loaded;
}

}  // namespace hawser::pjrt
