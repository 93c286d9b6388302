//! Two threads take two locks in opposite orders: each may hold one and wait for the other, forever.

use std::sync::Mutex;
use std::thread;

fn main() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let add = |first: &Mutex<i32>, second: &Mutex<i32>| {
        let mut first = first.lock().expect("no thread panics");
        let mut second = second.lock().expect("no thread panics");
        (*first, *second) = (*first + 1, *second + 1);
    };
    thread::scope(|scope| {
        scope.spawn(|| add(&a, &b));
        scope.spawn(|| add(&b, &a));
    });
    assert_eq!(a.into_inner().expect("no thread panics"), 2);
}
