//! A schedule is read or refused, and one that is read is written as it is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedule::Schedule;

fuzz_target!(|text: &str| {
    // Counts that stand for millions of decisions take memory, and tell nothing that small ones do not.
    if text.split(['*', '\n', ' ']).any(|number| number.len() > 4 && number.bytes().all(|byte| byte.is_ascii_digit())) {
        return;
    }
    if let Ok(schedule) = text.parse::<Schedule>() {
        assert_eq!(schedule.to_string().parse::<Schedule>().expect("it was written"), schedule);
    }
});
