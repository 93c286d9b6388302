#!/usr/bin/env bash
# Soaks the monitor for a minute in total: on Redis, and on etcd with serializable and with linearizable reads. Exits with 0 if
# it finds violations in the first two and none in the third. OMNILINK names the command, if it is not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
OMNILINK=$(command -v "${OMNILINK:-omnilink}")
export OMNILINK

status=0
check() { # ARGUMENT...
    echo "== $*"
    python3 soak.py "$@" --minutes 0.33 || status=1
}
check redis
check etcd
check etcd --linearizable
exit $status
