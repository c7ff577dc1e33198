#include "server/flags.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "server/memory_limit.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:7070", "");
ABSL_FLAG(int, max_connections, 4096, "");
ABSL_FLAG(int, rpc_threads, 0, "");
ABSL_FLAG(bool, insecure, false, "");
ABSL_FLAG(std::string, tls_cert, "", "");
ABSL_FLAG(std::string, tls_key, "", "");
ABSL_FLAG(std::string, tls_client_ca, "", "");
ABSL_FLAG(std::string, tokens_file, "", "");
ABSL_FLAG(std::string, device, "auto", "");
ABSL_FLAG(std::string, device_memory, "0", "");
ABSL_FLAG(absl::Duration, device_patience, absl::Minutes(2), "");
ABSL_FLAG(std::string, kernel_cache, "", "");
ABSL_FLAG(std::string, memory, "0", "");
ABSL_FLAG(absl::Duration, run_limit, absl::ZeroDuration(), "");
ABSL_FLAG(absl::Duration, lease, absl::Seconds(60), "");
ABSL_FLAG(std::string, session_memory, "0", "");
ABSL_FLAG(std::string, data_dir, "", "");
ABSL_FLAG(std::string, dataset_memory, "8GiB", "");
ABSL_FLAG(std::string, prepared_memory, "0", "");
ABSL_FLAG(absl::Duration, dataset_lease, absl::Minutes(10), "");
ABSL_FLAG(std::string, dataset_disk, "0", "");
ABSL_FLAG(std::string, disk_reserve, "256MiB", "");
ABSL_FLAG(std::string, tenant_bytes, "0", "");
ABSL_FLAG(int64_t, tenant_datasets, 100'000, "");
ABSL_FLAG(int64_t, tenant_upload_chunks, int64_t{1} << 20, "");
ABSL_FLAG(std::string, scrub_rate, "8MiB", "");

namespace hawser::server {
namespace {

struct FlagHelp {
  absl::string_view group;  // "": that of the line before
  absl::string_view name;
  absl::string_view value;
  absl::string_view text;
};

constexpr FlagHelp kFlags[] = {
    {"Connections", "listen", "ADDRESS",
     "host:port (port 0 takes a free one) or unix:/path"},
    {"", "max_connections", "N",
     "connections at a time; silent ones make room for others"},
    {"", "rpc_threads", "N",
     "threads that serve connections; 0: one per 8 cores, up to 4"},
    {"", "insecure", "",
     "listen beyond loopback although there is no --tls_client_ca"},
    {"Credentials (files are read again when they change, and on SIGHUP)",
     "tls_cert", "FILE", "PEM chain of this server's certificate"},
    {"", "tls_key", "FILE", "PEM private key of it, without a passphrase"},
    {"", "tls_client_ca", "FILE",
     "PEM certificates; clients must show one that these have signed"},
    {"", "tokens_file", "FILE",
     "lines \"TENANT SHA256-HEX-OF-TOKEN\"; clients must send a token"},
    {"Computing", "device", "NAME",
     "cuda, cuda:N (the Nth GPU, from 0), cpu, emu (a GPU emulated for tests; "
     "needs g++) or auto"},
    {"", "device_memory", "BYTES",
     "the most memory of a GPU that values may take; 0: what it has"},
    {"", "device_patience", "TIME",
     "a GPU that gets nothing done for so long, while something waits for it, "
     "is lost"},
    {"", "kernel_cache", "DIR",
     "where compiled GPU kernels survive a restart; empty: memory only"},
    {"", "memory", "BYTES",
     "the most this process is to take; 0: three quarters of what the machine "
     "and its cgroup have"},
    {"", "run_limit", "TIME",
     "the most of the device one execution may have; 0: 30m while sessions of "
     "several tenants are open"},
    {"Sessions", "lease", "TIME",
     "how long a client's values outlive its connection"},
    {"", "session_memory", "BYTES",
     "the most one session may hold; 0: what the device has"},
    {"Datasets", "data_dir", "DIR",
     "where datasets survive a restart; empty: memory only"},
    {"", "dataset_memory", "BYTES",
     "the most memory for datasets; what is on disk makes room first"},
    {"", "prepared_memory", "BYTES",
     "of that, touched at the start, so that uploads need not wait for it"},
    {"", "dataset_lease", "TIME",
     "after its last use a dataset is not evicted for so long"},
    {"", "dataset_disk", "BYTES",
     "the most disk for datasets, then unpinned ones go; 0: no limit"},
    {"", "disk_reserve", "BYTES",
     "what the disk of data_dir must have left; 0: nothing"},
    {"", "tenant_bytes", "BYTES", "quota of each tenant; 0: none"},
    {"", "tenant_datasets", "N", "quota of each tenant; 0: none"},
    {"", "tenant_upload_chunks", "N",
     "chunks that each tenant's unfinished puts may hold, 64 bytes of memory "
     "each"},
    {"", "scrub_rate", "BYTES",
     "of what is on disk, read back and verified per second; 0: nothing"},
};

std::string DefaultOf(absl::string_view name) {
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  return flag == nullptr ? "" : flag->DefaultValue();
}

}  // namespace

bool WantsHelp(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--help" || word == "-help" || word == "-h") return true;
  }
  return false;
}

std::string HelpText() {
  std::string out =
      "hawserd runs tensor programs and keeps datasets for hawser clients.\n"
      "\n"
      "usage: hawserd [--flag=value ...]\n";
  for (const FlagHelp& flag : kFlags) {
    if (!flag.group.empty()) absl::StrAppend(&out, "\n", flag.group, "\n");
    std::string head = absl::StrCat("  --", flag.name,
                                    flag.value.empty() ? "" : "=", flag.value);
    head.resize(std::max<size_t>(head.size() + 2, 28), ' ');
    const std::string value = DefaultOf(flag.name);
    absl::StrAppend(&out, head, flag.text);
    if (!flag.value.empty() && !value.empty()) {
      absl::StrAppend(&out, " (default ", value, ")");
    }
    absl::StrAppend(&out, "\n");
  }
  absl::StrAppend(&out,
                  "\nWhat a client puts and computes is its tenant's alone. "
                  "The tenant is that of\nits token; without --tokens_file "
                  "the common name of its certificate; without\n"
                  "--tls_client_ca either, \"default\". Health and reflection "
                  "need no token.\nBeyond loopback and Unix sockets clients "
                  "need certificates, unless --insecure\nis given. "
                  "deploy/tls/README.md makes certificates and tokens.\n"
                  "\nBYTES may end in KiB, MiB, GiB or TiB; TIME in ms, s, m "
                  "or h.\nIt says on standard output when it is ready, logs "
                  "on standard error\n(HAWSER_LOG_LEVEL=0..2), and stops on "
                  "SIGTERM. On\nSIGUSR1 it says on standard output what it "
                  "holds: sessions, buffers of the\ndevice, and how many of "
                  "these are arrays of datasets that it keeps.\n"
                  "\nIt exits with 0 after a signal, 2 for a command line "
                  "that makes no sense, 69\nwhen its GPU is lost (start it "
                  "again), 1 for anything else.\n");
  return out;
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  size_t digits = trimmed.find_first_not_of("0123456789.");
  if (digits == absl::string_view::npos) digits = trimmed.size();
  double number = 0;
  std::string unit =
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(trimmed.substr(digits)));
  constexpr absl::string_view kPrefixes = "kmgt";
  int power = 0;
  if (!unit.empty()) {
    power = static_cast<int>(kPrefixes.find(unit[0])) + 1;  // npos: 0
    if (power > 0) unit = unit.substr(1);
  }
  const bool known = unit.empty() || unit == "b" || (power > 0 && unit == "ib");
  if (!known || !absl::SimpleAtod(trimmed.substr(0, digits), &number) ||
      number < 0 || std::ldexp(number, 10 * power) >= 0x1p62) {
    return InvalidArgument("\"", text,
                           "\" is no number of bytes (as 512MiB or 1.5GiB)");
  }
  return static_cast<int64_t>(std::ldexp(number, 10 * power));
}

namespace {

absl::Status ReadSizes(HostOptions* options) {
  HostOptions& host = *options;
  int64_t session_memory = 0;
  const std::pair<const absl::Flag<std::string>*, int64_t*> sizes[] = {
      {&FLAGS_dataset_memory, &host.datasets.memory_bytes},
      {&FLAGS_prepared_memory, &host.datasets.prepared_bytes},
      {&FLAGS_dataset_disk, &host.datasets.disk_bytes},
      {&FLAGS_disk_reserve, &host.datasets.disk_reserve},
      {&FLAGS_tenant_bytes, &host.datasets.tenant_bytes},
      {&FLAGS_scrub_rate, &host.datasets.scrub_bytes_per_second},
      {&FLAGS_session_memory, &session_memory},
      {&FLAGS_memory, &host.memory},
  };
  for (const auto& [flag, into] : sizes) {
    auto bytes = ParseBytes(absl::GetFlag(*flag));
    if (!bytes.ok()) {
      return Annotate(
          bytes.status(),
          absl::StrCat("--", absl::GetFlagReflectionHandle(*flag).Name()));
    }
    *into = *bytes;
  }
  if (host.datasets.prepared_bytes > host.datasets.memory_bytes) {
    return InvalidArgument(
        "--prepared_memory=", host.datasets.prepared_bytes,
        " is more than --dataset_memory=", host.datasets.memory_bytes);
  }
  if (session_memory > 0) {
    host.executor.sessions.limits.handles.bytes = session_memory;
  }
  host.datasets.lease = absl::GetFlag(FLAGS_dataset_lease);
  host.datasets.tenant_datasets = absl::GetFlag(FLAGS_tenant_datasets);
  host.datasets.tenant_upload_chunks =
      absl::GetFlag(FLAGS_tenant_upload_chunks);
  if (host.datasets.lease < absl::ZeroDuration() ||
      host.datasets.tenant_datasets < 0 ||
      host.datasets.tenant_upload_chunks < 0) {
    return InvalidArgument("--dataset_lease, --tenant_datasets and "
                           "--tenant_upload_chunks must not be negative");
  }
  return absl::OkStatus();
}

// The least that holds one message and its answer.
constexpr int64_t kLeastMemory = 128 << 20;

absl::Status SetMemory(CommandLine* line) {
  HostOptions& host = line->host;
  if (host.memory == 0) host.memory = MemoryToBeHad() / 4 * 3;
  if (host.memory == 0) return absl::OkStatus();  // no system says how much
  if (host.memory < kLeastMemory) {
    return InvalidArgument("--memory=", host.memory, " must be at least ",
                           kLeastMemory);
  }
  host.account = MemoryAccount::Make(
      MemoryForClients(host.memory), " (three quarters of --memory)");
  line->compute.memory = host.account;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv) {
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    return InvalidArgument("\"", rest[1], "\" is not a flag");
  }
  CommandLine line;
  line.compute.device = absl::GetFlag(FLAGS_device);
  line.compute.kernel_cache = absl::GetFlag(FLAGS_kernel_cache);
  auto memory = ParseBytes(absl::GetFlag(FLAGS_device_memory));
  if (!memory.ok()) return Annotate(memory.status(), "--device_memory");
  line.compute.device_memory = *memory;
  line.compute.device_patience = absl::GetFlag(FLAGS_device_patience);
  if (line.compute.device_patience <= absl::ZeroDuration()) {
    return InvalidArgument("--device_patience must be more than nothing");
  }
  HostOptions& host = line.host;
  host.listen = absl::GetFlag(FLAGS_listen);
  host.insecure = absl::GetFlag(FLAGS_insecure);
  host.access = {.tls_cert = absl::GetFlag(FLAGS_tls_cert),
                 .tls_key = absl::GetFlag(FLAGS_tls_key),
                 .tls_client_ca = absl::GetFlag(FLAGS_tls_client_ca),
                 .tokens_file = absl::GetFlag(FLAGS_tokens_file)};
  host.acceptor.max_connections = absl::GetFlag(FLAGS_max_connections);
  if (host.acceptor.max_connections < 1) {
    return InvalidArgument("--max_connections=", host.acceptor.max_connections,
                           " must be at least 1");
  }
  host.rpc_threads = absl::GetFlag(FLAGS_rpc_threads);
  if (host.rpc_threads < 0 || host.rpc_threads > 64) {
    return InvalidArgument("--rpc_threads=", host.rpc_threads,
                           " must be from 0 to 64");
  }
  host.datasets.data_dir = absl::GetFlag(FLAGS_data_dir);
  host.executor.sessions.lease = absl::GetFlag(FLAGS_lease);
  if (host.executor.sessions.lease <= absl::ZeroDuration()) {
    return InvalidArgument("--lease must be more than nothing");
  }
  host.executor.run_limit = absl::GetFlag(FLAGS_run_limit);
  if (host.executor.run_limit < absl::ZeroDuration()) {
    return InvalidArgument("--run_limit must not be negative");
  }
  HAWSER_RETURN_IF_ERROR(ReadSizes(&host));
  HAWSER_RETURN_IF_ERROR(SetMemory(&line));
  return line;
}

}  // namespace hawser::server
