// What a server is charged for and what it takes, for every kind of thing that
// clients have it hold: each in a process of its own that holds nothing else.
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/values/literal.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/server/service/held/held_server.h"
#include "tests/server/service/raw_session.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

// What is charged is at least this part of what is taken, and at most that.
constexpr double kLeast = 0.8, kMost = 1.5;

// Things that stay until the measurement is over.
using Kept = std::vector<std::shared_ptr<void>>;

// A session that sends many requests and hears of each.
class Worker {
 public:
  explicit Worker(HeldServer& server) : session_(server.NewChannel()) {
    EXPECT_OK(StatusOf(session_.Open()));
  }
  // `acknowledges`: the server may forget its answers.
  void Run(int count, const std::function<v1::ClientMessage(int)>& request,
           bool acknowledges = true, bool awaits = true) {
    constexpr int kAtOnce = 64;
    uint64_t last = 0;
    for (int i = 0; i < count; ++i) {
      v1::ClientMessage message = request(i);
      if (acknowledges) message.set_acknowledged(heard_);
      last = session_.Send(std::move(message));
      if (awaits && (i % kAtOnce == kAtOnce - 1 || i == count - 1)) {
        (void)session_.AnswerTo(last);
        heard_ = last;
      }
    }
    if (!acknowledges || !awaits) return;
    v1::ClientMessage ping = PingMessage();
    ping.set_acknowledged(heard_);
    (void)session_.AnswerTo(session_.Send(std::move(ping)));
  }
  RawSession& session() { return session_; }

 private:
  RawSession session_;
  uint64_t heard_ = 0;
};

std::shared_ptr<Worker> NewWorker(HeldServer& server, Kept& kept) {
  auto worker = std::make_shared<Worker>(server);
  kept.push_back(worker);
  return worker;
}

Literal Floats(int64_t n) {
  return Literal::Zeros(Shape::Of(DType::kF32, {n}));
}

void UploadMany(HeldServer& server, Kept& kept, int count, int64_t floats) {
  const Literal value = Floats(floats);
  NewWorker(server, kept)->Run(count, [&](int i) {
    return UploadMessage(i + 1, value);
  });
}

void UploadInMany(HeldServer& server, Kept& kept, int sessions, int count) {
  for (int s = 0; s < sessions; ++s) UploadMany(server, kept, count, 1);
}

void RunMany(HeldServer& server, Kept& kept, int count, int64_t floats) {
  const auto worker = NewWorker(server, kept);
  const std::string module = EncodeModule(DoubleModule(floats));
  EXPECT_OK(worker->session().Do(CompileMessage(1, module)));
  EXPECT_OK(worker->session().Do(UploadMessage(1, Floats(floats))));
  worker->Run(count, [&](int i) { return ExecuteMessage(1, i + 2, {1}); });
}

void FailMany(HeldServer& server, Kept& kept, int count) {
  // Results of an executable that is not there.
  NewWorker(server, kept)->Run(count, [&](int i) {
    return ExecuteMessage(7, i + 2);
  });
}

void DeclareMany(HeldServer& server, Kept& kept, int count) {
  NewWorker(server, kept)->Run(count, [&](int i) {
    return StreamedUploadMessage(i + 1, Shape::Of(DType::kF32, {1}));
  });
}

void KeepAnswers(HeldServer& server, Kept& kept, int count, int64_t floats) {
  const auto worker = NewWorker(server, kept);
  EXPECT_OK(worker->session().Do(UploadMessage(1, Floats(floats))));
  worker->Run(
      count, [](int) { return FetchMessage(1); }, false);
}

void KeepRequestsWaiting(HeldServer& server, Kept& kept, int sessions,
                         int count, int64_t floats) {
  const std::string module = EncodeModule(AddModule());
  for (int s = 0; s < sessions; ++s) {
    const auto worker = NewWorker(server, kept);
    EXPECT_OK(worker->session().Do(CompileMessage(1, module)));
    EXPECT_OK(worker->session().Do(
        StreamedUploadMessage(1, Shape::Of(DType::kF32, {2}))));
    const Literal value = Floats(floats);
    worker->Run(
        count,
        [&](int i) {
          v1::ClientMessage message = ExecuteMessage(1, i + 2, {1});
          return AddLiteral(message, value);
        },
        true, false);
  }
}

void OpenMany(HeldServer& server, Kept& kept, int count) {
  for (int i = 0; i < count; ++i) NewWorker(server, kept);
}

Module ConstantModule(int64_t n, float fill) {
  Module m("constant");
  ComputationBuilder b(&m, "main");
  const Shape shape = Shape::Of(DType::kF32, {n});
  Literal value = Literal::Zeros(shape);
  for (int64_t i = 0; i < n; ++i) {
    value.mutable_data<float>()[i] = fill + static_cast<float>(i);
  }
  const ValueId x = b.Parameter(shape);
  EXPECT_OK(b.Finish({b.Add(kAdd, {x, b.Constant(value)})}));
  return m;
}

void CompileMany(HeldServer& server, Kept& kept, int count, int64_t constant) {
  NewWorker(server, kept)->Run(count, [&](int i) {
    return CompileMessage(
        i + 1,
        EncodeModule(constant == 0
                         ? DoubleModule(i + 2)
                         : ConstantModule(constant, static_cast<float>(i))));
  });
}

void CompileLong(HeldServer& server, Kept& kept, int count, int64_t length) {
  NewWorker(server, kept)->Run(count, [&](int i) {
    Module m("long");
    ComputationBuilder b(&m, "main");
    ValueId x = b.Parameter(Shape::Of(DType::kF32, {i + 2}));
    for (int64_t k = 0; k < length; ++k) x = b.Add(kAdd, {x, x});
    EXPECT_OK(b.Finish({x}));
    return CompileMessage(i + 1, EncodeModule(m));
  });
}

// Of products, transposes and functions in turn.
void CompileMixed(HeldServer& server, Kept& kept, int count, int64_t length) {
  NewWorker(server, kept)->Run(count, [&](int i) {
    Module m("mixed");
    ComputationBuilder b(&m, "main");
    const ValueId first = b.Parameter(Shape::Of(DType::kF32, {i + 2, i + 2}));
    ValueId x = first;
    for (int64_t k = 0; k < length; ++k) {
      if (k % 4 == 0) x = b.Add(kTanh, {x});
      if (k % 4 == 1) {
        x = b.Add(kTranspose, {x}, {{"permutation", Dims{1, 0}}});
      }
      if (k % 4 == 2) x = b.Add(kMultiply, {x, first});
      if (k % 4 == 3) {
        x = b.Add(kDotGeneral, {x, first},
                  {{"lhs_batching_dimensions", Dims{}},
                   {"lhs_contracting_dimensions", Dims{1}},
                   {"rhs_batching_dimensions", Dims{}},
                   {"rhs_contracting_dimensions", Dims{0}}});
      }
    }
    EXPECT_OK(b.Finish({x}));
    return CompileMessage(i + 1, EncodeModule(m));
  });
}

// Sums of rows that are spread again.
void CompileSums(HeldServer& server, Kept& kept, int count, int64_t length) {
  NewWorker(server, kept)->Run(count, [&](int i) {
    Module m("sums");
    ComputationBuilder adder(&m, "add");
    const ValueId l = adder.Parameter(Shape::Scalar(DType::kF32));
    const ValueId r = adder.Parameter(Shape::Scalar(DType::kF32));
    EXPECT_OK(adder.Finish({adder.Add(kAdd, {l, r})}));
    ComputationBuilder b(&m, "main");
    const Dims dims = {i + 2, 4};
    ValueId x = b.Parameter(Shape::Of(DType::kF32, dims));
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    for (int64_t k = 0; k < length; ++k) {
      const ValueId sum =
          b.Add(kReduce, {x, zero}, {{"dimensions", Dims{1}}}, {0});
      const ValueId wide =
          b.Add(kBroadcastInDim, {sum},
                {{"broadcast_dimensions", Dims{0}}, {"dims", dims}});
      x = b.Add(kMultiply, {x, wide});
    }
    EXPECT_OK(b.Finish({x}));
    return CompileMessage(i + 1, EncodeModule(m));
  });
}

// ---- datasets

// Each of `arrays` arrays of eight bytes with names of `name` bytes; all of
// the same chunks, or each of its own.
void PutMany(HeldServer& server, int count, int arrays, size_t name,
             bool own_bytes) {
  uint64_t number = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<std::pair<std::string, std::string>> of;
    std::vector<std::string> chunks;
    for (int a = 0; a < arrays; ++a) {
      std::string text = absl::StrCat(i, "_", a);
      if (arrays == 1 && name == 0) text.clear();
      if (text.size() < name) text.resize(name, 'x');
      of.emplace_back(text, EightBytes(own_bytes ? ++number : a));
      chunks.push_back(of.back().second);
    }
    const uint64_t upload = i + 1;
    if (own_bytes || i == 0)
      server.PutChunks(upload, chunks);
    else
      server.FindMissing(upload, [&] {
        std::vector<Digest> digests;
        for (const auto& chunk : chunks) digests.push_back(Sha256(chunk));
        return digests;
      }());
    server.Commit(upload, ManifestOfChunks(of));
  }
}

// Chunks that came and are not committed.
void LeaveUploads(HeldServer& server, int uploads, int chunks) {
  uint64_t number = 0;
  for (int u = 0; u < uploads; ++u) {
    std::vector<std::string> all;
    for (int c = 0; c < chunks; ++c) all.push_back(EightBytes(++number));
    server.PutChunks(u + 1, all);
  }
}

// Uploads that were told of chunks that are there.
void HoldMany(HeldServer& server, int uploads, int chunks) {
  std::vector<std::string> all;
  std::vector<Digest> digests;
  for (int c = 0; c < chunks; ++c) {
    all.push_back(EightBytes(c));
    digests.push_back(Sha256(all.back()));
  }
  server.PutChunks(1, all);
  for (int u = 0; u < uploads; ++u) server.FindMissing(u + 2, digests);
}

void TagMany(HeldServer& server, int count, size_t length, bool pin) {
  PutMany(server, 1, 1, 0, true);
  const std::string token = TokenOf(ManifestOfChunks({{"", EightBytes(1)}}));
  if (pin) {
    EXPECT_OK(server.Pin(token));
  }
  for (int i = 0; i < count; ++i) {
    std::string name = absl::StrCat("@", i);
    if (name.size() < length) name.resize(length, 'x');
    EXPECT_OK(server.Tag(name, token));
  }
}

// Of one chunk, again and again: manifests of so many digests.
void PutLong(HeldServer& server, int count, int64_t chunks) {
  const std::string chunk(kChunkBytes, 'x');
  const Digest digest = Sha256(chunk);
  server.PutChunks(1, {chunk});
  for (int i = 0; i < count; ++i) {
    server.FindMissing(i + 1, {digest});
    DatasetManifest manifest;
    manifest.arrays.push_back(
        {"", Shape::Of(DType::kU8, {(chunks + i) * kChunkBytes}),
         std::vector<Digest>(chunks + i, digest)});
    server.Commit(i + 1, manifest);
  }
}

void PutLarge(HeldServer& server, int chunks) {
  std::vector<std::string> all;
  for (int c = 0; c < chunks; ++c) {
    std::string chunk(kChunkBytes, static_cast<char>(c));
    chunk[0] = static_cast<char>(c + 1);
    server.PutChunks(1, {chunk});
  }
}

// ---- the table

struct Kind {
  const char* name;
  std::function<void(HeldServer&, Kept&)> hold;
  bool on_disk = false;
  bool mapped = false;  // large blocks, which are not of the heap
};

const std::vector<Kind>& Kinds() {
  using S = HeldServer;
  static const auto& kinds = *new std::vector<Kind>{
      {"SmallValues", [](S& s, Kept& k) { UploadMany(s, k, 20000, 1); }},
      {"ValuesOfAPage", [](S& s, Kept& k) { UploadMany(s, k, 4000, 1024); }},
      {"ValuesOf1MiB", [](S& s, Kept& k) { UploadMany(s, k, 40, 1 << 18); },
       false, true},
      {"SmallResults", [](S& s, Kept& k) { RunMany(s, k, 10000, 1); }},
      {"ResultsOfAPage", [](S& s, Kept& k) { RunMany(s, k, 4000, 1024); }},
      {"FailedValues", [](S& s, Kept& k) { FailMany(s, k, 10000); }},
      {"DeclaredValues", [](S& s, Kept& k) { DeclareMany(s, k, 10000); }},
      {"SmallAnswers", [](S& s, Kept& k) { KeepAnswers(s, k, 8000, 1); }},
      {"AnswersOfAPage", [](S& s, Kept& k) { KeepAnswers(s, k, 3000, 1024); }},
      {"WaitingRequests",
       [](S& s, Kept& k) { KeepRequestsWaiting(s, k, 10, 200, 2); }},
      {"WaitingRequestsOf16KiB",
       [](S& s, Kept& k) { KeepRequestsWaiting(s, k, 5, 200, 4096); }},
      {"SessionsWithWaitingRequests",
       [](S& s, Kept& k) { KeepRequestsWaiting(s, k, 100, 10, 2); }},
      {"SessionsWithValues", [](S& s, Kept& k) { UploadInMany(s, k, 200, 5); }},
      {"Sessions", [](S& s, Kept& k) { OpenMany(s, k, 300); }},
      {"SmallExecutables", [](S& s, Kept& k) { CompileMany(s, k, 600, 0); }},
      {"LongExecutables", [](S& s, Kept& k) { CompileLong(s, k, 20, 2000); }},
      {"ExecutablesWith64KiB",
       [](S& s, Kept& k) { CompileMany(s, k, 100, 16 << 10); }},
      {"ExecutablesWith4MiB",
       [](S& s, Kept& k) { CompileMany(s, k, 8, 1 << 20); }, false, true},
      {"MixedExecutables", [](S& s, Kept& k) { CompileMixed(s, k, 30, 400); }},
      {"ExecutablesOfSums", [](S& s, Kept& k) { CompileSums(s, k, 30, 130); }},
      {"SmallDatasets", [](S& s, Kept&) { PutMany(s, 4000, 1, 0, true); }},
      {"SmallDatasetsOnDisk", [](S& s, Kept&) { PutMany(s, 2000, 1, 0, true); },
       true},
      {"DatasetsOf10Arrays",
       [](S& s, Kept&) { PutMany(s, 1000, 10, 8, true); }},
      {"DatasetsOfLongNames",
       [](S& s, Kept&) { PutMany(s, 200, 100, 100, false); }},
      {"DatasetsOfManyChunks", [](S& s, Kept&) { PutLong(s, 100, 1000); }},
      {"DatasetsOfLongNamesOnDisk",
       [](S& s, Kept&) { PutMany(s, 200, 100, 100, false); }, true},
      {"Chunks", [](S& s, Kept&) { PutLarge(s, 24); }, false, true},
      {"UploadsOfSmallChunks", [](S& s, Kept&) { LeaveUploads(s, 10, 1000); }},
      {"UploadsOfOneChunk", [](S& s, Kept&) { LeaveUploads(s, 3000, 1); }},
      {"ChunksThatUploadsHold", [](S& s, Kept&) { HoldMany(s, 100, 1000); }},
      {"Tags", [](S& s, Kept&) { TagMany(s, 5000, 0, false); }},
      {"LongTagsOnDisk", [](S& s, Kept&) { TagMany(s, 2000, 120, true); },
       true},
  };
  return kinds;
}

class HeldTest : public ::testing::TestWithParam<size_t> {};

TEST_P(HeldTest, IsChargedForWhatItIs) {
  const Kind& kind = Kinds()[GetParam()];
  const TemporaryFolder folder;
  std::vector<std::string> flags = {"--memory=1GiB"};
  if (kind.on_disk) flags.push_back("--data_dir=" + folder.path());
  HeldServer server(flags);
  Kept kept;
  const Held before = server.Measure();
  kind.hold(server, kept);
  const Held after = server.Measure();
  const int64_t taken =
      kind.mapped ? after.resident - before.resident : after.heap - before.heap;
  const int64_t charged = after.charged - before.charged;
  const double ratio =
      static_cast<double>(charged) / static_cast<double>(taken);
  std::cout << absl::StreamFormat(
      "%-26s heap %9d resident %9d charged %9d: %.2f\n", kind.name,
      after.heap - before.heap, after.resident - before.resident, charged,
      ratio);
  EXPECT_GE(ratio, kLeast);
  EXPECT_LE(ratio, kMost);
}

INSTANTIATE_TEST_SUITE_P(Kinds, HeldTest,
                         ::testing::Range<size_t>(0, Kinds().size()),
                         [](const auto& info) {
                           return std::string(Kinds()[info.param].name);
                         });

}  // namespace
}  // namespace hawser::testing
