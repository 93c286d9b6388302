//! The smallest tests, by hand: one thread is the test itself. shuttle reports a deadlock by itself.

use shuttle::sync::Arc;
use shuttle::thread;

use super::counter::Counter;
use super::event::Event;
use super::queue::Queue;

pub fn queue(queue: Queue) {
    let queue = Arc::new(queue);
    let other = queue.clone();
    let thread = thread::spawn(move || other.add(400));
    queue.add(200);
    assert!(queue.try_take().is_some());
    thread.join().expect("no thread panics");
}

pub fn counter(counter: Counter) {
    let counter = Arc::new(counter);
    let other = counter.clone();
    let thread = thread::spawn(move || other.get());
    counter.inc();
    assert_eq!(counter.get(), 1);
    thread.join().expect("no thread panics");
}

pub fn event(event: Event) {
    let event = Arc::new(event);
    let other = event.clone();
    let thread = thread::spawn(move || other.wait());
    event.set();
    event.reset();
    event.set();
    thread.join().expect("no thread panics");
}

pub fn event_set(event: Event) {
    let event = Arc::new(event);
    let other = event.clone();
    let thread = thread::spawn(move || other.wait());
    event.set();
    thread.join().expect("no thread panics");
}
