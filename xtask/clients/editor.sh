#!/usr/bin/env bash
# `coalesce lsp` by Neovim's own client: diagnostics, references, a move and its way back (docs/lsp.md).
set -euo pipefail
PROGRAM=$(realpath "$1")
export PROGRAM
here=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -r "$here/examples/duplicated/." "$tree"
cd "$tree"
git init -q && git add -A && git -c user.name=Ada -c user.email=ada@example.com commit -qm begin
said=$(timeout 120 nvim --headless -u NONE -c "luafile $here/xtask/clients/editor.lua" 2>&1)
echo "$said"
grep -q 'all as it should be' <<<"$said"
test -z "$(git status --short)"
