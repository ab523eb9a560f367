"""Builds grimp's graph of a package; with a second argument, caches in that directory."""

import sys

import grimp

package, *cache = sys.argv[1:]
grimp.build_graph(package, cache_dir=cache[0] if cache else None)
