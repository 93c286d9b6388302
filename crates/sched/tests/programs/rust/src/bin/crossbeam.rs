//! Two threads push to and pop from a crossbeam queue of capacity two; no element is lost or duplicated.

use std::thread;

use crossbeam_queue::ArrayQueue;

const EACH: i32 = 3;

fn main() {
    let queue = ArrayQueue::new(2);
    let work = |first: i32| {
        let (mut refused, mut taken) = (Vec::new(), Vec::new());
        for number in first..first + EACH {
            refused.extend(queue.push(number).err());
            taken.extend(queue.pop());
        }
        refused.append(&mut taken);
        refused
    };
    let mut seen = thread::scope(|scope| {
        let threads = [0, EACH].map(|first| scope.spawn(move || work(first)));
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect::<Vec<i32>>()
    });
    seen.extend(std::iter::from_fn(|| queue.pop()));
    seen.sort_unstable();
    assert!(seen.iter().copied().eq(0..2 * EACH), "{seen:?}");
}
