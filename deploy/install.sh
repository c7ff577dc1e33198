#!/bin/bash
# Installs what is missing of deploy/packages.txt. Safe to repeat; does not
# touch the network when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")"

mapfile -t wanted < <(
  sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' packages.txt)

declare -A installed=()
while read -r status package; do
  [[ $status == installed ]] && installed[$package]=1
done < <(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' \
           "${wanted[@]}" 2>/dev/null)

missing=()
for package in "${wanted[@]}"; do
  [[ -n ${installed[$package]:-} ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

if ((EUID != 0)); then
  echo "deploy/install.sh: not root, and these packages are missing:" >&2
  echo "  ${missing[*]}" >&2
  echo "Install them with: sudo $PWD/install.sh" >&2
  exit 1
fi

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt() {
  # Another apt may hold the lock for a moment, and mirrors hiccup.
  apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}
apt update
apt install --yes --no-install-recommends "${missing[@]}" >/dev/null
