// The whole graphs of nx_grad.txt, replayed as calls of SDK functions.
#ifndef HAWSER_TESTS_CORE_AUTODIFF_NX_GRAPH_H_
#define HAWSER_TESTS_CORE_AUTODIFF_NX_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "client/sdk/hawser.h"
#include "core/base/values/literal.h"

namespace hawser {

// One line: the words behind number and dtype.
struct NxNode {
  DType dtype = DType::kInvalid;  // none: several results
  std::vector<std::string> words;
};

// Nodes that refer to each other by number.
struct NxBody {
  std::map<int, NxNode> nodes;
  std::vector<int> results;
};

struct NxCase {
  std::string name;  // "grad/grad/0 exp"
  std::vector<int> by;
  int order = 1;
  double atol = 0, rtol = 0;
  std::vector<Literal> inputs, outputs;
  std::map<int, NxBody> bodies;  // 0: of the case; the others of its loops
};

// Every case of the file; tests/tools/nx_grad_to_cases.py says what it holds.
std::vector<NxCase> ReadNxCases(const std::string& path);

// What a body computes of its inputs; a node is made when it is asked for, so
// that a branch's nodes grow inside the branch.
class NxGraph {
 public:
  using Values = std::vector<Tensor>;

  NxGraph(const NxCase& nx_case, Values inputs, int body = 0)
      : case_(nx_case),
        body_(nx_case.bodies.at(body)),
        inputs_(std::move(inputs)) {}

  Values Results() { return Branch(body_.results); }

 private:
  Tensor Of(int node) { return Make(node)[0]; }
  const Values& Make(int node);
  Values Call(const NxNode& node);
  Values Loop(const std::vector<std::string>& words);
  // A function of one value, behind which a gradient is multiplied.
  Values Scaled(const std::vector<std::string>& words);
  // The first branch whose condition holds, else the last.
  Values Choose(const std::vector<int>& conditions,
                const std::vector<std::vector<int>>& branches, size_t from);
  Values Branch(const std::vector<int>& results);

  const NxCase& case_;
  const NxBody& body_;
  const Values inputs_;
  std::map<int, Values> made_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_AUTODIFF_NX_GRAPH_H_
