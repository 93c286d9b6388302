//! The test attribute on a queue that is right and on one that is wrong.

use std::collections::VecDeque;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use crossbeam_queue::{ArrayQueue, SegQueue};
use omnilink::lineup::ObjectTest;
use omnilink::testing::{Against, Test};
use omnilink::{Action, Answer, Call, Client, Object};

static PUSH: Action = Action::new("push", &["value"], &[]);
static TRY_PUSH: Action = Action::new("push", &["value"], &["ok"]);
static POP: Action = Action::new("pop", &[], &["value"]);

#[omnilink::test(spec = "queue", runs = 10_u64)]
fn a_queue_from_the_registry(queue: &SegQueue<i64>, client: &mut Client) {
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&PUSH, (value,));
        queue.push(value);
        call.done(());
    } else {
        let call = client.call(&POP, ());
        let value = queue.pop();
        call.done((value,));
    }
}

#[omnilink::test(spec = "queue:capacity=4", system = ArrayQueue::new(4), threads = 3, operations = 10..=40, runs = 10_u64)]
fn a_queue_with_a_bound(queue: &ArrayQueue<i64>, client: &mut Client) {
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&TRY_PUSH, (value,));
        let is_pushed = queue.push(value).is_ok();
        call.done((is_pushed,));
    } else {
        let call = client.call(&POP, ());
        let value = queue.pop();
        call.done((value,));
    }
}

/// Every seventh element comes out at the wrong end.
#[derive(Default)]
struct Wrong(Mutex<(VecDeque<i64>, usize)>);

fn wrong_step(queue: &Wrong, client: &mut Client) {
    let is_push = client.draw().below(2) == 0;
    let value = client.draw().fresh();
    let call = if is_push { client.call(&PUSH, (value,)) } else { client.call(&POP, ()) };
    let mut inner = queue.0.lock().expect("no step panics");
    if is_push {
        inner.0.push_back(value);
        call.done(());
    } else {
        inner.1 += 1;
        let value = if inner.1.is_multiple_of(7) { inner.0.pop_back() } else { inner.0.pop_front() };
        call.done((value,));
    }
}

#[test]
fn a_wrong_queue_is_explained_and_remembered() {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = directory.path().to_str().unwrap().to_owned();
    let test = Test::new("tests::wrong", &manifest, "queue");
    let panicked = || {
        let panic = catch_unwind(AssertUnwindSafe(|| test.run(Wrong::default, wrong_step))).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let message = panicked();
    assert!(message.starts_with("tests::wrong (seed "), "{message}");
    assert!(message.contains("): rejected\nerror: "), "{message}");
    let file = Path::new(&manifest).join("omnilink-regressions/tests-wrong.txt");
    let remembered = fs::read_to_string(&file).unwrap();
    assert_eq!(remembered.lines().count(), 2, "{remembered}");
    let seed = remembered.lines().nth(1).unwrap().split(' ').next().unwrap();
    assert!(message.contains(&format!("(seed {seed}, ")), "{message}");
    // The same inputs come first, and fail again.
    assert!(panicked().starts_with(&format!("tests::wrong (seed {seed}, ")));
    assert_eq!(fs::read_to_string(&file).unwrap(), remembered);
    assert_eq!(
        fs::read_dir(Path::new(&manifest).join("target/omnilink")).unwrap().count(),
        3,
        "two runs and the scratch"
    );
}

#[test]
fn what_cannot_be_checked_is_no_success() {
    let directory = tempfile::tempdir().unwrap();
    let run = |spec: &'static str| {
        let test = Test::new("tests::none", directory.path().to_str().unwrap(), spec);
        let panic = catch_unwind(AssertUnwindSafe(|| test.run(Wrong::default, wrong_step))).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    insta::assert_snapshot!(run("que"), @"tests::none: unrecognized specification `que`; did you mean `queue`?");
    assert!(run("Missing.tla").contains("Missing.tla: No such file"), "{}", run("Missing.tla"));
    assert!(run("register").starts_with("tests::none (seed"), "{}", run("register"));
    let idle = Test::new("tests::idle", directory.path().to_str().unwrap(), "queue");
    let panic = catch_unwind(AssertUnwindSafe(|| idle.run(Wrong::default, |_, _| ()))).unwrap_err();
    let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    assert_eq!(message, "tests::idle: nothing was recorded, so nothing was checked");
}

/// A queue, or a stack if `true`.
struct Listed(VecDeque<i64>, bool);

#[omnilink::object(lock = Mutex)]
impl Listed {
    #[calls(200, 400)]
    pub fn push(&mut self, value: i64) {
        self.0.push_back(value);
    }

    pub fn pop(&mut self) -> Option<i64> {
        if self.1 { self.0.pop_back() } else { self.0.pop_front() }
    }
}

#[omnilink::test(spec = "queue", object = Listed(VecDeque::new(), false), runs = 10_u64)]
fn an_object_whose_calls_are_listed() {}

#[test]
fn a_wrong_object_is_explained() {
    let directory = tempfile::tempdir().unwrap();
    let test = Test::new("tests::listed", directory.path().to_str().unwrap(), "queue");
    let run = || test.run_object(|| Listed(VecDeque::new(), true));
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(message.contains("): rejected\nerror: "), "{message}");
}

/// Gives out numbers, each once.
struct Tickets;

impl Object for Tickets {
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, last: &mut i64, call: &Call) -> Answer {
        match call.action() {
            "take" => {
                *last += 1;
                Answer::value(*last)
            }
            _ => Answer::Unknown,
        }
    }
}

static TAKE: Action = Action::new("take", &[], &["number"]);

#[omnilink::test(spec = Tickets, runs = 10_u64)]
fn a_specification_of_ones_own(numbers: &AtomicI64, client: &mut Client) {
    let call = client.call(&TAKE, ());
    let number = numbers.fetch_add(1, Ordering::SeqCst) + 1;
    call.done((number,));
}

#[test]
fn a_specification_of_ones_own_explains() {
    let directory = tempfile::tempdir().unwrap();
    let against = Against::object("Tickets", || Tickets);
    let mut test = Test::new("tests::own", directory.path().to_str().unwrap(), against);
    (test.threads, test.operations) = (1.into(), 3.into());
    let skips = |numbers: &AtomicI64, client: &mut Client| {
        let call = client.call(&TAKE, ());
        let number = numbers.fetch_add(2, Ordering::SeqCst) + 1;
        call.done((number,));
    };
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(AtomicI64::default, skips))).unwrap_err();
    let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(message.contains("`take` returned 3, but returns 2 here"), "{message}");
}

/// A counter that forgets an increment now and then, or whose readings vary.
struct Counter {
    count: AtomicI64,
    is_wrong: bool,
    readings: Option<&'static AtomicI64>,
}

impl Counter {
    fn new(is_wrong: bool) -> Counter {
        Counter { count: AtomicI64::new(0), is_wrong, readings: None }
    }
}

#[omnilink::object]
impl Counter {
    pub fn increment(&self) {
        if self.is_wrong {
            let before = self.count.load(Ordering::SeqCst);
            std::thread::yield_now();
            self.count.store(before + 1, Ordering::SeqCst);
        } else {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub fn read(&self) -> i64 {
        let more = self.readings.map_or(0, |readings| readings.fetch_add(1, Ordering::SeqCst));
        self.count.load(Ordering::SeqCst) + more
    }
}

#[omnilink::lineup(object = Counter::new(false), threads = 2, calls = 3, tests = 5, runs = 20)]
fn a_counter_without_a_specification() {}

/// The panic of a test of an object without a specification.
fn panic_of(make: impl Fn() -> Counter + Send + Sync + 'static) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = directory.path().to_string_lossy().into_owned();
    let test = ObjectTest { calls: 3, runs: 2_000, ..ObjectTest::new("counter", &manifest) };
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(make))).expect_err("the object is wrong");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn what_no_serial_run_explains_is_shown() {
    let panic = panic_of(|| Counter::new(true));
    assert!(panic.contains("counter: no serial run explains `"), "{panic}");
    assert!(panic.contains("In every serial order that fits these times, `read()` of thread"), "{panic}");
    assert!(panic.contains("\n  thread 0"), "{panic}");
}

#[test]
fn an_object_whose_answers_vary_is_nondeterministic() {
    static READINGS: AtomicI64 = AtomicI64::new(0);
    let panic = panic_of(|| Counter { readings: Some(&READINGS), ..Counter::new(false) });
    assert!(panic.contains("` is nondeterministic"), "{panic}");
    assert!(panic.contains("one serial run  "), "{panic}");
}
