#!/usr/bin/env bash
# Tests the recorders for Python, Go and Java, and the programs that the book shows. OMNILINK names the command, if it is not
# in PATH.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
OMNILINK=$(command -v "${OMNILINK:-omnilink}")
export OMNILINK
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== Python"
(cd python && python3 -m unittest test_omnilink_recorder)

echo "== Go"
unformatted=$(gofmt -l go ../examples/redis-replica)
[[ -z $unformatted ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
(cd go && go vet ./... && go test -count=1 ./...)

echo "== Java"
javac -encoding UTF-8 -Xlint:all -Werror -d "$work/classes" java/omnilink/*.java java/First.java
java -cp "$work/classes" omnilink.RecorderTest

echo "== the programs of the book"
(cd go && go build -buildvcs=false -o "$work/first" ./first)
reject() { # LANGUAGE TRACE COMMAND...
    local code=0
    mkdir "$work/$1"
    (cd "$work/$1" && "${@:3}")
    "$OMNILINK" check --spec register "$work/$1/$2" >"$work/$1/verdict" || code=$?
    [[ $code -eq 1 ]] || { echo "$1: expected a rejection, found exit code $code" >&2; cat "$work/$1/verdict" >&2; exit 1; }
    echo "$1: rejected"
}
PYTHONPATH=$here/python reject Python trace.jsonl python3 "$here/python/first.py"
reject Go trace "$work/first"
reject Java trace.jsonl java -cp "$work/classes" First
python3 - ../book/src/other-languages.md python/first.py go/first/main.go java/First.java <<'PYTHON'
import sys

chapter, *programs = [(path, open(path, encoding="utf-8").read()) for path in sys.argv[1:]]
for path, text in programs:
    if text.expandtabs(4) not in chapter[1]:
        sys.exit(f"{chapter[0]} does not show {path} as it is")
PYTHON
