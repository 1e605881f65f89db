#!/usr/bin/env bash
# Holds a running gateway against the table of hosts and origins, HTTP/2 included: host_gate.sh PORT CONFIG [OPTIONS]
#
# Installs by name and version what the client needs, once, beside what other tests keep.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cache=${FOOTNOTE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/footnote-test}
mkdir -p "$cache"
(
  flock 9
  [ -e "$cache/host-gate/ready" ] && exit
  python3 -m venv "$cache/host-gate"
  "$cache/host-gate/bin/pip" install -q 'h2==4.4.1'
  touch "$cache/host-gate/ready"
) 9>"$cache/host-gate.lock"
exec "$cache/host-gate/bin/python" "$here/host_gate.py" "$here/host-origin.json" "$@"
