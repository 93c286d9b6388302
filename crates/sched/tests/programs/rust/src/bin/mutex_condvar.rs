//! A buffer of capacity one, a thread that fills it twice, and one that empties it twice.

use std::sync::{Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Buffer {
    element: Mutex<Option<i32>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, element: i32) {
        let mut place = self.element.lock().expect("no thread panics");
        while place.is_some() {
            place = self.changed.wait(place).expect("no thread panics");
        }
        *place = Some(element);
        self.changed.notify_all();
    }

    fn take(&self) -> i32 {
        let mut place = self.element.lock().expect("no thread panics");
        loop {
            if let Some(element) = place.take() {
                self.changed.notify_all();
                return element;
            }
            place = self.changed.wait(place).expect("no thread panics");
        }
    }
}

fn main() {
    let buffer = Buffer::default();
    let taken = thread::scope(|scope| {
        scope.spawn(|| (1..=2).for_each(|element| buffer.put(element)));
        let consumer = scope.spawn(|| [buffer.take(), buffer.take()]);
        consumer.join().expect("no thread panics")
    });
    assert_eq!(taken, [1, 2]);
}
