#!/bin/bash
# Gives this checkout the disk cache of builds that all checkouts of a user
# share: writes .bazelrc.cache, which .bazelrc imports. Safe to repeat.
#
#   deploy/build_cache.sh           use it
#   deploy/build_cache.sh --prune   delete what was used longest ago, down to
#                                   HAWSER_BUILD_CACHE_GIB (8)
#
# Bazel does not hash system headers, so the folder is named by a hash of what
# brings them: the versions of deploy/packages.txt, of all they depend on, and
# of the CUDA toolkit. Results of tests are not in it: a checkout runs its own.
set -euo pipefail
cd "$(dirname "$0")/.."
export HOME=${HOME:-/root}
root=${XDG_CACHE_HOME:-$HOME/.cache}/hawser/build

versions() {
  mapfile -t wanted < <(
    sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' deploy/packages.txt)
  apt-cache depends --recurse --installed --no-recommends --no-suggests \
    --no-conflicts --no-breaks --no-replaces --no-enhances "${wanted[@]}" |
    grep '^[a-z0-9]' | sort -u |
    xargs dpkg-query --show --showformat='${Package} ${Version}\n' 2>/dev/null
  grep -h '#define CUDA_VERSION' /usr/local/cuda/include/cuda.h 2>/dev/null || true
}

# prune GIB: by when Bazel last read or wrote a file of any of the caches.
prune() {
  [[ -d $root ]] || return 0
  find "$root" -type f -printf '%A@ %T@ %s %p\n' |
    awk '{ print ($1 > $2 ? $1 : $2), $3, $4 }' | sort -rn |
    awk -v most="$(($1 << 30))" '(sum += $2) > most { print $3 }' |
    xargs --no-run-if-empty --delimiter='\n' rm -f
  find "$root" -mindepth 1 -type d -empty -delete
}

case ${1:-} in
  "") ;;
  --prune) prune "${HAWSER_BUILD_CACHE_GIB:-8}"; exit ;;
  *) echo "usage: deploy/build_cache.sh [--prune]" >&2; exit 2 ;;
esac
folder=$root/$(versions | sha256sum | cut -c1-16)
mkdir -p "$folder"
echo "build --disk_cache=$folder" >.bazelrc.cache
