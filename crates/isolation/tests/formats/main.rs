//! Readers of transactions.

use fastrand::Rng;
use omnilink_history::Halt;
use omnilink_isolation::{Transactions, read};

const EDN: &str = r#"{:index 0, :time 12, :type :invoke, :process 0, :f :txn, :value [[:append 3 1] [:r "x" nil]]}
{:index 1 :time 15 :type :invoke :process 1 :f :txn :value [[:w 7 -1] [:r 3 nil]]}
{:index 2, :time 17, :type :info, :process :nemesis, :f :start, :value nil, :note ["a" true]}
{:index 3, :time 18, :type :ok, :process 0, :f :txn, :value [[:append 3 1] [:r "x" nil]]}
{:index 4, :time 19, :type :fail, :process 1, :f :txn, :value [[:w 7 -1] [:r 3 nil]], :error [:conflict "x"]}
{:index 5, :time 20, :type :invoke, :process 1, :f :txn, :value [[:append 3 2] [:append 3 4]]}
{:index 6, :time 22, :type :invoke, :process 0, :f :txn, :value [[:r 3 nil] [:r 7 nil]]}
{:index 7, :time 23, :type :ok, :process 0, :f :txn, :value [[:r 3 [1 2, 4]] [:r 7 nil]]}
{:index 8, :time 25, :type :info, :process 1, :f :txn, :value [[:append 3 2] [:append 3 4]], :error :timeout}
{:index 9, :time 27, :type :invoke, :process 2, :f :txn, :value [[:w 7 5]]}
"#;

fn shown(txns: &Transactions) -> String {
    let micros = |txn| txns.micros_of(txn).map(|micro| txns.show_micro(micro)).collect::<Vec<_>>().join(" ");
    let line = |txn| format!("{} {:?} {:?} {}", txns.name(txn), txns.status(txn), txns.times(txn), micros(txn));
    txns.ids().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn jepsen_histories_are_read() {
    let txns = read::transactions(EDN.as_bytes(), &Halt::default()).expect("a history");
    insta::assert_snapshot!(shown(&txns), @r"
    0:0 Committed Some((0, Some(3))) append(3, 1) r(x) = nil
    1:0 Aborted Some((1, Some(4))) w(7, -1) r(3) = []
    1:1 Unknown Some((5, None)) append(3, 2) append(3, 4)
    0:1 Committed Some((6, Some(7))) r(3) = [1, 2, 4] r(7) = nil
    2:0 Unknown Some((9, None)) w(7, 5)
    ");
}

fn read_text(text: &str) -> String {
    match read::transactions(text.as_bytes(), &Halt::default()) {
        Ok(txns) => shown(&txns),
        Err(error) => error.to_string(),
    }
}

#[test]
fn calls_are_read_in_any_order() {
    let text = "w(1,5,0,7)\nr(2,0,0,7)\nw(1,6,3,-1)\nw(2,6,3,-1)\nr(1,5,3,7)\n";
    insta::assert_snapshot!(read_text(text), @r"
    0:0 Committed None w(1, 5) r(2) = 0
    3:0 Aborted None w(1, 6)
    3:1 Aborted None w(2, 6)
    3:2 Committed None r(1) = 5
    ");
    let mixed = "r(1,5,3,7)\nw(1,5,0,7)\nw(1,6,3,-1)\nr(2,0,0,7)\nw(3,6,3,7)";
    insta::assert_snapshot!(read_text(mixed), @r"
    0:0 Committed None w(1, 5) r(2) = 0
    3:0 Committed None r(1) = 5 w(3, 6)
    3:1 Aborted None w(1, 6)
    ");
    insta::assert_snapshot!(read_text("r(1,5,3,7)\nr(1,5,3,7,8)"), @"line 2: expected `r(key,value,session,transaction)`");
}

#[test]
fn dbcop_texts_are_read() {
    let text = "// a comment\n[x:=1 y:=1] [x==1]!\n[y==?]\n---\n[z_1==2 z_1:=3]\n";
    insta::assert_snapshot!(read_text(text), @r"
    0:0 Committed None w(x, 1) w(y, 1)
    0:1 Aborted None r(x) = 1
    0:2 Committed None r(y) = nil
    1:0 Committed None r(z_1) = 2 w(z_1, 3)
    ");
    insta::assert_snapshot!(read_text("[x:=1]\n[y=2]\n"), @"line 2: expected transactions such as `[x:=1 y==2 z==?]`");
}

#[test]
fn dbcop_json_is_read() {
    let json = |events: &str| {
        format!(
            r#"{{"params": {{"id": 1}}, "info": "", "data": [[{{"events": [{events}], "committed": true}}], [
            {{"events": [["r", 0, null], ["w", 1, 7]], "committed": false}}]]}}"#
        )
    };
    let events = r#"{"Write": {"variable": 0, "version": 5}}, {"Read": {"variable": 1, "version": null}}"#;
    insta::assert_snapshot!(read_text(&json(events)), @r"
    0:0 Committed None w(0, 5) r(1) = nil
    1:0 Aborted None r(0) = nil w(1, 7)
    ");
    insta::assert_snapshot!(read_text(&json("{\"Update\": 1}")), @"byte 0: transaction 0 of session 0: expected `Read` or `Write` with `variable` and `version`");
}

/// Two sessions: a write and a failed read, and a transaction that did not commit.
fn dbcop_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
    (0..5).for_each(|field| number(&mut bytes, field));
    for text in ["info", "start", "end"] {
        number(&mut bytes, text.len() as u64);
        bytes.extend(text.as_bytes());
    }
    number(&mut bytes, 2);
    let mut session = |events: &[(u8, u64, u64, u8)], is_committed: u8| {
        number(&mut bytes, 1);
        number(&mut bytes, events.len() as u64);
        for &(is_write, key, value, is_success) in events {
            bytes.push(is_write);
            number(&mut bytes, key);
            number(&mut bytes, value);
            bytes.push(is_success);
        }
        bytes.push(is_committed);
    };
    session(&[(1, 3, 5, 1), (0, 4, 9, 0)], 1);
    session(&[(0, 3, 0, 1)], 0);
    bytes
}

#[test]
fn dbcop_bytes_are_read() {
    let bytes = dbcop_bytes();
    let txns = read::transactions(&bytes, &Halt::default()).expect("a history");
    insta::assert_snapshot!(shown(&txns), @r"
    0:0 Committed None w(3, 5)
    1:0 Aborted None r(3) = 0
    ");
    let error = read::transactions(&bytes[..bytes.len() - 1], &Halt::default()).expect_err("it is cut off");
    insta::assert_snapshot!(error, @"byte 171: the history of dbcop ends too early");
    // No cut and no changed byte makes the reader panic.
    let mut rng = Rng::with_seed(3);
    for _ in 0..2_000 {
        let mut bytes = bytes.clone();
        let at = rng.usize(0..bytes.len());
        bytes[at] = rng.u8(..);
        bytes.truncate(rng.usize(0..=bytes.len()));
        let _ = read::transactions(&bytes, &Halt::default());
    }
}

#[test]
fn chronos_is_read_with_its_timestamps() {
    let json = r#"[{"tid": "1", "sid": "a", "sts": {"p": 5, "l": 0}, "cts": {"p": 6, "l": 1},
        "ops": [{"t": "w", "k": 1, "v": 7}, {"t": "r", "k": 2, "v": null}]},
        {"tid": "2", "sid": "b", "sts": {"p": 6, "l": 1}, "cts": {"p": 6, "l": 1}, "ops": [{"t": "r", "k": 1, "v": 7}]}]"#;
    let txns = read::transactions(json.as_bytes(), &Halt::default()).expect("a history");
    let stamps: Vec<String> = txns.ids().filter_map(|txn| txns.stamps_of(txn)).collect();
    insta::assert_snapshot!(format!("{}\n{}", shown(&txns), stamps.join("\n")), @r"
    a:0 Committed None w(1, 7) r(2) = nil
    b:0 Committed None r(1) = 7
    snapshot at 5, commit at 6.1
    snapshot at 6.1, commit at 6.1
    ");
    insta::assert_snapshot!(read_text(&json.replace("\"l\": 1", "\"l\": \"x\"")), @"byte 0: transaction 1: `cts` is not a timestamp with `p` and `l`");
}

/// The reader for the common form accepts nothing that the general one refuses, and reads it alike.
#[test]
fn damaged_jepsen_histories_are_read_alike() {
    let mut rng = Rng::with_seed(7);
    let bytes = b"[](){}:\"#;\\ ,.-0123456789ainortvwx\n";
    let (mut read_alike, mut refused) = (0, 0);
    for number in 0..4_000 {
        let mut text: Vec<u8> = match number % 3 {
            0 => format!("[{EDN}]").into_bytes(),
            1 => EDN.replace('\n', " ").into_bytes(),
            _ => EDN.as_bytes().to_vec(),
        };
        for _ in 0..rng.usize(0..3) {
            let at = rng.usize(0..text.len());
            match rng.usize(0..3) {
                0 => drop(text.remove(at)),
                1 => text[at] = bytes[rng.usize(0..bytes.len())],
                _ => text.insert(at, bytes[rng.usize(0..bytes.len())]),
            }
        }
        let about = String::from_utf8_lossy(&text);
        let plain = read::jepsen_plainly(&text, &Halt::default());
        match (read::transactions(&text, &Halt::default()), plain) {
            (Ok(txns), Ok(plain)) => {
                assert_eq!(format!("{txns:?}"), format!("{plain:?}"), "{about}");
                read_alike += 1;
            }
            (Err(_), Err(_)) => refused += 1,
            // The general reader is asked for a text that does not look like a history.
            (Err(error), Ok(_)) => assert!(error.to_string().contains("unrecognized format"), "{error}: {about}"),
            (Ok(_), Err(error)) => panic!("only the general reader refuses this: {error}: {about}"),
        }
    }
    assert!(read_alike > 1_000 && refused > 500, "{read_alike} are read alike, {refused} are refused");
}

#[test]
fn lines_that_say_less_than_they_seem_to_are_refused() {
    let misspelled =
        r#"{"process": 1, "txn": [["w", "x", 1]], "start": 1, "end": 2, "statsu": "aborted", "node": "n1"}"#;
    insta::assert_snapshot!(read_text(misspelled), @"line 1: unknown key `statsu`");
    // Without times it would be unknown, and an unknown transaction from which none read counts for nothing.
    let bare = r#"{"process": 1, "txn": [["r", "x", 7]]}"#;
    insta::assert_snapshot!(read_text(bare), @"line 1: a transaction without times needs a `status`");
    let one_kind = r#"{"process": 1, "txn": [["append", "x", 1], ["w", "x", 2]], "start": 1, "end": 2}"#;
    insta::assert_snapshot!(read_text(one_kind), @r#"1:0 uses the key `"x"` as a register, but it is also used as a list"#);
    let never_installed = "{\"versions\": {\"x\": [2, 1]}}\n{\"process\": 1, \"txn\": [[\"w\", \"x\", 2], [\"w\", \"x\", 1]], \"start\": 1, \"end\": 2}";
    insta::assert_snapshot!(
        read_text(never_installed),
        @r#"the version order of `"x"` has the value `2`, which its transaction overwrote"#
    );
    let odd_stamp = r#"{"process": 1, "txn": [], "status": "committed", "snapshot_ts": 1.5}"#;
    insta::assert_snapshot!(read_text(odd_stamp), @"line 1: `snapshot_ts` is not an integer of 64 bits from 0 on, or a pair of them");
}

#[test]
fn stamps_of_64_bits_and_version_orders_in_the_first_line_are_read() {
    let large = r#"{"process": 1, "txn": [["w", "x", 1]], "status": "committed", "snapshot_ts": 18446744073709551557, "commit_ts": 18446744073709551615}"#;
    insta::assert_snapshot!(read_text(large), @"1:0 Committed None w(x, 1)");
    let orders =
        "{\"versions\": {\"x\": [1]}}\n{\"process\": 1, \"txn\": [[\"w\", \"x\", 1]], \"start\": 1, \"end\": 2}";
    insta::assert_snapshot!(read_text(orders), @"1:0 Committed Some((1, Some(2))) w(x, 1)");
}
