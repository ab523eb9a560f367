#!/usr/bin/env bash
# `coalesce mcp` by the inspector of the Model Context Protocol: what docs/mcp.md says of its tools.
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")/../.." && pwd)
inspector=$(realpath "${INSPECTOR:-$PWD/clients/node_modules/.bin/mcp-inspector}")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -r "$here/examples/duplicated/." "$tree"
cd "$tree"
git init -q && git add -A && git -c user.name=Ada -c user.email=ada@example.com commit -qm begin

ask() { "$inspector" --cli "$program" mcp --root . --method "$@" 2>&1; }
call() { ask tools/call --tool-name "$@"; }
# A step: what it is called, the words that have to be in the answer, and the answer.
holds() {
    if ! grep -qF -- "$2" <<<"$3"; then
        printf '%s: no %s in\n%s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
    echo "$1: $2"
}
manifest='schema = 1
[[move]]
from = "lidar.optimization.gpu_kernels"
to = "lidar.core.gpu_kernels"
'
listed=$(ask tools/list)
for tool in exists_already audit refs diff plan migrate rollback; do
    holds tools/list "\"name\": \"$tool\"" "$listed"
done
# A client that validates by the schemas says what it does not know of them.
if grep -i 'unknown format' <<<"$listed"; then exit 1; fi
holds exists_already lidar/optimization/gpu.py "$(call exists_already --tool-arg 'snippet=def gpu_available():
    try:
        import cupy
        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False
')"
holds audit stale-guarded-import "$(call audit)"
holds refs config/run.yaml "$(call refs --tool-arg name=lidar.optimization.gpu_kernels)"
holds diff definitions "$(call diff --tool-arg left=lidar.core.gpu right=lidar.optimization.gpu)"
holds plan Resolved "$(call plan --tool-arg "manifest=$manifest")"
holds migrate 'the tree is as it was' "$(call migrate --tool-arg "manifest=$manifest")"
holds 'without apply' '' "$(git status --short)"
test -z "$(git status --short)"
holds migrate applied "$(call migrate --tool-arg "manifest=$manifest" apply=true)"
test -e lidar/core/gpu_kernels.py
holds rollback 'files as before' "$(call rollback)"
test -z "$(git status --short)"
holds 'a wrong argument' -32602 "$(call refs --tool-arg nam=x || true)"
