// LibraryCall: a call into a library whose exit handlers free what it uses.
#ifndef HAWSER_CORE_BASE_PROCESS_LIBRARY_CALL_H_
#define HAWSER_CORE_BASE_PROCESS_LIBRARY_CALL_H_

namespace hawser {

// OpenBLAS and oneDNN free their memory when the process ends, though a thread
// of ours may be within them. A call is under way as long as this lives. When
// the process ends, those under way are waited for, and one that would begin
// then waits for the end, which is moments away: for some seconds at most, since
// a destructor of the program itself may need its result. Thread-safe.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  // Makes the end of the process wait for these calls. Called early, by what
  // starts threads, since exit handlers run in reverse order: what is
  // registered later may still compute.
  static void WatchTheEnd();
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PROCESS_LIBRARY_CALL_H_
