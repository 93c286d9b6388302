//! The inputs, one row each. A function writes the input below `in` and returns the arguments of the command.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::Case;

/// The limits of every command that takes them.
const LIMITS: &str = "--timeout 1s --max-memory 200M --progress none";
const SHOWN_LIMITS: &str = "--timeout 1s --max-memory 200M";

/// How a command may end on an input: what is wrong with it was found, or it was given up.
const WRONG: &[i32] = &[2];
const GIVEN_UP: &[i32] = &[3];
const EITHER: &[i32] = &[2, 3];
/// It breaks off before its first operation: wrong, or nothing to check.
const DAMAGED: &[i32] = &[2, 3, 4];
const DECIDED: &[i32] = &[0, 1, 3];

type Maker = fn(&Path) -> Result<String>;

/// Every case.
pub(super) fn all() -> Vec<Case> {
    let tables = [
        json_lines(),
        texts(),
        edn(),
        other_tools(),
        binary(),
        work(),
        specifications(),
        bundles(),
        output(),
        monitors(),
        command_lines(),
    ];
    tables.into_iter().flatten().collect()
}

fn case(area: &'static str, name: &'static str, exits: &'static [i32], make: Maker) -> Case {
    let (timeout, memory) = (Duration::from_secs(1), 200 << 20);
    Case { area, name, make, stdin: "", timeout, memory, exits, is_long: false }
}

fn json_lines() -> Vec<Case> {
    vec![
        case("JSON Lines", "two million operations", GIVEN_UP, |to| {
            lines(to, 2_000_000, "register", |at| {
                format!(
                    r#"{{"process": {}, "action": "write", "args": [{at}], "start": {at}, "end": {}}}"#,
                    at % 8,
                    at + 4
                )
            })
        }),
        case("JSON Lines", "300,000 processes", DECIDED, |to| {
            lines(to, 300_000, "register", |at| {
                format!(r#"{{"process": "p{at}", "action": "write", "args": [{at}], "start": {at}, "end": {at}}}"#)
            })
        }),
        case("JSON Lines", "300,000 actions", EITHER, |to| {
            lines(to, 300_000, "register", |at| {
                format!(r#"{{"process": 0, "action": "a{at}", "args": [{at}], "start": {at}, "end": {at}}}"#)
            })
        }),
        case("JSON Lines", "a value nested a million times", EITHER, |to| {
            one(to, "register", r#"{"process": 0, "action": "write", "args": ["#, "[", 1 << 20, "")
        }),
        case("JSON Lines", "a tuple of ten million numbers", EITHER, |to| {
            one(to, "register", r#"{"process": 0, "action": "write", "args": [["#, "1,", 10_000_000, "1]]}")
        }),
        case("JSON Lines", "a tuple of ten million empty tuples", EITHER, |to| {
            one(to, "register", r#"{"process": 0, "action": "write", "args": [["#, "[],", 10_000_000, "1]]}")
        }),
        case("JSON Lines", "a string of 150 MB", EITHER, |to| {
            one(to, "register", r#"{"process": 0, "action": "write", "args": [""#, "abcdefghij", 15_000_000, r#""]}"#)
        }),
        case("JSON Lines", "an object of a million keys", DECIDED, |to| {
            let mut out = history(to)?;
            write!(out, r#"{{"process": 0, "action": "write", "start": 0, "end": 1, "args": [{{"#)?;
            for at in 0..1_000_000 {
                write!(out, r#""k{at}": 1, "#)?;
            }
            writeln!(out, r#""end": 1}}]}}"#)?;
            check(out, "register")
        }),
        case("JSON Lines", "a file larger than the memory limit", GIVEN_UP, |to| {
            let out = history(to)?;
            out.get_ref().set_len(8 << 30)?;
            check(out, "register")
        }),
        case("JSON Lines", "a device that never ends", GIVEN_UP, |_| {
            Ok(format!("check --spec register --from jsonl {LIMITS} /dev/zero"))
        }),
        Case {
            stdin: "/dev/zero",
            ..case("standard input", "it never ends", GIVEN_UP, |_| {
                Ok(format!("check --spec register --from text {LIMITS} -"))
            })
        },
    ]
}

fn texts() -> Vec<Case> {
    vec![
        case("text", "two million operations", GIVEN_UP, |to| {
            lines(to, 2_000_000, "register", |at| format!("T{} [{at} {}] write({at})", at % 8, at + 4))
        }),
        case("text", "a value nested a million times", EITHER, |to| {
            one(to, "register", "T0 [0 1] write(", "<<", 1 << 20, "")
        }),
        case("text", "a set of ten million numbers", EITHER, |to| {
            one(to, "register", "T0 [0 1] write({", "7, ", 10_000_000, "1})")
        }),
        case("text", "a process name of 100 MB", EITHER, |to| {
            one(to, "register", "\"", "abcdefghij", 10_000_000, "\" [0 1] write(1)")
        }),
    ]
}

fn edn() -> Vec<Case> {
    vec![
        case("EDN", "a million events", EITHER, |to| {
            lines(to, 1_000_000, "register", |at| {
                let kind = if at % 2 == 0 { "invoke" } else { "ok" };
                format!("{{:process {} :type :{kind} :f :write :value {at} :time {at}}}", (at / 2) % 8)
            })
        }),
        case("EDN", "a form nested a million times", EITHER, |to| {
            one(to, "register", "{:process 0 :type :invoke :f :write :value ", "[", 1 << 20, "")
        }),
        case("EDN", "a map of a million keys", DECIDED, |to| {
            let mut out = history(to)?;
            write!(out, "{{:process 0 :type :invoke :f :write :value {{")?;
            for at in 0..1_000_000 {
                write!(out, ":k{at} 1 ")?;
            }
            writeln!(out, "}}}}")?;
            check(out, "register")
        }),
        case("EDN", "an integer of ten million digits", DECIDED, |to| {
            one(to, "register", "{:process 0 :type :invoke :f :write :value ", "9", 10_000_000, "}\n")
        }),
    ]
}

/// Histories of other tools.
fn other_tools() -> Vec<Case> {
    vec![
        case("Jepsen JSON", "half a million events", EITHER, |to| {
            let mut out = history(to)?;
            write!(out, "[")?;
            for at in 0..500_000 {
                let (kind, process) = (if at % 2 == 0 { "invoke" } else { "ok" }, (at / 2) % 8);
                let event =
                    format!(r#""type": "{kind}", "f": "write", "value": {at}, "process": {process}, "time": {at}"#);
                writeln!(out, "{}{{{event}}}", if at == 0 { "" } else { "," })?;
            }
            writeln!(out, "]")?;
            check(out, "register")
        }),
        case("Jepsen JSON", "a value nested a million times", EITHER, |to| {
            one(to, "register", r#"[{"type": "invoke", "f": "write", "process": 0, "value": "#, "[", 1 << 20, "")
        }),
        case("Porcupine", "a million events of a store", DECIDED, |to| {
            lines(to, 1_000_000, "kv-append", |at| {
                let (kind, process) = (if at % 2 == 0 { "invoke" } else { "ok" }, (at / 2) % 8);
                format!("{{:process {process}, :type :{kind}, :f :append, :key \"0\", :value \"x {process} {at} y\"}}")
            })
        }),
        case("Porcupine", "a million events of etcd", DECIDED, |to| {
            lines(to, 1_000_000, "cas-register", |at| {
                let (kind, process) = (if at % 2 == 0 { "invoke" } else { "ok" }, (at / 2) % 8);
                format!("INFO  jepsen.util - {process}\t:{kind}\t:write\t{}", at / 2)
            })
        }),
        case("MessagePack", "an array that claims four billion elements", DAMAGED, |to| {
            log(to, &[0x81, 0xa4, b'a', b'r', b'g', b's', 0xdd, 0xff, 0xff, 0xff, 0xff])
        }),
        case("MessagePack", "a map that claims four billion keys", DAMAGED, |to| {
            log(to, &[0xdf, 0xff, 0xff, 0xff, 0xff])
        }),
        case("MessagePack", "a string that claims 4 GB", DAMAGED, |to| {
            log(to, &[0x81, 0xa4, b'a', b'r', b'g', b's', 0xdb, 0xff, 0xff, 0xff, 0xff])
        }),
        case("MessagePack", "an array nested a million times", EITHER, |to| {
            let mut bytes = vec![0x81, 0xa4, b'a', b'r', b'g', b's'];
            bytes.resize(1 << 20, 0x91);
            log(to, &bytes)
        }),
    ]
}

fn binary() -> Vec<Case> {
    vec![
        case("binary", "a record that claims 4 GB", EITHER, |to| segment(to, &[0xff, 0xff, 0xff, 0xff, 0xff, 2])),
        case("binary", "a tuple that claims 2^60 values", EITHER, |to| {
            let action = [0x09, 1, 0, 5, b'w', b'r', b'i', b't', b'e', 1, 0, 0];
            let mut records = vec![action.len() as u8 - 1];
            records.extend(&action[1..]);
            let body = [2, 0, 1, 1, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
            records.push(body.len() as u8);
            records.extend(body);
            segment(to, &records)
        }),
        case("binary", "a segment of 8 GB of zeros", &[4], |to| {
            let args = segment(to, &[])?;
            File::options().write(true).open(to.join("in/trace/0.seg"))?.set_len(8 << 30)?;
            Ok(args)
        }),
        case("binary", "3,000 segments", &[0, 2, 3], |to| {
            for number in 0..3000 {
                let name = format!("p{number:05}");
                let mut bytes = b"\x89OMNISEG\x01\x06".to_vec();
                bytes.extend(name.as_bytes());
                bytes.extend([0x0b, 1, 0, 5, b'w', b'r', b'i', b't', b'e', 1, 0, 0, 5, 2, 0, 1, 1, 0x51]);
                fs::create_dir_all(to.join("in/trace"))?;
                fs::write(to.join("in/trace").join(format!("{name}.seg")), bytes)?;
            }
            Ok(format!("check --spec register {LIMITS} trace"))
        }),
        case("binary", "a manifest of 8 GB", EITHER, |to| {
            let args = segment(to, &[])?;
            File::create(to.join("in/trace/manifest.json"))?.set_len(8 << 30)?;
            Ok(args)
        }),
    ]
}

/// Small inputs that are much work.
fn work() -> Vec<Case> {
    vec![
        case("gzip", "8 GB of zeros in 8 MB", EITHER, |to| {
            let mut out = GzEncoder::new(history(to)?, Compression::fast());
            let zeros = vec![0; 1 << 20];
            for _ in 0..2048 {
                out.write_all(&zeros)?;
            }
            check(out.finish()?, "register")
        }),
        case("gzip", "two million operations", EITHER, |to| {
            let mut out = GzEncoder::new(history(to)?, Compression::fast());
            for at in 0..2_000_000 {
                writeln!(out, "T{} [{at} {}] write({at})", at % 8, at + 4)?;
            }
            check(out.finish()?, "register")
        }),
        case("search", "a queue filled in any of 24! orders", GIVEN_UP, |to| {
            let mut out = history(to)?;
            for process in 0..24 {
                writeln!(out, "T{process} [0 {}] push({process})", 1000 + process)?;
            }
            writeln!(out, "T99 [2000 2001] pop() = 77")?;
            check(out, "queue --no-shortcuts")
        }),
        case("search", "a set with 200 unfinished operations", DECIDED, |to| {
            let mut out = history(to)?;
            for process in 0..200 {
                writeln!(out, "T{process} [{process} ...] add({})", process % 40)?;
            }
            for at in 0..20_000 {
                writeln!(out, "R{} [{} {}] contains({}) = TRUE", at % 4, 1000 + at, 1004 + at, at % 40)?;
            }
            check(out, "set")
        }),
    ]
}

fn specifications() -> Vec<Case> {
    vec![
        case("specification", "an expression nested 200,000 times", EITHER, |to| {
            module(to, &format!("Deep == {}1{}", "(".repeat(200_000), ")".repeat(200_000)))
        }),
        case("specification", "40 MB of definitions", EITHER, |to| {
            let mut out = BufWriter::new(create(to, "M.tla")?);
            writeln!(out, "{HEAD}")?;
            for number in 0..1_000_000 {
                writeln!(out, "D{number} == <<{number}, \"a text\", x>>")?;
            }
            writeln!(out, "====")?;
            tla(to)
        }),
        case("specification", "definitions that double 60 times", GIVEN_UP, |to| {
            let doubled: String = (1..=60).map(|n| format!("D{n} == <<D{}, D{}>>\n", n - 1, n - 1)).collect();
            module(to, &format!("D0 == x\n{doubled}write(v) == D60 = D60 /\\ x' = v"))
        }),
        case("specification", "an action over the subsets of 1 .. 40", GIVEN_UP, |to| {
            module(to, "write(v) == \\E s \\in SUBSET (1 .. 40) : (\\A e \\in s : e > 50) /\\ s # {} /\\ x' = v")
        }),
        case("specification", "a recursion that does not end", EITHER, |to| {
            module(to, "RECURSIVE F(_)\nF(n) == F(n + 1)\nwrite(v) == F(0) /\\ x' = v")
        }),
        case("specification", "2^40 initial states", EITHER, |to| {
            let text = HEAD.replace("x = 0", "x \\in [1 .. 40 -> {0, 1}]");
            fs::create_dir_all(to.join("in"))?;
            fs::write(to.join("in/M.tla"), format!("{text}\nwrite(v) == x' = x\n===="))?;
            tla(to)
        }),
        case("specification", "a configuration of 100 MB", EITHER, |to| {
            let mut out = BufWriter::new(create(to, "M.cfg")?);
            for number in 0..4_000_000 {
                writeln!(out, "CONSTANT C{number} = {number}")?;
            }
            out.flush()?;
            module(to, "write(v) == x' = v")
        }),
        case("specification", "settings of 100 MB", EITHER, |to| {
            let mut out = BufWriter::new(create(to, "omnilink.toml")?);
            for number in 0..3_000_000 {
                writeln!(out, "[operations.o{number}]\naction = \"a\"")?;
            }
            out.flush()?;
            module(to, "write(v) == x' = v")
        }),
        case("specification", "a module larger than the memory limit", EITHER, |to| {
            create(to, "M.tla")?.set_len(8 << 30)?;
            tla(to)
        }),
    ]
}

fn bundles() -> Vec<Case> {
    vec![
        case("bundle", "a name of 1.5 GB", WRONG, |to| {
            let mut out = bundle(to)?;
            out.write_all(&header("././@LongLink", b'L', 1536 << 20))?;
            let name = vec![b'a'; 1 << 20];
            for _ in 0..1536 {
                out.write_all(&name)?;
            }
            out.finish()?;
            Ok(format!("report {SHOWN_LIMITS} run.omni"))
        }),
        case("bundle", "60,000 files", WRONG, |to| {
            let mut out = bundle(to)?;
            for number in 0..60_000 {
                out.write_all(&header(&format!("trace/{number}.seg"), b'0', 0))?;
            }
            out.finish()?;
            Ok("runs show run.omni".to_owned())
        }),
        case("bundle", "a run.json of 1 GB", WRONG, |to| {
            let mut out = bundle(to)?;
            out.write_all(&header("run.json", b'0', 1 << 30))?;
            let zeros = vec![0; 1 << 20];
            for _ in 0..1024 {
                out.write_all(&zeros)?;
            }
            out.finish()?;
            Ok("runs show run.omni".to_owned())
        }),
        Case {
            is_long: true,
            ..case("bundle", "a recording of 3.5 GB", EITHER, |to| {
                let mut out = bundle(to)?;
                out.write_all(&header("trace/0.seg", b'0', 3584 << 20))?;
                let zeros = vec![0; 1 << 20];
                for _ in 0..3584 {
                    out.write_all(&zeros)?;
                }
                out.finish()?;
                Ok(format!("report {SHOWN_LIMITS} run.omni"))
            })
        },
    ]
}

fn output() -> Vec<Case> {
    vec![
        case("page", "a report nested a million times", WRONG, |to| {
            let mut out = BufWriter::new(create(to, "report.json")?);
            for _ in 0..1 << 20 {
                write!(out, "{{\"a\":[")?;
            }
            out.flush()?;
            Ok(format!("report {SHOWN_LIMITS} report.json"))
        }),
        case("page", "a report of 8 GB", EITHER, |to| {
            create(to, "report.json")?.set_len(8 << 30)?;
            Ok(format!("report {SHOWN_LIMITS} report.json"))
        }),
        case("page", "half a million operations", DECIDED, |to| {
            lines(to, 500_000, "queue", |at| format!("T{} [{at} {at}] push(\"value {at} {at}\")", at % 8))?;
            Ok(format!("report --spec queue {SHOWN_LIMITS} history"))
        }),
        case("page", "values of 1 MB in a thousand operations", DECIDED, |to| {
            let value = "x".repeat(100_000);
            lines(to, 1000, "queue", move |at| format!("T0 [{at} {at}] push(\"{at} {value}\")"))?;
            Ok(format!("report --spec queue {SHOWN_LIMITS} history"))
        }),
        case("view", "a device that never ends", GIVEN_UP, |_| {
            Ok(format!("view --no-open --spec register --from jsonl {SHOWN_LIMITS} /dev/zero"))
        }),
        case("page", "an action over the subsets of 1 .. 40", GIVEN_UP, |to| {
            module(to, "write(v) == \\E s \\in SUBSET (1 .. 40) : (\\A e \\in s : e > 50) /\\ s # {} /\\ x' = v")?;
            Ok(format!("report --output page.html M.tla {SHOWN_LIMITS} history"))
        }),
        case("export", "half a million operations", DECIDED, |to| {
            lines(to, 500_000, "queue", |at| format!("T{} [{at} {at}] push({at})", at % 8))?;
            Ok(format!("convert --to perfetto --spec queue {SHOWN_LIMITS} history"))
        }),
        case("conversion", "a device that never ends", EITHER, |_| {
            Ok(format!("convert --from jsonl {SHOWN_LIMITS} /dev/zero"))
        }),
        case("conversion", "two million operations", &[0, 3], |to| {
            lines(to, 2_000_000, "register", |at| format!("T{} [{at} {}] write({at})", at % 8, at + 4))?;
            Ok(format!("convert {SHOWN_LIMITS} history -o out"))
        }),
    ]
}

fn monitors() -> Vec<Case> {
    vec![
        Case {
            timeout: Duration::from_secs(60),
            memory: 64 << 20,
            ..case("monitor", "100,000 operations of 1,000 keys, in TLA+", &[0], |to| monitored(to, 100_000))
        },
        Case {
            timeout: Duration::from_secs(180),
            memory: 64 << 20,
            is_long: true,
            ..case("monitor", "a million operations of 1,000 keys, in TLA+", &[0], |to| monitored(to, 1_000_000))
        },
        Case {
            timeout: Duration::from_secs(60),
            memory: 128 << 20,
            ..case("monitor", "200,000 transactions of 10,000 keys", &[0], |to| transactions(to, 200_000))
        },
        Case {
            timeout: Duration::from_secs(180),
            memory: 128 << 20,
            is_long: true,
            ..case("monitor", "two million transactions of 10,000 keys", &[0], |to| transactions(to, 2_000_000))
        },
    ]
}

fn command_lines() -> Vec<Case> {
    vec![
        case("command line", "a thousand histories that are not there", &[2], |_| {
            Ok(format!("check --spec register {LIMITS} {}", "nowhere ".repeat(1_000)))
        }),
        case("command line", "no memory at all", GIVEN_UP, |to| {
            lines(to, 10, "register", |at| format!("T0 [{at} {at}] write({at})"))?;
            Ok("check --spec register --max-memory 1 history".to_owned())
        }),
        case("command line", "no time at all", DECIDED, |to| {
            lines(to, 10, "register", |at| format!("T0 [{at} {at}] write({at})"))?;
            Ok("check --spec register --timeout 0s history".to_owned())
        }),
        case("command line", "a capacity beyond all numbers", WRONG, |to| {
            lines(to, 10, "register", |at| format!("T0 [{at} {at}] write({at})"))?;
            Ok("check --spec queue:capacity=99999999999999999999 history".to_owned())
        }),
        case("command line", "a directory that contains itself", &[2, 4], |to| {
            fs::create_dir_all(to.join("in/a"))?;
            std::os::unix::fs::symlink("..", to.join("in/a/b"))?;
            Ok(format!("check --spec register {LIMITS} a"))
        }),
    ]
}

/// Creates a file below `in`.
fn create(to: &Path, name: &str) -> Result<File> {
    fs::create_dir_all(to.join("in"))?;
    Ok(File::create(to.join("in").join(name))?)
}

fn history(to: &Path) -> Result<BufWriter<File>> {
    Ok(BufWriter::new(create(to, "history")?))
}

fn check(mut out: BufWriter<File>, spec: &str) -> Result<String> {
    out.flush()?;
    Ok(format!("check --spec {spec} {LIMITS} history"))
}

/// A history of lines.
fn lines(to: &Path, count: u64, spec: &str, line: impl Fn(u64) -> String) -> Result<String> {
    let mut out = history(to)?;
    for at in 0..count {
        writeln!(out, "{}", line(at))?;
    }
    check(out, spec)
}

/// A history that is mostly the same piece, again and again.
fn one(to: &Path, spec: &str, begin: &str, piece: &str, times: usize, end: &str) -> Result<String> {
    let mut out = history(to)?;
    write!(out, "{begin}")?;
    for _ in 0..times {
        out.write_all(piece.as_bytes())?;
    }
    write!(out, "{end}")?;
    check(out, spec)
}

/// A log of the first version.
fn log(to: &Path, bytes: &[u8]) -> Result<String> {
    fs::create_dir_all(to.join("in/trace"))?;
    fs::write(to.join("in/trace/0.log"), bytes)?;
    Ok(format!("check --spec register --from msgpack {LIMITS} trace"))
}

/// A trace of one segment with these records.
fn segment(to: &Path, records: &[u8]) -> Result<String> {
    fs::create_dir_all(to.join("in/trace"))?;
    let mut bytes = b"\x89OMNISEG\x01\x02c1".to_vec();
    bytes.extend(records);
    fs::write(to.join("in/trace/0.seg"), bytes)?;
    Ok(format!("check --spec register {LIMITS} trace"))
}

/// The beginning of a specification of a register.
const HEAD: &str = "---- MODULE M ----\nEXTENDS Integers, Sequences\nVARIABLE x\nInit == x = 0\nRECURSIVE Z(_)\nZ(n) == n\nNext == UNCHANGED x";

/// This many writes and reads of registers with 1,000 keys, of eight processes.
fn monitored(to: &Path, count: u64) -> Result<String> {
    let mut out = history(to)?;
    let register = "write(key, v) == x' = v\nread(key, v) == x = v /\\ UNCHANGED x\n\
                    Next == \\E key \\in Nat, v \\in Nat : write(key, v) \\/ read(key, v)\n====\n";
    fs::write(to.join("in/M.tla"), HEAD.replace("Next == UNCHANGED x", register))?;
    for at in 0..count {
        let (process, key, round) = (at % 8, at % 1_000, at / 2_000);
        let call = match (at / 1_000) % 2 {
            0 => format!(r#""action": "write", "args": {{"key": {key}, "v": {round}}}"#),
            _ => format!(r#""action": "read", "args": {{"key": {key}}}, "results": {{"v": {round}}}"#),
        };
        writeln!(out, r#"{{"process": {process}, {call}, "start": {}, "end": {}}}"#, 10 * at, 10 * at + 35)?;
    }
    out.flush()?;
    Ok("monitor history --complete --spec M.tla --lateness 1us --retention 1us --every 1ms".to_owned())
}

/// Transactions of eight processes with timestamps, each of which reads what four earlier ones wrote and writes four keys.
fn transactions(to: &Path, count: u64) -> Result<String> {
    const KEYS: u64 = 10_000;
    let mut out = history(to)?;
    for at in 0..count {
        let (start, commit) = (2 * at + 1, 2 * at + 2);
        let reads = (0..4).map(|place| {
            let key = (4 * at + place + KEYS / 2) % KEYS;
            // The last transaction that wrote it, if there is one.
            let writer = (4 * at + place + KEYS / 2).checked_sub(KEYS).map(|written| written / 4);
            format!(r#"["r", {key}, {}]"#, writer.map_or(0, |writer| writer + 1))
        });
        let writes = (0..4).map(|place| format!(r#"["w", {}, {}]"#, (4 * at + place) % KEYS, at + 1));
        let txn: Vec<String> = reads.chain(writes).collect();
        let (process, txn) = (at % 8, txn.join(", "));
        writeln!(
            out,
            r#"{{"process": {process}, "txn": [{txn}], "status": "committed", "snapshot_ts": {start}, "commit_ts": {commit}}}"#
        )?;
    }
    out.flush()?;
    let options = "--isolation snapshot --order session --lateness 0s --retention 0s --every 10ms";
    Ok(format!("monitor history --complete {options}"))
}

/// A specification with these definitions, and a history for it.
fn module(to: &Path, definitions: &str) -> Result<String> {
    fs::create_dir_all(to.join("in"))?;
    let head = HEAD.replace("\nNext == UNCHANGED x", "");
    let next =
        if definitions.contains("write(v)") { "Next == \\E v \\in 0 .. 9 : write(v)" } else { "Next == UNCHANGED x" };
    fs::write(to.join("in/M.tla"), format!("{head}\n{definitions}\n{next}\n===="))?;
    tla(to)
}

fn tla(to: &Path) -> Result<String> {
    let mut out = history(to)?;
    for at in 0..10 {
        writeln!(out, "T0 [{at} {at}] write({at})")?;
    }
    out.flush()?;
    Ok(format!("check M.tla {LIMITS} history"))
}

fn bundle(to: &Path) -> Result<GzEncoder<BufWriter<File>>> {
    Ok(GzEncoder::new(BufWriter::new(create(to, "run.omni")?), Compression::fast()))
}

/// The header of an entry of a tar archive.
fn header(name: &str, kind: u8, size: u64) -> [u8; 512] {
    let mut header = [0; 512];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
