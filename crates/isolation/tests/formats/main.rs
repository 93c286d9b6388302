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
