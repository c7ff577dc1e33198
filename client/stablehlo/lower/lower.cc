#include "client/stablehlo/lower/lower.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/stablehlo/body/body.h"
#include "client/stablehlo/lower/missing.h"
#include "client/stablehlo/rows/checks.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// The arguments with an attribute that says so.
std::vector<int> DonatedOf(const Op& function) {
  std::vector<int> donated;
  const Attribute* arguments = FindAttribute(function, "arg_attrs");
  if (arguments == nullptr) return donated;
  for (size_t i = 0; i < arguments->items.size(); ++i) {
    const AttributeDict& fields = arguments->items[i]->fields;
    if (std::any_of(fields.begin(), fields.end(), [](const auto& field) {
          return field.name == "tf.aliasing_output" ||
                 field.name == "jax.buffer_donor";
        })) {
      donated.push_back(static_cast<int>(i));
    }
  }
  return donated;
}

// The function in a builder: its arguments are parameters.
class Entry {
 public:
  Entry(const Tree& tree, absl::string_view name)
      : program_(tree, FindRow),
        name_(name),
        builder_(&program_.module(), std::string(name)) {
    program_.entry = &builder_;
  }

  Program& program() { return program_; }

  // Gives what the function returns.
  absl::StatusOr<Values> Lower() {
    const Op* function = program_.functions().Find(name_);
    if (function == nullptr) {
      return NotFound("1:1: there is no function ", Quoted(name_));
    }
    HAWSER_RETURN_IF_ERROR(MissingStatus(
        program_.tree().source, FindMissing(program_.functions(), *function)));
    Body body(&program_, &builder_);
    const Region& region = function->regions[0];
    for (const BlockArgument& argument : region.arguments) {
      const auto shape = ShapeOf(argument.type);
      if (!shape.ok()) return program_.Placed(shape.status(), *function);
      const absl::Status bound =
          body.Bind(argument.name, {builder_.Parameter(*shape, {})});
      if (!bound.ok()) return program_.Placed(bound, *function);
    }
    return body.Lower(region);
  }

  absl::StatusOr<Lowered> Finish(const Values& results) {
    HAWSER_RETURN_IF_ERROR(builder_.Finish(results));
    const Op* function = program_.functions().Find(name_);
    return Lowered{.module = std::move(program_.module()),
                   .bound = std::move(program_.bound()),
                   .donated = DonatedOf(*function),
                   .numerics = program_.numerics()};
  }

 private:
  Program program_;
  const absl::string_view name_;
  ComputationBuilder builder_;
};

bool HasCheck(const Op& function) {
  const auto& ops = function.regions[0].ops;
  return std::any_of(ops.begin(), ops.end(), IsCheckOp);
}

}  // namespace

absl::StatusOr<Lowered> Lower(const Tree& tree, absl::string_view function) {
  Entry entry(tree, function);
  HAWSER_ASSIGN_OR_RETURN(const Values results, entry.Lower());
  return entry.Finish(results);
}

absl::StatusOr<CheckedModule> LowerChecks(const Tree& tree,
                                          absl::string_view function) {
  Entry entry(tree, function);
  CheckedModule checked;
  entry.program().checks = &checked.checks;
  HAWSER_RETURN_IF_ERROR(entry.Lower());
  Values results;
  for (Check& check : checked.checks) {
    results.push_back(check.actual);
    check.actual = static_cast<ValueId>(results.size()) - 1;
    results.push_back(check.expected);
    check.expected = static_cast<ValueId>(results.size()) - 1;
  }
  HAWSER_ASSIGN_OR_RETURN(Lowered lowered, entry.Finish(results));
  checked.module = std::move(lowered.module);
  checked.bound = std::move(lowered.bound);
  return checked;
}

std::vector<absl::string_view> SelfCheckingFunctions(const Tree& tree) {
  const Functions functions(tree);
  std::vector<absl::string_view> names;
  for (const Op* function : functions.all()) {
    if (function->regions[0].arguments.empty() && HasCheck(*function)) {
      names.push_back(NameOf(*function));
    }
  }
  return names;
}

}  // namespace hawser::stablehlo
