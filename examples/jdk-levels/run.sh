#!/bin/sh
# Compiles the recorder, records histories and checks them. Arguments go to the recorder: ./run.sh --histories 200
set -eu
cd "$(dirname "$0")"
rm -rf target/recorder target/histories
javac -d target/recorder recorder/*.java
java -cp target/recorder Recorder target/histories "$@"
cargo run --quiet --release -- target/histories
