//! What a Rust panic says in the output of a program.

use omnilink_report::without_numbers;

/// The first Rust panic in an output, without the values of one run: the first line of its message, and its place.
pub fn panic_message(said: &str) -> Option<String> {
    let mut lines =
        said.lines().skip_while(|line| !line.contains("' panicked at ") && !line.contains(") panicked at "));
    let place = lines.next()?.split_once(" panicked at ")?.1.trim_end_matches(':');
    // Since Rust 1.73 the message has lines of its own.
    let message = lines.next().filter(|line| !line.is_empty() && !line.starts_with("note: "));
    Some(message.map_or_else(|| place.to_owned(), |message| format!("{}, {place}", without_numbers(message))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_named_by_its_message_and_place() {
        let said = "running 1 test\n\nthread 'main' (7) panicked at src/lib.rs:10:5:\nassertion `left == right` failed\n  \
                    left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\ntest result: FAILED.";
        assert_eq!(panic_message(said).unwrap(), "assertion `left == right` failed, src/lib.rs:10:5");
        assert_eq!(panic_message("thread 'a' panicked at a.rs:1:2:\n").unwrap(), "a.rs:1:2");
        assert_eq!(panic_message("thread 'a' overflowed its stack"), None);
    }
}
