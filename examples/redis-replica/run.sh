#!/usr/bin/env bash
# Starts a Redis primary and its replica, and checks what clients see that read from the replica, and from the primary.
# Exits with 0 if the first is rejected and the second accepted. OMNILINK names the command, if it is not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
omnilink=$(command -v "${OMNILINK:-omnilink}")
work=$(mktemp -d)
servers=()
stop() {
    [[ ${#servers[@]} -eq 0 ]] || kill "${servers[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT

go build -buildvcs=false -o "$work/clients" .
read -r primary replica < <(python3 -c '
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(it.getsockname()[1] for it in held))')

start() { # PORT OPTION...
    mkdir "$work/$1"
    redis-server --bind 127.0.0.1 --port "$1" --dir "$work/$1" --save '' "${@:2}" >"$work/$1/log" &
    servers+=($!)
}
await() { # PORT COMMAND... until its output has the last word
    local word=${*: -1}
    for _ in {1..200}; do
        redis-cli -p "$1" "${@:2:$#-2}" 2>/dev/null | grep -q "$word" && return
        sleep 0.05
    done
    echo "the server on port $1 does not answer" >&2
    tail -3 "$work/$1/log" >&2
    exit 2
}
start "$primary"
await "$primary" PING PONG
start "$replica" --replicaof 127.0.0.1 "$primary" --repl-diskless-sync-delay 0
await "$replica" INFO replication master_link_status:up

status=0
check() { # NAME PORT EXPECTED
    local code=0
    (cd "$work" && ./clients "$1" "$primary" "$2")
    echo "== reads from the $1"
    (cd "$work" && "$omnilink" check --spec register "$1") || code=$?
    [[ $code -eq $3 ]] || { echo "expected exit code $3, found $code"; status=1; }
}
check replica "$replica" 1
check primary "$primary" 0
exit $status
