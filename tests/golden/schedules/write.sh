#!/bin/sh
# Writes the runs in `runs` again: five failures that controlled schedules find, after `omnilink shrink`. Needs omnilink in
# PATH, Cargo and a C++ compiler. Read the difference: `crates/report` and `viewer/e2e` have tests about these runs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Fuzzes the harness in the current directory, shrinks the first failure, and keeps the smaller run without what differs
# from machine to machine. The segments of a run that got stuck end in zeros.
keep() {
  name=$1
  shift
  omnilink fuzz --seed 1 --progress none "$@" >fuzz.txt 2>&1 || true
  run=$(sed -n 's/^found after .*, kept as \([0-9a-f]*\):.*/\1/p' fuzz.txt | head -1)
  omnilink shrink "$run" >shrink.txt || true
  small=$(sed -n 's/^kept as \([0-9a-f]*\):.*/\1/p' shrink.txt)
  rm -rf "$here/runs/$name"
  mkdir -p "$here/runs/$name"
  cp -r "target/omnilink/$small" "$here/runs/$name"
  cd "$here/runs/$name/$small"
  sed -i "s|$scratch/$name/||g" run.json report.json
  sed -i 's|"began": .*,|"began": 1750000000,|; s|"took": .*,|"took": 0.01,|' run.json
  sed -i 's|"system": .*,|"system": "Linux",|; s|"processor": .*,|"processor": "any",|' run.json
  for segment in trace/*.seg; do
    [ "$(stat -c %s "$segment")" -lt 65536 ] || truncate -s 64 "$segment"
  done
  echo "$name: $(tail -1 "$scratch/$name/shrink.txt")"
}

# A harness in C++: its specification and the options of `fuzz`.
cpp() {
  name=$1 spec=$2
  shift 2
  mkdir "$scratch/$name"
  cd "$scratch/$name"
  cp "$here/$spec" .
  omnilink init --spec "$spec" --lang cpp >/dev/null
  cp "$here/$name.cpp" main.cpp
  keep "$name" "$@"
}

cpp cpp Counter.tla
cpp stuck Counter.tla
cpp race Counter.tla
cpp weak Pair.tla --weak-memory --order program

mkdir "$scratch/rust"
cd "$scratch/rust"
cp -r "$here/../../../bench/shrink/stack/." .
mv main.rs ..
omnilink init --spec Stack.tla >/dev/null
mv ../main.rs omnilink/src/main.rs
keep rust
