//! `omnilink monitor`: alerts, restarts after a kill, a directory that grows, and what it serves.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const OMNILINK: &str = env!("CARGO_BIN_EXE_omnilink");

/// The lines of three clients that write and read registers, with these keys bad: the last read of each returns the value
/// before the last.
fn lines(keys: u64, rounds: u64, bad: &BTreeSet<u64>) -> Vec<String> {
    let mut lines: Vec<String> = (0..3).map(|client| format!(r#"{{"process": "c{client}", "progress": 0}}"#)).collect();
    let (mut seqs, mut time) = ([0_u64; 3], 1_u64);
    let mut operation = |client: usize, action: &str, key: u64, value: u64| {
        let (args, results) = match action {
            "write" => (format!(r#"{{"key": {key}, "value": {value}}}"#), "{}".to_owned()),
            _ => (format!(r#"{{"key": {key}}}"#), format!(r#"{{"value": {value}}}"#)),
        };
        let (start, end, seq) = (time, time + 3, seqs[client]);
        time += 4;
        seqs[client] += 1;
        format!(
            r#"{{"process": "c{client}", "action": "{action}", "args": {args}, "results": {results}, "start": {start}, "end": {end}, "seq": {seq}}}"#
        )
    };
    for round in 1..=rounds {
        for key in 0..keys {
            lines.push(operation((key % 3) as usize, "write", key, round));
            let stale = u64::from(round == rounds && bad.contains(&key));
            lines.push(operation(((key + 1) % 3) as usize, "read", key, round - stale));
        }
    }
    let count = seqs;
    lines.extend((0..3).map(|client| {
        format!(r#"{{"process": "c{client}", "progress": {time}, "operations": {}, "is_last": true}}"#, count[client])
    }));
    lines
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(OMNILINK);
    command.current_dir(directory).args(["monitor", "--spec", "register:initial=0", "--lateness", "0ns"]);
    command
}

/// The keys of violations in a file of alerts, and the number of alerts.
fn violations(path: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(path).expect("alerts");
    let alerts: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an alert")).collect();
    let violations = alerts.iter().filter(|alert| alert["kind"] == "violation");
    (violations.map(|alert| alert["key"].as_str().expect("a key").to_owned()).collect(), alerts.len())
}

#[test]
fn a_monitor_that_is_killed_continues_where_it_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let bad = BTreeSet::from([3, 17, 42]);
    let lines = lines(50, 60, &bad);
    let mut kills = 0;
    let status = loop {
        let mut monitor = command(directory.path())
            .args([
                "--checkpoint",
                "state",
                "--checkpoint-every",
                "20ms",
                "--every",
                "10ms",
                "--alerts",
                "alerts.jsonl",
            ])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command");
        let mut input = monitor.stdin.take().expect("its input");
        let (began, patience) = (Instant::now(), Duration::from_millis(100 + 37 * kills));
        let mut is_killed = false;
        for chunk in lines.chunks(100) {
            // A monitor that was killed reads no more.
            let text: String = chunk.iter().fold(String::new(), |text, line| text + line + "\n");
            if input.write_all(text.as_bytes()).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
            if kills < 10 && began.elapsed() > patience {
                monitor.kill().expect("a process");
                is_killed = true;
                break;
            }
        }
        drop(input);
        let status = monitor.wait().expect("an end");
        if !is_killed {
            break status;
        }
        kills += 1;
    };
    assert_eq!((status.code(), kills), (Some(1), 10));
    let (mut keys, alerts) = violations(&directory.path().join("alerts.jsonl"));
    keys.sort();
    assert_eq!((keys, alerts), (vec!["17".to_owned(), "3".to_owned(), "42".to_owned()], 3));
    // Each operation counts once.
    let state = fs::read_to_string(directory.path().join("state")).expect("a checkpoint");
    let head: serde_json::Value = serde_json::from_str(state.lines().next().expect("a line")).expect("JSON");
    assert_eq!(head["counts"]["operations"], 50 * 60 * 2);
    assert_eq!(head["counts"]["checked"], 50 * 60 * 2);
}

#[test]
fn a_lost_line_makes_no_false_alarm() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut lines = lines(5, 4, &BTreeSet::new());
    // A write, without which the reads after it look wrong.
    let place =
        lines.iter().position(|line| line.contains("\"write\"") && line.contains("\"value\": 3")).expect("a write");
    lines.remove(place);
    fs::write(directory.path().join("lines"), lines.join("\n") + "\n").expect("a file");
    let input = fs::File::open(directory.path().join("lines")).expect("the file");
    let output = command(directory.path()).stdin(input).output().expect("the command");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\"lost\"") && !text.contains("\"violation\""), "{text}");
    assert_eq!(output.status.code(), Some(3));
}

/// Writes a segment of a process: all its operations, or a part of them.
struct Segment {
    file: fs::File,
    count: u64,
    time: u64,
}

impl Segment {
    fn new(path: &Path, process: &str) -> Segment {
        let mut file = fs::File::create(path).expect("a file");
        let mut bytes = b"\x89OMNISEG\x01".to_vec();
        bytes.push(process.len() as u8);
        bytes.extend(process.bytes());
        for definition in
            [b"\x01\x00\x05write\x02\x03key\x05value\x00".as_slice(), b"\x01\x01\x04read\x01\x03key\x01\x05value"]
        {
            bytes.push(definition.len() as u8);
            bytes.extend(definition);
        }
        file.write_all(&bytes).expect("a header");
        Segment { file, count: 0, time: 0 }
    }

    fn operation(&mut self, number: u8, start: u64, key: i64, value: i64) {
        let mut body = vec![2, number];
        for time in [start, start + 1] {
            body.extend(varint((time - self.time) << 1));
            self.time = time;
        }
        for value in [key, value] {
            body.extend([3].into_iter().chain(varint((value << 1) as u64)));
        }
        self.file.write_all(&[&[body.len() as u8], &*body].concat()).expect("an operation");
        self.count += 1;
    }

    fn close(mut self) {
        let body: Vec<u8> = [7].into_iter().chain(varint(self.count)).collect();
        self.file.write_all(&[&[body.len() as u8], &*body].concat()).expect("an end");
    }
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    text
}

/// Waits until a metric has a value.
fn wait(address: &str, line: &str) -> String {
    let began = Instant::now();
    loop {
        let metrics = get(address, "/metrics");
        if metrics.lines().any(|metric| metric == line) {
            return metrics;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{line}: {metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn interrupt(mut monitor: Child) -> Option<i32> {
    let killed = Command::new("kill").args(["-INT", &monitor.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    monitor.wait().expect("an end").code()
}

#[test]
fn a_directory_is_followed_while_it_grows() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("trace");
    fs::create_dir(&trace).expect("a directory");
    let mut writer = Segment::new(&trace.join("0.seg"), "w");
    let mut monitor = command(directory.path())
        .args(["trace", "--listen", "127.0.0.1:0", "--pages", "pages", "--retention", "0ns", "--every", "10ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut said = BufReader::new(monitor.stderr.take().expect("its errors"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    for time in 0..10 {
        writer.operation(0, 10 * time + 10, 1, time as i64 + 1);
    }
    wait(&address, "omnilink_operations_total 10");
    // Another process, and its stale read.
    let mut reader = Segment::new(&trace.join("1.seg"), "r");
    reader.operation(1, 200, 1, 10);
    reader.operation(1, 210, 1, 3);
    writer.operation(0, 300, 2, 5);
    reader.operation(1, 310, 2, 5);
    writer.close();
    reader.close();
    let metrics = wait(&address, "omnilink_violations_total 1");
    assert!(metrics.contains("# TYPE omnilink_violations_total counter"), "{metrics}");
    assert!(get(&address, "/health").contains("\r\n\r\nok\n"));
    // The overview is requested again and again, and the page of an alert is not.
    let [overview, alert] = ["/", "/alert-1.html"].map(|path| get(&address, path));
    assert!(overview.contains("violations in") && overview.contains("\r\nrefresh: 2\r\n"), "{overview}");
    assert!(alert.starts_with("HTTP/1.1 200") && !alert.contains("\r\nrefresh: "), "{alert}");
    assert!(alert.contains("register 1 holds 10"), "{alert}");
    assert!(get(&address, "/alert-2.html").starts_with("HTTP/1.1 404"));
    assert!(get(&address, "/other").starts_with("HTTP/1.1 404"));
    let mut output = String::new();
    let stdout = monitor.stdout.take().expect("its output");
    assert_eq!(interrupt(monitor), Some(1));
    BufReader::new(stdout).read_to_string(&mut output).expect("text");
    assert!(output.contains("`read` returned 3, but register 1 holds 10"), "{output}");
    assert!(directory.path().join("pages/alert-1.html").is_file());
}

/// A span of a client with these attributes, which are pairs of a name and a value in the JSON of OTLP.
fn span(id: u64, start: u64, attributes: &[(&str, String)]) -> serde_json::Value {
    let attribute = |(name, value): &(&str, String)| serde_json::json!({ "key": name, "value": serde_json::from_str::<serde_json::Value>(value).expect("JSON") });
    serde_json::json!({
        "traceId": format!("{id:032x}"), "spanId": format!("{id:016x}"), "name": "call",
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 5).to_string(),
        "attributes": attributes.iter().map(attribute).collect::<Vec<_>>(),
    })
}

#[test]
fn spans_are_received() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut monitor = command(directory.path())
        .args(["--otlp", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--every", "10ms", "--retention", "0ns"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut said = BufReader::new(monitor.stderr.take().expect("its errors"));
    let mut address = || {
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned()
    };
    let (metrics, receiver) = (address(), address());
    let post = |body: &str| {
        let mut stream = TcpStream::connect(&receiver).expect("a server");
        let head = format!("POST /v1/traces HTTP/1.1\r\nHost: {receiver}\r\nContent-Type: application/json\r\n");
        write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a response");
        text
    };
    let of = |process: &str, seq: u64, action: &str, value: u64| {
        let field = if action == "write" { "omnilink.arg.value" } else { "omnilink.result.value" };
        let text = |text: &str| format!(r#"{{"stringValue": "{text}"}}"#);
        let number = |number: u64| format!(r#"{{"intValue": "{number}"}}"#);
        vec![
            ("omnilink.process", text(process)),
            ("omnilink.action", text(action)),
            ("omnilink.key", text("x")),
            (field, number(value)),
            ("omnilink.seq", number(seq)),
        ]
    };
    let send = |spans: Vec<serde_json::Value>| {
        let body = serde_json::json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "spans": spans }] }] });
        post(&body.to_string())
    };
    // The second operation of a comes first, and once more.
    let second = span(2, 20, &of("a", 1, "write", 2));
    assert!(send(vec![second.clone()]).starts_with("HTTP/1.1 200"));
    assert!(send(vec![span(1, 10, &of("a", 0, "write", 1)), second]).starts_with("HTTP/1.1 200"));
    wait(&metrics, "omnilink_operations_total 2");
    send(vec![
        span(3, 30, &of("b", 0, "read", 1)),
        span(4, 40, &of("a", 2, "write", 3)),
        span(5, 50, &of("b", 1, "read", 3)),
    ]);
    wait(&metrics, "omnilink_violations_total 1");
    wait(&metrics, "omnilink_duplicates_total 1");
    assert!(post("{").starts_with("HTTP/1.1 400"));
    assert!(post(r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 7}]}]}]}"#).starts_with("HTTP/1.1 400"));
    assert!(get(&receiver, "/v1/traces").starts_with("HTTP/1.1 405"));
    let mut output = String::new();
    let stdout = monitor.stdout.take().expect("its output");
    assert_eq!(interrupt(monitor), Some(1));
    BufReader::new(stdout).read_to_string(&mut output).expect("text");
    assert!(output.contains("returned 1, but register"), "{output}");
}

#[test]
fn mistakes_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let wrong = |arguments: &[&str]| {
        let mut command = Command::new(OMNILINK);
        let output = command.current_dir(directory.path()).arg("monitor").args(arguments).stdin(Stdio::null());
        let output = output.output().expect("the command");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    insta::assert_snapshot!(wrong(&["--spec", "register", "--listen", "0.0.0.0:0"]), @"
    error: --listen: 0.0.0.0:0 can be reached by other machines
    help: name an address of this machine such as `127.0.0.1:9464`, or add `--remote`
    ");
    insta::assert_snapshot!(wrong(&["--spec", "regster"]), @r"
    error: --spec: unrecognized specification `regster`; did you mean `register`?
    help: `omnilink spec list` lists the specifications and their options
    ");
    insta::assert_snapshot!(wrong(&["--spec", "register", "nowhere"]), @"error: nowhere: No such file or directory (os error 2)");
    fs::write(directory.path().join("state"), "{\"schema\": 1}\n").expect("a file");
    insta::assert_snapshot!(wrong(&["--spec", "register", "--checkpoint", "state"]), @r#"
    error: state:1: invalid type: integer `1`, expected a string at line 1 column 12
      | {"schema": 1}
    "#);
}

/// Runs a monitor on this input. Returns its code, its output and its errors.
fn run(directory: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    fs::write(directory.join("input"), input).expect("a file");
    let input = fs::File::open(directory.join("input")).expect("the file");
    let mut command = Command::new(OMNILINK);
    let output = command.current_dir(directory).arg("monitor").args(arguments).stdin(input).output();
    let output = output.expect("the command");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn operations_of_a_process_with_an_unknown_outcome_keep_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let module = "---- MODULE Lock ----\nCONSTANT P\nVARIABLE h\nInit == h = \"none\"\n\
                  Acq(self) == h = \"none\" /\\ h' = self\nRel(self) == h = self /\\ h' = \"none\"\n\
                  Next == \\E self \\in P : Acq(self) \\/ Rel(self)\n====\n";
    fs::write(directory.path().join("Lock.tla"), module).expect("a file");
    fs::write(directory.path().join("Lock.cfg"), "CONSTANT P = {\"a\", \"b\"}\nINIT Init\nNEXT Next\n")
        .expect("a file");
    let lines = r#"{"process":"a","progress":0}
{"process":"b","progress":0}
{"process":"a","action":"Acq","start":0,"end":2,"seq":0}
{"process":"a","action":"Rel","start":4,"outcome":"unknown","seq":1}
{"process":"b","action":"Acq","start":6,"end":7,"seq":0}
{"process":"a","progress":9,"is_last":true,"operations":2}
{"process":"b","progress":9,"is_last":true,"operations":1}
"#;
    let (code, alerts, errors) = run(directory.path(), &["--one-object", "--spec", "Lock.tla"], lines.as_bytes());
    assert_eq!((code, &*alerts), (Some(0), ""), "{errors}");
}

/// Registers of a module, with more operations of each than are kept: a violation is found in the last one, from the states
/// that were carried there.
#[test]
fn states_of_a_module_are_carried() {
    let directory = tempfile::tempdir().expect("a directory");
    let module = "---- MODULE Register ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\n\
                  write(key, value) == x' = value\nread(key, value) == x = value /\\ UNCHANGED x\n\
                  Next == \\E key \\in Nat, value \\in Nat : write(key, value) \\/ read(key, value)\n====\n";
    fs::write(directory.path().join("Register.tla"), module).expect("a file");
    let input = lines(5, 60, &BTreeSet::from([3])).join("\n") + "\n";
    let options = "--spec Register.tla --lateness 0ns --retention 0ns --every 1ms --max-ops 100";
    let options: Vec<&str> = options.split(' ').collect();
    let (code, alerts, errors) = run(directory.path(), &options, input.as_bytes());
    assert_eq!(code, Some(1), "{alerts}{errors}");
    let kinds: Vec<String> = alerts
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an alert"))
        .map(|alert| format!("{} {}: {}", alert["kind"], alert["key"], alert["sentence"]))
        .collect();
    insta::assert_snapshot!(kinds.join("\n"), @r#""violation" "3": "c1 saw 59 in `x`, which held 60""#);
}

#[test]
fn the_end_of_the_input_is_no_part_of_the_state() {
    let directory = tempfile::tempdir().expect("a directory");
    let lines = r#"{"process":"p","progress":0}
{"process":"p","action":"write","start":7,"args":{"key":0,"value":1},"end":12,"seq":0}
{"process":"p","action":"read","start":13,"args":{"key":0},"end":14,"results":[1],"seq":1}
{"process":"p","progress":15,"is_last":true,"operations":2}
"#;
    let arguments = ["--spec", "register", "--checkpoint", "state"];
    let first: String = lines.lines().take(2).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(run(directory.path(), &arguments, first.as_bytes()).0, Some(3));
    let (code, alerts, errors) = run(directory.path(), &arguments, lines.as_bytes());
    assert_eq!((code, &*alerts, &*errors), (Some(0), "", "2 of 2 operations checked, 1 key, 0 violations\n"));
}

#[test]
fn nothing_of_the_input_reaches_the_terminal_as_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = r"\u001b]0;pwn\u0007\u001b[2J\u202e\r\n::error::inj\n";
    let lines = format!(
        r#"{{"{key}": 1}}
{{"process":"{key}","action":"read","start":1,"args":{{"key":"{key}"}},"end":2,"results":["{key}"],"seq":0}}
{{"process":"{key}","action":"{key}","start":3,"args":{{"key":"{key}"}},"end":4,"seq":1}}
{{"process":"{key}","action":"{key}","start":5,"end":6,"seq":2}}
{{"process":"{key}","progress":9,"is_last":true,"operations":5}}
"#
    );
    let arguments = ["--color", "always", "--spec", "register:initial=0", "--patience", "1ms"];
    let (_, alerts, errors) = run(directory.path(), &arguments, lines.as_bytes());
    assert!(alerts.lines().count() >= 2 && errors.contains("line 1: "), "{alerts}{errors}");
    for text in [&alerts, &errors] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("::")), "{text:?}");
    }
    assert!(alerts.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{alerts}");
}

#[test]
fn a_long_line_is_not_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut input = vec![b'x'; (16 << 20) + 1];
    input.extend(b"\n{\"process\":\"p\",\"action\":\"read\",\"args\":{\"key\":0},\"start\":1,\"end\":2,\"results\":[0],\"seq\":0}\n");
    let (code, _, errors) = run(directory.path(), &["--spec", "register:initial=0", "--complete"], &input);
    assert_eq!(
        (code, &*errors),
        (Some(2), "line 1: it has more than 16777216 bytes\n1 of 1 operations checked, 1 key, 0 violations, 1 wrong\n")
    );
}

#[test]
fn operations_without_outcomes_are_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let line = |number: u64| {
        format!(
            "{{\"process\":\"p{number}\",\"action\":\"read\",\"args\":{{\"key\":0}},\"start\":{number},\"seq\":0}}\n"
        )
    };
    let input: String = (0..200).map(line).collect();
    let (_, _, errors) = run(directory.path(), &["--spec", "register", "--complete"], input.as_bytes());
    insta::assert_snapshot!(errors.lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    100 of the first 100 operations came without an outcome, and little can be decided about them
    help: if a recorder overwrites lines, as those for Python and Java do, name its file as SOURCE instead of a pipe
    ");
}

#[test]
fn a_file_is_followed_while_lines_are_overwritten() {
    use std::os::unix::fs::FileExt;
    let directory = tempfile::tempdir().expect("a directory");
    let file = fs::File::create(directory.path().join("trace.jsonl")).expect("a file");
    let line = |process: &str, action: &str, value: &str, start: u64, rest: &str| {
        let args = if action == "write" { format!("\"key\":1,\"value\":{value}") } else { "\"key\":1".to_owned() };
        let text = format!(
            "{{\"process\":\"{process}\",\"action\":\"{action}\",\"args\":{{{args}}},\"start\":{start}{rest}}}"
        );
        format!("{text:<160}\n")
    };
    let put = |number: u64, text: &str| file.write_all_at(text.as_bytes(), 161 * number).expect("a line");
    // A write and two reads begin; one has an outcome that does not fit, and another line.
    put(0, &line("a", "write", "5", 10, ",\"seq\":0"));
    put(1, &line("b", "read", "", 20, ",\"seq\":0"));
    put(2, &line("c", "read", "", 30, ",\"seq\":0"));
    let mut monitor = command(directory.path())
        .args([
            "trace.jsonl",
            "--listen",
            "127.0.0.1:0",
            "--every",
            "10ms",
            "--checkpoint",
            "state",
            "--checkpoint-every",
            "20ms",
        ])
        .args(["--alerts", "alerts.jsonl"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut address = String::new();
    BufReader::new(monitor.stderr.take().expect("its errors")).read_line(&mut address).expect("a line");
    let address = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    wait(&address, "omnilink_processes 3");
    put(0, &line("a", "write", "5", 10, ",\"end\":15,\"seq\":0"));
    wait(&address, "omnilink_operations_total 1");
    std::thread::sleep(Duration::from_millis(100));
    monitor.kill().expect("a process");
    monitor.wait().expect("an end");
    // Nothing that happens in the meantime is missed.
    put(3, &line("b", "read", "", 20, ",\"end\":40,\"results\":[5],\"seq\":0"));
    put(1, "#");
    put(2, &line("c", "read", "", 30, ",\"end\":35,\"results\":[0],\"seq\":0"));
    let status = command(directory.path())
        .args(["trace.jsonl", "--complete", "--checkpoint", "state", "--alerts", "alerts.jsonl"])
        .stderr(Stdio::null())
        .status()
        .expect("the command");
    assert_eq!(status.code(), Some(1));
    assert_eq!(violations(&directory.path().join("alerts.jsonl")), (vec!["1".to_owned()], 1));
}

#[test]
fn only_this_machine_is_a_host_without_a_token() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut monitor =
        command(directory.path()).args(["--otlp", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().expect("the command");
    let mut said = BufReader::new(monitor.stderr.take().expect("its errors"));
    let mut next = || {
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    };
    let address = next().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let port = address.rsplit(':').next().expect("a port");
    let post = |host: &str, kind: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(&address).expect("a server");
        let head = format!("POST /v1/traces HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n");
        write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()).expect("a request");
        stream.write_all(body).expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a response");
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(post("evil.example", "application/json", b"{}"), "HTTP/1.1 403 Forbidden");
    assert_eq!(next(), "--otlp: refused a request: 403: wrong host");
    for host in [&address, &format!("localhost:{port}")] {
        assert_eq!(post(host, "application/json", b"{\"resourceSpans\": []}"), "HTTP/1.1 200 OK");
        // SDKs send protobuf by default.
        assert_eq!(post(host, "application/x-protobuf", b""), "HTTP/1.1 200 OK");
    }
    assert_eq!(post(&address, "application/x-protobuf", b"\xff"), "HTTP/1.1 400 Bad Request");
    assert!(next().starts_with("--otlp: refused a request: 400: "));
    assert_eq!(post(&address, "text/plain", b""), "HTTP/1.1 415 Unsupported Media Type");
    let expected = "--otlp: refused a request: 415: only application/json and application/x-protobuf are supported";
    assert_eq!(next(), expected);
    monitor.kill().expect("a process");
    monitor.wait().expect("an end");
}

#[test]
fn the_ledger_keeps_an_interval_of_a_monitor_that_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let lines = lines(10, 4, &BTreeSet::from([3]));
    let start = || {
        command(directory.path())
            .args(["--checkpoint", "state", "--checkpoint-every", "10ms", "--every", "10ms", "--ledger", "ledger"])
            .args(["--alerts", "alerts.jsonl"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command")
    };
    let send = |monitor: &mut Child, lines: &[String]| {
        let text: String = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        monitor.stdin.as_mut().expect("its input").write_all(text.as_bytes()).expect("lines");
    };
    let mut monitor = start();
    send(&mut monitor, &lines);
    let began = Instant::now();
    while fs::read_to_string(directory.path().join("alerts.jsonl")).is_ok_and(|text| text.is_empty())
        || !directory.path().join("state").exists()
    {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    monitor.kill().expect("a process");
    monitor.wait().expect("an end");
    assert!(!directory.path().join("ledger/campaigns.jsonl").exists());
    let mut monitor = start();
    send(&mut monitor, &lines);
    drop(monitor.stdin.take());
    assert_eq!(monitor.wait().expect("an end").code(), Some(1));
    let ledger = fs::read_to_string(directory.path().join("ledger/campaigns.jsonl")).expect("a ledger");
    let entries: Vec<serde_json::Value> =
        ledger.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(entries.iter().map(|entry| entry["runs"].as_u64().unwrap_or(0)).sum::<u64>(), 80);
    assert_eq!(entries[0]["failures"][0]["runs"], 1);
    // Another interval without a violation does not hide this one.
    let mut second = entries[0].clone();
    (second["failures"], second["at"]) = (serde_json::json!([]), (second["at"].as_u64().unwrap_or(0) + 1).into());
    fs::write(directory.path().join("ledger/campaigns.jsonl"), format!("{ledger}{second}\n")).expect("a file");
    let summary =
        Command::new(OMNILINK).current_dir(directory.path()).args(["runs", "summary", "--store", "ledger"]).output();
    let summary = summary.expect("the command");
    let text = String::from_utf8_lossy(&summary.stdout);
    assert!(text.contains(", monitored, against register:initial=0: fails"), "{text}");
    assert_eq!(summary.status.code(), Some(1));
}

/// A queue that takes many steps to check, as values come again and one operation overlaps all others, and another queue
/// that is wrong.
fn hard_and_easy() -> String {
    const ROUNDS: u64 = 100;
    let line = |process: &str, action: &str, (start, end): (u64, u64), key: &str, value: u64, seq: u64| {
        let (args, results) = match action {
            "enqueue" => (format!(r#""key":"{key}","value":{value}"#), String::new()),
            _ => (format!(r#""key":"{key}""#), value.to_string()),
        };
        format!(
            "{{\"process\":\"{process}\",\"action\":\"{action}\",\"args\":{{{args}}},\"results\":[{results}],\
             \"start\":{start},\"end\":{end},\"seq\":{seq}}}\n"
        )
    };
    let end = 100 * ROUNDS;
    let mut lines = line("long", "enqueue", (0, end), "hard", 99, 0);
    for round in 0..ROUNDS {
        for (seq, action, start) in [(2 * round, "enqueue", 100 * round), (2 * round + 1, "dequeue", 100 * round + 40)]
        {
            for value in 0..6 {
                let times = (start + value, start + 20 + value);
                lines += &line(&format!("p{value}"), action, times, "hard", value, seq);
            }
        }
    }
    lines + &line("other", "dequeue", (end + 1, end + 2), "easy", 7, 0)
}

#[test]
fn the_check_of_a_key_has_limits() {
    let directory = tempfile::tempdir().expect("a directory");
    let input = hard_and_easy();
    let alerts = |option: &str, limit: &str| {
        let arguments = ["--spec", "queue", "--complete", "--every", "1h", option, limit];
        let (code, alerts, errors) = run(directory.path(), &arguments, input.as_bytes());
        let alerts = alerts.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an alert"));
        let words = |alert: &serde_json::Value, field: &str| alert[field].as_str().unwrap_or_default().to_owned();
        let alerts = alerts.map(|alert| ["key", "kind", "sentence"].map(|field| words(&alert, field)).join(" "));
        (code, alerts.collect::<Vec<_>>(), errors)
    };
    let (code, by_time, errors) = alerts("--timeout", "20ms");
    assert!(by_time.contains(&"\"hard\" inconclusive the time limit was reached".to_owned()), "{by_time:?}{errors}");
    // The other key is checked all the same.
    assert!(by_time.iter().any(|alert| alert.starts_with("\"easy\" violation ")), "{by_time:?}{errors}");
    assert_eq!((code, by_time.len()), (Some(1), 2), "{by_time:?}{errors}");
    let (_, by_memory, errors) = alerts("--max-memory", "1M");
    assert!(
        by_memory.contains(&"\"hard\" inconclusive the memory limit was reached".to_owned()),
        "{by_memory:?}{errors}"
    );
}
