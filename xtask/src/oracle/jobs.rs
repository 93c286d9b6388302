//! Applies a function to every item, on several threads. Results are in the order of the items.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

/// Does `work` for every item, `jobs` at a time. Of several failures, the first by position is reported.
pub(super) fn each<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((position, item)) = {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    items.get(position).map(|item| (position, item))
                } {
                    let result = work(item);
                    results.lock().expect("no thread panics with the lock")[position] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panics with the lock");
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn results_keep_the_order_of_items() {
        let items: Vec<u32> = (0..50).collect();
        assert_eq!(each(4, &items, |item| Ok(item * 2)).expect("no failure"), (0..100).step_by(2).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_failure_is_reported() {
        let failing = |item: &u32| if *item > 2 { bail!("{item}") } else { Ok(()) };
        assert_eq!(each(2, &[1, 2, 3, 4], failing).expect_err("a failure").to_string(), "3");
    }
}
