//! Two threads send into one channel, which keeps the order of each of them.

use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let senders = [0, 10].map(|first| {
        let sender = sender.clone();
        thread::spawn(move || (first..first + 2).for_each(|number| sender.send(number).expect("the receiver lives")))
    });
    drop(sender);
    let received: Vec<i32> = receiver.iter().collect();
    senders.into_iter().for_each(|sender| sender.join().expect("a sender does not panic"));
    let of = |range: std::ops::Range<i32>| received.iter().copied().filter(move |number| range.contains(number));
    assert!(of(0..10).eq(0..2) && of(10..20).eq(10..12), "{received:?}");
}
