#!/bin/sh
# Records the histories of all systems into a directory: `run.sh DIR [options of the recorders]`.
# Exits with 1 if a system could not be run; the reason is on standard error.
set -u
if [ $# -lt 1 ]; then
    echo "usage: run.sh DIR [--histories N] [--seconds N] [--seed N]" >&2
    exit 2
fi
here=$(dirname "$0")
# Waiting for a disk would make the histories longer, and no server is restarted.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
missing=
for system in redis etcd zookeeper postgres; do
    python3 "$here/$system.py" "$@" || missing="$missing $system"
done
if [ -n "$missing" ]; then
    echo "not run, or not completely:$missing" >&2
    exit 1
fi
