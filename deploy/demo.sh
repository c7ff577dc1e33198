#!/bin/bash
# hawser on one machine, on real data: a server on loopback, Fashion-MNIST put
# once and used by token, and the same answer when the server is killed half
# way; then on three servers at once. Installs what is missing; leaves nothing
# running.
set -euo pipefail
cd "$(dirname "$0")/.."

export HOME=${HOME:-/root} USER=${USER:-$(id -un)}
deploy/install.sh
echo "== building"
bazel build --noshow_progress --color=no --curses=no --ui_event_filters=-info \
  //server:hawserd //client/examples:fashion_mnist_knn //client/cli:hawser

scratch=$(mktemp -d)
servers=()
stop() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap stop EXIT

# Its address goes to `address`, its process to `server`. $1: its folder.
start_server() {
  : >"$scratch/server.out"
  bazel-bin/server/hawserd --listen=127.0.0.1:0 --data_dir="$scratch/$1" \
    >"$scratch/server.out" 2>"$scratch/server.err" &
  server=$!
  servers+=("$server")
  for _ in $(seq 100); do
    if read -r line <"$scratch/server.out" && [[ $line == "hawserd ready"* ]]; then
      echo "$line"
      address=$(cut -d' ' -f4 <<<"$line")
      return
    fi
    sleep 0.1
  done
  echo "the server did not start:" >&2
  cat "$scratch/server.err" >&2
  exit 1
}

echo "== a server"
start_server data
export HAWSER_SERVERS=$address
bazel-bin/client/cli/hawser status

echo "== nearest neighbours on the server; the data is uploaded"
bazel-bin/client/examples/fashion_mnist_knn
echo "== again: the server has the data"
bazel-bin/client/examples/fashion_mnist_knn
echo "== again, and the server is killed with -9 after five batches"
bazel-bin/client/examples/fashion_mnist_knn --kill_server_after=5 \
  --server_pid="$server"
{ wait "$server" || true; } 2>/dev/null  # or bash reports the kill

echo "== a new server on the same folder still has the data"
start_server data
export HAWSER_SERVERS=$address
bazel-bin/client/examples/fashion_mnist_knn

echo "== on three servers, by HAWSER_SPREAD=1 alone"
start_server second
HAWSER_SERVERS+=,$address
start_server third
HAWSER_SERVERS+=,$address
HAWSER_SPREAD=1 bazel-bin/client/examples/fashion_mnist_knn
echo "== again, and one of them is killed with -9 after five batches"
HAWSER_SPREAD=1 bazel-bin/client/examples/fashion_mnist_knn \
  --kill_server_after=5 --server_pid="$server"
{ wait "$server" || true; } 2>/dev/null
