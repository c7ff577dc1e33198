// SourceLocation: the place in the user's program where a value was made.
// std::source_location is not in clang 14; these two builtins are in both
// compilers.
#ifndef HAWSER_CORE_IR_SOURCE_LOCATION_H_
#define HAWSER_CORE_IR_SOURCE_LOCATION_H_

namespace hawser {

struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation Current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_SOURCE_LOCATION_H_
