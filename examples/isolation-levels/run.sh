#!/bin/sh
# Records a history of each level of each system into a directory, and finds the levels that it has:
# `run.sh DIR [options of the recorders]`. Exits with 1 if a system could not be run, or breaks the level that it promises.
set -u
if [ $# -lt 1 ]; then
    echo "usage: run.sh DIR [--clients N] [--transactions N] [--seed N]" >&2
    exit 2
fi
here=$(dirname "$0")
# Waiting for a disk would make transactions longer, and no server is restarted.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
missing=
for system in postgresql mariadb sqlite etcd redis; do
    python3 "$here/$system.py" "$@" || missing="$missing $system"
done
python3 "$here/levels.py" --omnilink "${OMNILINK:-omnilink}" "$1" || exit 1
if [ -n "$missing" ]; then
    echo "not run, or not completely:$missing" >&2
    exit 1
fi
