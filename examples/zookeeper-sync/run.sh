#!/usr/bin/env bash
# Starts three ZooKeeper servers, and checks what clients of the two followers read, without and with `sync` before each read.
# Exits with 0 if the first is rejected and the second accepted. OMNILINK names the command, if it is not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
omnilink=$(command -v "${OMNILINK:-omnilink}")
classpath=${ZOOKEEPER_CLASSPATH:-/usr/share/java/zookeeper.jar}
work=$(mktemp -d)
servers=()
stop() {
    [[ ${#servers[@]} -eq 0 ]] || kill "${servers[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT

javac -encoding UTF-8 -cp "$classpath" -d "$work/classes" ../../recorders/java/omnilink/Recorder.java Clients.java
read -ra ports < <(python3 -c '
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(9)]
print(*(it.getsockname()[1] for it in held))')

java=(java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)
for number in 1 2 3; do
    directory=$work/$number
    mkdir "$directory"
    echo "$number" >"$directory/myid"
    {
        echo "tickTime=2000"
        echo "initLimit=10"
        echo "syncLimit=5"
        echo "admin.enableServer=false"
        echo "dataDir=$directory"
        echo "clientPortAddress=127.0.0.1"
        echo "clientPort=${ports[number - 1]}"
        for other in 1 2 3; do
            echo "server.$other=127.0.0.1:${ports[other + 2]}:${ports[other + 5]}"
        done
    } >"$directory/zoo.cfg"
    "${java[@]}" -Dzookeeper.forceSync=no -cp "$classpath" org.apache.zookeeper.server.quorum.QuorumPeerMain \
        "$directory/zoo.cfg" >"$directory/log" 2>&1 &
    servers+=($!)
done

mode() { # PORT, prints `leader`, `follower`, or nothing while the server has not joined
    (exec 3<>"/dev/tcp/127.0.0.1/$1" && printf srvr >&3 && timeout 5 sed -n 's/^Mode: //p' <&3) 2>/dev/null || true
}
followers=()
for attempt in {1..120}; do
    followers=()
    leaders=0
    for port in "${ports[@]:0:3}"; do
        case $(mode "$port") in
        follower) followers+=("127.0.0.1:$port") ;;
        leader) leaders=$((leaders + 1)) ;;
        esac
    done
    [[ $leaders -eq 1 && ${#followers[@]} -eq 2 ]] && break
    [[ $attempt -lt 120 ]] || { echo "ZooKeeper does not answer" >&2; tail -n 3 "$work"/?/log >&2; exit 2; }
    sleep 0.5
done

status=0
cd "$work"
check() { # NAME EXPECTED
    local code=0
    "${java[@]}" -cp "classes:$classpath" Clients "$1" "$1" "${followers[@]}" 2>"$1.log" || { tail "$1.log" >&2; exit 2; }
    echo "== reads: $1"
    "$omnilink" check --spec register "$1.jsonl" || code=$?
    [[ $code -eq $2 ]] || { echo "expected exit code $2, found $code"; status=1; }
}
check plain 1
check sync 0
exit $status
