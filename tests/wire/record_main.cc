// record PATH: writes a fixture of today's wire.
#include <fstream>
#include <iostream>

#include "client/remote/remote_client.h"
#include "tests/testing/in_process/server.h"
#include "tests/wire/program.h"
#include "tests/wire/recording.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: record PATH\n";
    return 2;
  }
  hawser::InProcessServer server;
  const auto recorder = hawser::NewRecorder();
  {
    const auto client = hawser::MakeRemoteClient(
        hawser::Recording(server.NewTransport(), recorder), {});
    const auto values = hawser::RunWireProgram(*client);
    if (!values.ok()) {
      std::cerr << values.status() << "\n";
      return 1;
    }
  }
  std::ofstream file(argv[1]);
  file << hawser::ToText(hawser::Recorded(*recorder));
  return file.good() ? 0 : 1;
}
