#include "kernels/emu/launch/fiber.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/base/status.h"

#if defined(__x86_64__)
// Saves the registers that the System V ABI has a callee keep, changes stacks,
// restores them. About 5 ns; swapcontext, which makes a system call, takes 300.
asm(R"(
.text
.globl hawser_emu_switch
.hidden hawser_emu_switch
.type hawser_emu_switch,@function
hawser_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hawser_emu_switch,.-hawser_emu_switch
)");
extern "C" void hawser_emu_switch(void** save, void* load);
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HAWSER_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAWSER_EMU_ASAN 1
#endif
#endif
#ifdef HAWSER_EMU_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace hawser::emu {
namespace {

// Clears the marks of the address sanitizer that a function, left in the
// middle, has put on the stack.
void CleanStack([[maybe_unused]] char* stack, [[maybe_unused]] size_t bytes) {
#ifdef HAWSER_EMU_ASAN
  __asan_unpoison_memory_region(stack, bytes);
#endif
}

constexpr size_t kStackBytes = size_t{256} << 10;
constexpr size_t kGuardBytes = 4096;

}  // namespace

Fiber::Fiber() {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HAWSER_CHECK(memory != MAP_FAILED);
  HAWSER_CHECK(mprotect(memory, kGuardBytes, PROT_NONE) == 0);
  stack_ = static_cast<char*>(memory);
}

Fiber::~Fiber() { munmap(stack_, kStackBytes); }

void Fiber::Enter(Fiber* fiber) {
  fiber->function_(fiber->argument_);
  std::abort();
}

#if defined(__x86_64__)

// The fiber that Resume enters for the first time on this thread: the switch
// passes no arguments.
thread_local Fiber* entering = nullptr;

void Fiber::EnterFromStack() { Enter(entering); }

void Fiber::Start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  CleanStack(stack_, kStackBytes);
  // The stack as a switch leaves it: six registers, then the address to return
  // to, EnterFromStack; one more return address keeps the alignment.
  void** top = reinterpret_cast<void**>(stack_ + kStackBytes - 64);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&Fiber::EnterFromStack);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  own_ = top;
}

void Fiber::Resume() {
  entering = this;
  hawser_emu_switch(&main_, own_);
}

void Fiber::Yield() { hawser_emu_switch(&own_, main_); }

#else

void Fiber::EnterFromContext(unsigned high, unsigned low) {
  const uint64_t address = uint64_t{high} << 32 | low;
  Enter(reinterpret_cast<Fiber*>(address));
}

void Fiber::Start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  CleanStack(stack_, kStackBytes);
  HAWSER_CHECK(getcontext(&own_) == 0);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = kStackBytes;
  own_.uc_link = nullptr;
  const uint64_t address = reinterpret_cast<uint64_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::EnterFromContext), 2,
              static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
}

void Fiber::Resume() { swapcontext(&main_, &own_); }
void Fiber::Yield() { swapcontext(&own_, &main_); }

#endif

}  // namespace hawser::emu
