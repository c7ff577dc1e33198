// Faults of file calls, in this process or in one that is given the library.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_FAULTY_FILES_H_
#define HAWSER_TESTS_TESTING_PROCESSES_FAULTY_FILES_H_

#include <cstdint>
#include <string>

namespace hawser::testing {

// Rules as "call part-of-path errno percent milliseconds", ';' between them:
// "fsync /names 5 25 0". A call is open, pread, fstat, readdir, fsync, rename
// or unlink. Of those on a path with that part (an end in '$' means that the
// path ends so) so many percent fail, after so long; errno 0: they are slow
// and work. A process that preloads this library reads its rules from
// HAWSER_TEST_FAULTS; one that links it sets them here. "" ends all faults.
void SetFileFaults(const std::string& rules);
// How many calls have failed since the last SetFileFaults.
int64_t FileFaults();

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_TESTING_PROCESSES_FAULTY_FILES_H_
