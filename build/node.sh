#!/bin/sh
# Runs a script of ours with a Node that can: the one in node_modules, else the system's when it is 22 or newer.
here=$(dirname "$0")
own="$here/../node_modules/.bin/node"
[ -x "$own" ] && exec "$own" "$@"
major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
[ "$major" -ge 22 ] && exec node "$@"
echo "coppice: needs Node 22.18 or newer (found $(node -v 2>/dev/null || echo none)); run 'npm ci' first" >&2
exit 1
