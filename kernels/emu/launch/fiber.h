// Fiber: a function with a stack of its own, run in turns on the calling
// thread. A GPU thread runs as a fiber on the host.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_FIBER_H_
#define HAWSER_KERNELS_EMU_LAUNCH_FIBER_H_

#include <ucontext.h>

namespace hawser::emu {

// Keeps its stack between runs. Not copyable: the stack points into itself.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next Resume enters `function`, which must never return: it ends by a
  // last Yield. A function left in the middle is forgotten; its destructors do
  // not run.
  void Start(Function function, void* argument);
  // Runs it until it yields. Not from within a fiber.
  void Resume();
  // Back to who resumed it. Only from within.
  void Yield();

 private:
  static void Enter(Fiber* fiber);

  char* stack_;
  Function function_ = nullptr;
  void* argument_ = nullptr;
#if defined(__x86_64__)
  static void EnterFromStack();
  void* own_ = nullptr;   // stack pointers of the side that waits
  void* main_ = nullptr;
#else
  static void EnterFromContext(unsigned high, unsigned low);
  ucontext_t own_;
  ucontext_t main_;
#endif
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_FIBER_H_
