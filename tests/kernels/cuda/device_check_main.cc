// The tests of a device as a program of the bundle. A fault ends a GPU for the
// process, so that test runs only when a filter names it.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  GTEST_FLAG_SET(filter, "On/Device*:-*DeviceFaultTest*");
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
