// The suite as a program of the bundle; the case files are in tests/vectors of
// the folder it is started in. Targets with TLS make certificates by scripts
// that only Bazel lays out, and the tests of devices are another program.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  GTEST_FLAG_SET(filter, "-On/Device*:*loopback_tls*");
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
