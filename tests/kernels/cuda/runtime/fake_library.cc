// A library for library_test.
extern "C" int hawser_fake_answer() { return 42; }
