// NodeRef: the counted pointer inside a Tensor.
#ifndef HAWSER_CLIENT_SDK_NODE_REF_H_
#define HAWSER_CLIENT_SDK_NODE_REF_H_

#include <utility>

namespace hawser::sdk {

class Node;
void Retain(Node* node);
// Frees the node with its last reference. Chains of any length are freed
// without recursion.
void Release(Node* node);

class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* node) : node_(node) {
    if (node_ != nullptr) Retain(node_);
  }
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_ != nullptr) Release(node_);
  }

  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_NODE_REF_H_
