//! `omnilink monitor`: alerts, restarts after a kill, a directory that grows, and what it serves.

use std::collections::BTreeSet;
use std::fmt::Write as _;
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
    assert!(get(&address, "/").contains("violations in"));
    assert!(get(&address, "/other").starts_with("HTTP/1.1 404"));
    let mut output = String::new();
    let stdout = monitor.stdout.take().expect("its output");
    assert_eq!(interrupt(monitor), Some(1));
    BufReader::new(stdout).read_to_string(&mut output).expect("text");
    assert!(output.contains("`read` returned 3, but register 1 holds 10"), "{output}");
    assert!(directory.path().join("pages/alert-1.html").is_file());
}

#[test]
fn alerts_are_sent_to_a_webhook_that_fails_at_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a server");
    let url = format!("http://{}/hook", server.local_addr().expect("an address"));
    let received = std::thread::spawn(move || {
        let mut bodies = String::new();
        for answer in ["HTTP/1.1 503 Busy", "HTTP/1.1 204 No Content"] {
            let (mut stream, _) = server.accept().expect("a client");
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !String::from_utf8_lossy(&request).contains("repeated") {
                let count = stream.read(&mut buffer).expect("a request");
                request.extend(&buffer[..count]);
            }
            let _ = writeln!(bodies, "{}", String::from_utf8_lossy(&request));
            write!(stream, "{answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").expect("an answer");
        }
        bodies
    });
    fs::write(directory.path().join("lines"), lines(2, 2, &BTreeSet::from([1])).join("\n") + "\n").expect("a file");
    let input = fs::File::open(directory.path().join("lines")).expect("the file");
    let output = command(directory.path()).args(["--webhook", &url]).stdin(input).output().expect("the command");
    assert_eq!(output.status.code(), Some(1));
    let bodies = received.join().expect("two requests");
    assert_eq!(bodies.matches("POST /hook").count(), 2);
    assert_eq!(bodies.matches("\"number\":1").count(), 2);
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
    error: --spec: unrecognized model `regster`; did you mean `register`?
    help: `omnilink specs` lists the specifications and their options
    ");
    insta::assert_snapshot!(wrong(&["--spec", "register", "nowhere"]), @"error: nowhere: No such file or directory (os error 2)");
    fs::write(directory.path().join("state"), "{\"schema\": 1}\n").expect("a file");
    insta::assert_snapshot!(wrong(&["--spec", "register", "--checkpoint", "state"]), @"error: state: line 1: invalid type: integer `1`, expected a string at line 1 column 12");
}
