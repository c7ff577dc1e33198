#!/bin/bash
# All programs of hawser as one file that runs without its packages; see
# deploy/bundle/README.md.
#
#   deploy/bundle.sh [--check] [FOLDER]     FOLDER: bundle, if left out
#
# --check also starts server and client in a chroot that holds nothing but
# glibc, libstdc++ and libgcc_s. Needs root.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export HOME=${HOME:-/root} USER=${USER:-$(id -un)}

check=0
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: deploy/bundle.sh [--check] [FOLDER]" >&2
  exit 2
fi
mkdir -p "${1:-bundle}"
folder=$(cd "${1:-bundle}" && pwd)
bundle=$folder/hawser_bundle
# Elementary functions of vectors, found beside the program.
sleef=/usr/lib/x86_64-linux-gnu/libsleef.so.3
sleef_copyright=/usr/share/doc/libsleef3/copyright

max_bytes=$((40 << 20))
allowed_libraries='libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-x86-64'
max_glibc=2.34
max_glibcxx=3.4.30

build() {
  cd "$root"
  # The flags of the default build, so that only the link is done again.
  bazel build --noshow_progress --color=no --curses=no --ui_event_filters=-info \
    --define=hawser_link=static --linkopt=-s //deploy/bundle:hawser_bundle
  install -m 755 bazel-bin/deploy/bundle/hawser_bundle "$bundle"
  install -m 644 "$sleef" "$folder/"
  install -m 644 "$sleef_copyright" "$folder/libsleef.copyright"
  for program in hawser hawserd conformance device_check gpu_bench \
    compile_bench; do
    ln -sf hawser_bundle "$folder/$program"
  done
}

fail() {
  echo "bundle: $*" >&2
  exit 1
}

# newest PREFIX: the newest symbol version it needs, 2.34 of GLIBC_2.34.
newest() {
  objdump -T "$bundle" | grep -oP "\b$1_\K[0-9.]+" | sort -uV | tail -1
}

check_needs() {
  local bytes libraries other glibc glibcxx
  bytes=$(stat -c %s "$bundle")
  libraries=$(readelf -d "$bundle" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  other=$(grep -vE "^($allowed_libraries)\.so" <<<"$libraries" || true)
  glibc=$(newest GLIBC)
  glibcxx=$(newest GLIBCXX)
  echo "$bundle: $((bytes >> 10)) KiB, glibc >= $glibc," \
    "libstdc++ >= GLIBCXX_$glibcxx; needs" $libraries
  ((bytes <= max_bytes)) || fail "$bytes bytes, at most $max_bytes"
  [[ -z $other ]] || fail "needs $other"
  at_most "$glibc" "$max_glibc" || fail "glibc $glibc, at most $max_glibc"
  at_most "$glibcxx" "$max_glibcxx" ||
    fail "GLIBCXX $glibcxx, at most $max_glibcxx"
}

at_most() {
  [[ $(printf '%s\n' "$1" "$2" | sort -V | tail -1) == "$2" ]]
}

# make_chroot FOLDER: the bundle and the libraries it needs, nothing else.
make_chroot() {
  local library
  mkdir -p "$1/tmp" "$1/dev" "$1/lib64"
  cp "$bundle" "$folder/$(basename "$sleef")" "$1/"
  ln -s hawser_bundle "$1/hawser"
  ln -s hawser_bundle "$1/hawserd"
  cp "$root/tests/vectors/add.txtpb" "$1/"
  # Without devices only these two are asked for.
  mknod -m 666 "$1/dev/null" c 1 3
  mknod -m 666 "$1/dev/urandom" c 1 9
  for library in $(ldd "$bundle" | grep -oE '/[^ ]+'); do
    mkdir -p "$1$(dirname "$library")"
    cp -L "$library" "$1$library"
  done
}

run_in_chroot() {
  ((EUID == 0)) || fail "--check needs root, for a chroot"
  scratch=$(mktemp -d)
  server=
  trap stop EXIT
  make_chroot "$scratch"
  chroot "$scratch" /hawserd --listen=127.0.0.1:0 \
    >"$scratch/out" 2>"$scratch/err" &
  server=$!
  local line=
  for _ in $(seq 100); do
    read -r line <"$scratch/out" && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  [[ $line == "hawserd ready"* ]] ||
    fail "the server did not start: $(cat "$scratch/err")"
  echo "$line"
  local address
  address=$(cut -d' ' -f4 <<<"$line")
  HAWSER_SERVERS=$address chroot "$scratch" /hawser status |
    tee "$scratch/status"
  grep -q 'SLEEF' "$scratch/status" || fail "SLEEF beside it is not found"
  chroot "$scratch" /hawser check --target="$address" /add.txtpb
  chroot "$scratch" /hawser_bundle hawser check /add.txtpb
}

stop() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}

build
check_needs
((!check)) || run_in_chroot
