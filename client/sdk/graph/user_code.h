// UserCode: which functions a thread was called into by the user.
#ifndef HAWSER_CLIENT_SDK_GRAPH_USER_CODE_H_
#define HAWSER_CLIENT_SDK_GRAPH_USER_CODE_H_

#include <utility>

namespace hawser::sdk {

class OpScope;

// Holds what SDK functions that call each other on this thread share
// (graph/build/op_scope.h).
struct Ambient {
  static Ambient& OfThread() {
    static constinit thread_local Ambient ambient;
    return ambient;
  }

  const OpScope* outermost = nullptr;  // null: the user's code runs
  bool in_formula = false;
};

// While it lives, what is called is called by the user: functions passed to
// SDK functions run in it.
class UserCode {
 public:
  UserCode() : around_(std::exchange(Ambient::OfThread(), {})) {}
  ~UserCode() { Ambient::OfThread() = around_; }
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

 private:
  const Ambient around_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_USER_CODE_H_
