#!/bin/bash
# Makes a bearer token for a tenant:
#   deploy/tls/make_token.sh TENANT [FILE] >> tokens.txt
# The token goes to FILE (TENANT.token unless said otherwise), which must not be
# there yet: give it to the client. The line for the server's --tokens_file goes
# to standard output; it holds the token's SHA-256, not the token.
set -euo pipefail
umask 077

if (($# < 1 || $# > 2)) || [[ $1 == -* ]]; then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
tenant=$1
file=${2:-$tenant.token}
if [[ ! $tenant =~ ^[A-Za-z0-9._@-]{1,64}$ ]]; then
  echo "make_token.sh: $tenant is not 1 to 64 of letters, digits and . _ - @" >&2
  exit 2
fi

if [[ -e $file ]]; then
  echo "make_token.sh: $file is there already" >&2
  exit 1
fi
token=$(openssl rand -hex 32)
set -o noclobber
printf '%s\n' "$token" >"$file"
digest=$(printf '%s' "$token" | openssl dgst -sha256 -r)
printf '%s %s\n' "$tenant" "${digest%% *}"
