#!/bin/bash
# Makes what mutual TLS needs, for a server reached under the hosts named:
#   deploy/tls/make_certs.sh DIR [HOST|ADDRESS]...
# DIR gets ca.crt and ca.key, server.crt and server.key, client.crt and
# client.key. localhost, 127.0.0.1 and ::1 are always among the hosts.
#
# What is in DIR already is used again: the CA always, the server's certificate
# unless hosts are named, which renews it (a running server takes the new one).
#   TENANT=alice deploy/tls/make_certs.sh DIR     alice.crt for tenant alice
#   DAYS=30 deploy/tls/make_certs.sh DIR gpu-1    how long they last (825)
# The CA lasts ten years.
set -euo pipefail
umask 077

if (($# < 1)) || [[ $1 == -* ]]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
dir=$1
shift
tenant=${TENANT:-client}
days=${DAYS:-825}
if [[ ! $tenant =~ ^[A-Za-z0-9._@-]{1,64}$ || $tenant =~ ^(ca|server|\..*)$ ]]
then
  echo "make_certs.sh: TENANT=$tenant is not 1 to 64 of letters, digits and" \
    ". _ - @, or is ca, server or begins with a dot" >&2
  exit 2
fi

names="DNS:localhost,IP:127.0.0.1,IP:::1"
for host in "$@"; do
  if [[ $host == *:* || $host =~ ^[0-9]+(\.[0-9]+){3}$ ]]; then
    names+=",IP:$host"
  else
    names+=",DNS:$host"
  fi
done

mkdir -p "$dir"
work=$(mktemp -d "$dir/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Runs openssl, whose chatter is of interest only when it fails.
quietly() {
  openssl "$@" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}

new_key() {
  quietly genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

# sign NAME COMMON_NAME EXTENSIONS: NAME.key and NAME.crt, signed by the CA. A
# server that looks in between the two renames finds a pair that does not match,
# and looks again a second later.
sign() {
  new_key "$work/new.key"
  quietly req -new -key "$work/new.key" -subj "/CN=$2" -out "$work/new.csr"
  printf '%s\n' "basicConstraints=critical,CA:FALSE" \
    "keyUsage=critical,digitalSignature" "$3" >"$work/extensions"
  quietly x509 -req -in "$work/new.csr" -CA "$dir/ca.crt" \
    -CAkey "$dir/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
    -days "$days" -sha256 -extfile "$work/extensions" -out "$work/new.crt"
  chmod 644 "$work/new.crt"
  mv "$work/new.key" "$dir/$1.key"
  mv "$work/new.crt" "$dir/$1.crt"
}

if [[ ! -f $dir/ca.key || ! -f $dir/ca.crt ]]; then
  new_key "$work/ca.key"
  quietly req -x509 -new -key "$work/ca.key" -subj "/CN=hawser CA" \
    -days 3650 -sha256 -addext "basicConstraints=critical,CA:TRUE,pathlen:0" \
    -addext "keyUsage=critical,keyCertSign,cRLSign" -out "$work/ca.crt"
  chmod 644 "$work/ca.crt"
  mv "$work/ca.key" "$dir/ca.key"
  mv "$work/ca.crt" "$dir/ca.crt"
fi
if (($# > 0)) || [[ ! -f $dir/server.key || ! -f $dir/server.crt ]]; then
  sign server hawser-server "extendedKeyUsage=serverAuth
subjectAltName=$names"
fi
sign "$tenant" "$tenant" "extendedKeyUsage=clientAuth"

echo "in $dir: ca, server, $tenant (.crt and .key)"
echo "ca.key signs more of them: keep it on neither machine"
