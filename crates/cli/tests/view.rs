//! `omnilink view`: a real server on the loopback interface, and a client that speaks plain HTTP.

mod tool;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// A server, which ends with the test.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back: the status, the headers as they were sent, the body.
struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Reply {
    fn text(&self) -> String {
        format!("{} {}", self.status, String::from_utf8_lossy(&self.body))
    }

    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        let mut text = String::new();
        GzDecoder::new(&*self.body).read_to_string(&mut text).expect("parts are gzip");
        serde_json::from_str(&text).expect("the part is JSON")
    }
}

fn serve(name: &str, args: &[&str]) -> Server {
    let directory: PathBuf = tool::directory(name);
    for (file, text) in tool::QUEUE {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_omnilink"));
    command.current_dir(&directory).arg("view").args(args).arg("--no-open");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the command runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("its output")).read_line(&mut line).expect("an address");
    let address = line.trim().strip_prefix("http://127.0.0.1:").expect("an address on this machine");
    let (port, token) = address.trim_end_matches('/').split_once('/').expect("a port and a token");
    Server { port: port.parse().expect("a port"), token: token.to_owned(), child }
}

impl Server {
    fn request(&self, method: &str, host: &str, target: &str) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        write!(stream, "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("a request");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("headers");
        let headers = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Reply { status, headers, body: bytes[end + 4..].to_vec() }
    }

    fn get(&self, part: &str) -> Reply {
        let host = format!("localhost:{}", self.port);
        self.request("GET", &host, &format!("/{}/{part}", self.token))
    }
}

#[test]
fn a_page_is_served_to_who_knows_where() {
    let server = serve("door", &["Queue.tla", "trace.jsonl"]);
    assert_eq!(server.token.len(), 32);
    let page = server.get("");
    assert!(page.status == 200 && page.text().contains("connect-src 'self'"), "{}", page.text());
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "x-frame-options: deny",
    ] {
        assert!(page.headers.contains(header), "{header}: {}", page.headers);
    }
    let (here, path) = (format!("127.0.0.1:{}", server.port), format!("/{}/head", server.token));
    assert_eq!(server.request("GET", &here, &path).status, 200);
    let head = server.request("HEAD", &here, &path);
    assert!(head.status == 200 && head.body.is_empty());
    assert_eq!(server.request("GET", "evil.example", &path).status, 403);
    assert_eq!(server.request("GET", &here, "/00000000000000000000000000000000/head").status, 404);
    assert_eq!(server.request("GET", &here, "/").status, 404);
    assert_eq!(server.request("POST", &here, &path).status, 405);
}

#[test]
fn parts_are_what_a_file_has() {
    let server = serve("parts", &["Queue.tla", "trace.jsonl"]);
    let head = server.get("head").json();
    assert_eq!(head["served"], json!({ "assume": true, "evaluate": true }));
    assert_eq!(
        (head["report"]["verdict"]["kind"].as_str(), head["timeline"]["operations"].as_u64()),
        (Some("rejected"), Some(4))
    );
    assert_eq!(server.get("states").json()["variables"], json!(["queue"]));
    assert_eq!((server.get("chunk-0").status, server.get("chunk-1").status), (200, 404));
    assert_eq!((server.get("nothing").status, server.get("head?other=1").status), (404, 400));
}

#[test]
fn expressions_are_evaluated() {
    let server = serve("watch", &["Queue.tla", "trace.jsonl"]);
    let states = server.get("states?watch=Len(queue)").json();
    assert_eq!(states["variables"], json!(["queue", "Len(queue)"]));
    assert_eq!((states["watched"].as_u64(), states["last"][1].as_str()), (Some(1), Some("2")));
    let early = server.get("states?until=1").json();
    assert_eq!((early["until"].as_u64(), early["last"][0].as_str()), (Some(1), Some("<<1>>")));
    insta::assert_snapshot!(server.get("states?watch=Length(queue)").text(), @"
    422 error: `Length` is not defined
     --> expression:1:1
      |
    1 | Length(queue)
      | ^^^^^^
      |
    help: did you mean `Len`?
    ");
    // What went wrong before does not matter.
    assert_eq!(server.get("states").json()["variables"], json!(["queue"]));
}

#[test]
fn assumptions_are_checked() {
    let server = serve("assume", &["Queue.tla", "overlapping.jsonl"]);
    let verdict = |part: &str| server.get(part).json()["report"]["verdict"]["kind"].as_str().map(str::to_owned);
    assert_eq!(verdict("head").as_deref(), Some("accepted"));
    assert_eq!(verdict("head?assume=a:0%20%3C%20b:0").as_deref(), Some("rejected"));
    assert_eq!(verdict("head?assume=b:0%20%3C%20a:0").as_deref(), Some("accepted"));
    assert_eq!(server.get("chunk-0?assume=a:0%20%3C%20b:0").status, 200);
    insta::assert_snapshot!(server.get("head?assume=a:0").text(), @"422 `a:0` is not an assumption: expected `T0:12 < T3:7`, or `T3:7 = 1a2b3c4d5e6f` for the state after it");
    insta::assert_snapshot!(server.get("head?assume=a:0%20%3C%20c:9").text(), @"422 the history has no operation `c:9` that could have had an effect");
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_it_well() {
    let mut server = serve("interrupt", &["Queue.tla", "trace.jsonl"]);
    assert_eq!(server.get("head").status, 200);
    let status = Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().expect("a signal");
    assert!(status.success());
    assert_eq!(server.child.wait().expect("its end").code(), Some(0));
}

#[test]
fn what_cannot_be_checked_is_not_served() {
    let mut server = serve("broken", &["Queue.tla", "missing.jsonl"]);
    assert_eq!(server.child.wait().expect("its end").code(), Some(2));
}
