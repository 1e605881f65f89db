#!/usr/bin/env bash
# Undoes deploy/quickstart.sh.
#
#   ./deploy/uninstall.sh [--purge]
#
# Stops the daemon and removes the programs. With --purge also indexes, models, logs and settings, and the folders that
# the quick start made, so that the home folder is as it was before.
set -euo pipefail

purge=no
case "${1:-}" in
  --purge) purge=yes ;;
  "") ;;
  *) echo "usage: uninstall.sh [--purge]" >&2; exit 2 ;;
esac

bin=$HOME/.local/bin
data=${XDG_DATA_HOME:-$HOME/.local/share}/footnote
state=${XDG_STATE_HOME:-$HOME/.local/state}/footnote
config=${XDG_CONFIG_HOME:-$HOME/.config}/footnote
receipt=$data/installed-folders

if [ -x "$bin/footnote" ]; then "$bin/footnote" down || true; fi
for program in footnote footnoted footnote-index footnote-mcp footnote-rest; do rm -f "$bin/$program"; done

if [ "$purge" = yes ]; then
  made=$(cat "$receipt" 2>/dev/null || true)
  rm -rf "$data" "$state" "$config"
  [ -z "${XDG_RUNTIME_DIR:-}" ] || rm -rf "$XDG_RUNTIME_DIR/footnote"
  # Deepest first; a folder that holds something else by now stays.
  printf '%s\n' "$made" | awk 'NF { print length($0), $0 }' | sort -rn | cut -d' ' -f2- |
    while read -r path; do rmdir "$path" 2>/dev/null || true; done
else
  echo "Indexes, models and logs stay in $data and $state; --purge removes them."
fi
