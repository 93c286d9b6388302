#!/usr/bin/env bash
# Starts PostgreSQL, and checks a counter at two isolation levels. Exits with 0 if it is rejected at READ COMMITTED and
# accepted at SERIALIZABLE. OMNILINK names the command, if it is not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
omnilink=$(command -v "${OMNILINK:-omnilink}")
here=$PWD
PATH+=$(printf ':%s' /usr/lib/postgresql/*/bin) # Debian keeps the server out of PATH.
work=$(mktemp -d)
chmod 755 "$work"
server=
stop() {
    [[ -z $server ]] || kill -INT "$server" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT

python=python3
if ! python3 -c 'import psycopg' 2>/dev/null; then
    python3 -m venv "$work/python"
    "$work/python/bin/pip" install --quiet --disable-pip-version-check 'psycopg[binary]==3.2.10'
    python=$work/python/bin/python
fi

# The server refuses to run as root.
mkdir "$work/data"
as=()
if [[ $(id -u) -eq 0 ]]; then
    as=(setpriv --reuid postgres --regid postgres --clear-groups)
    chown postgres: "$work/data"
fi
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
cd "$work"
"${as[@]}" initdb -D data -A trust -U postgres >initdb.log
"${as[@]}" postgres -D data -c listen_addresses=127.0.0.1 -c port="$port" -c unix_socket_directories= 2>server.log &
server=$!
for attempt in {1..200}; do
    pg_isready --quiet --host 127.0.0.1 --port "$port" && break
    [[ $attempt -lt 200 ]] || { echo "PostgreSQL does not answer" >&2; tail -3 server.log >&2; exit 2; }
    sleep 0.1
done

status=0
check() { # LEVEL EXPECTED
    local code=0
    PYTHONPATH=$here/../../recorders/python "$python" "$here/clients.py" "$1" "$port" "$1"
    echo "== $1"
    "$omnilink" check --spec counter "$1" || code=$?
    [[ $code -eq $2 ]] || { echo "expected exit code $2, found $code"; status=1; }
}
check READ_COMMITTED 1
check SERIALIZABLE 0
exit $status
