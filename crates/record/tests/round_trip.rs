//! A reader finds exactly the recorded operations.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

use common::{print, read, segments};
use omnilink_history::{End, ProcessId, Value};
use omnilink_record::drive::{self, Perturbation, Plan};
use omnilink_record::{Action, Encode, Encoded, Encoder, ManualClock, Recorder};
use proptest::collection::vec;
use proptest::prelude::*;

static PUT: Action = Action::new("put", &["key", "value"], &["old"]);
static GET: Action = Action::new("get", &["key"], &["value"]);
static MISS: Action = Action::new("miss", &["key"], &[]);
static ANY: Action = Action::new("any", &[""], &[""]);

/// A value of the reader, for the recorder.
#[derive(Clone, Debug)]
struct Any(Value);

impl Encode for Any {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        let any = |value: &Value| Any(value.clone());
        match &self.0 {
            Value::Nil => encoder.nil(),
            Value::Bool(value) => encoder.bool(*value),
            Value::Int(value) => encoder.int(*value),
            Value::Big(value) => encoder.integer(value.digits()),
            Value::Float(value) => encoder.float(value.get()),
            Value::Str(value) => encoder.str(value),
            Value::Tuple(elements) => encoder.tuple(elements.iter().map(any)),
            Value::Set(set) => encoder.set(set.elements().iter().map(any)),
            Value::Function(function) => {
                encoder.function(function.pairs().iter().map(|(argument, result)| (any(argument), any(result))))
            }
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-20..200_i64).prop_map(Value::from),
        any::<i128>().prop_map(|number| Value::integer(&number.to_string()).unwrap_or_default()),
        any::<f64>().prop_map(|number| Value::number(number).unwrap_or_default()),
        any::<String>().prop_map(Value::str),
        "[a-z]{30,33}|[a-z]{240,260}".prop_map(Value::str),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::tuple),
            vec(inner.clone(), 0..4).prop_map(Value::set),
            vec((inner.clone(), inner), 0..3).prop_map(|pairs| Value::function(pairs).unwrap_or_default()),
        ]
    })
}

/// One call: when it begins and ends, how it ends, and with which values.
#[derive(Clone, Debug)]
struct Step {
    times: [u64; 4],
    ending: Ending,
    values: [Value; 3],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Done,
    RefinedStart,
    RefinedEnd,
    Other,
    Failed,
    Never,
    Unknown,
}

fn steps() -> impl Strategy<Value = Step> {
    let ending = prop_oneof![
        4 => Just(Ending::Done),
        1 => Just(Ending::RefinedStart),
        1 => Just(Ending::RefinedEnd),
        1 => Just(Ending::Other),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Never),
        1 => Just(Ending::Unknown),
    ];
    (any::<[u16; 4]>(), ending, [values(), values(), values()]).prop_map(|(steps, ending, values)| {
        let mut time = 0;
        let times = steps.map(|step| {
            time += u64::from(step);
            time
        });
        Step { times, ending, values }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    #[test]
    fn a_reader_finds_the_recorded_operations(steps in vec(steps(), 0..12)) {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
        let recorder = Recorder::with_clock(directory.path(), clock.clone()).unwrap();
        let mut process = recorder.process("p").unwrap();
        let (mut expected, mut now) = (Vec::new(), 0);
        let mut segment = 0;
        for Step { times, ending, values: [arg, result, note] } in steps {
            let [start, later, end, last] = times.map(|time| now + time);
            now += times[3];
            clock.set(start);
            let mut call = process.call(&ANY, (Any(arg.clone()),));
            call.meta("note", Any(note.clone()));
            clock.set(later);
            match ending {
                Ending::RefinedStart => call.refine_start(),
                Ending::RefinedEnd => call.refine_end(),
                _ => {}
            }
            clock.set(end);
            match ending {
                Ending::Other => call.done_as(&MISS, (Any(result.clone()),), ()),
                Ending::Failed => call.failed(),
                Ending::Never => call.unknown(),
                Ending::Unknown => call.unknown_by_now(),
                _ => call.done((Any(result.clone()),)),
            }
            clock.set(last);
            let (start, end) = match ending {
                Ending::RefinedStart => (later, End::At(end)),
                Ending::RefinedEnd => (start, End::At(later)),
                Ending::Never => (start, End::Unknown { latest: None }),
                Ending::Unknown => (start, End::Unknown { latest: Some(end) }),
                _ => (start, End::At(end)),
            };
            let (action, args, results) = match ending {
                Ending::Other => ("miss", vec![result], vec![]),
                Ending::Failed | Ending::Never | Ending::Unknown => ("any", vec![arg], vec![]),
                _ => ("any", vec![arg], vec![result]),
            };
            let is_failed = ending == Ending::Failed;
            expected.push((ProcessId(segment), start, end, action, args, results, is_failed, note));
            segment += u32::from(matches!(ending, Ending::Never | Ending::Unknown));
        }
        drop(process);
        let trace = read(directory.path()).unwrap();
        prop_assert_eq!(&trace.cuts, &[]);
        let found: Vec<_> = trace.records.iter().map(|record| {
            let call = &record.call;
            let (args, results) = (call.args().to_vec(), call.results().to_vec());
            let note = call.meta[0].1.clone();
            (record.process, record.start, record.end, &*call.schema().action, args, results, call.failed, note)
        }).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn rust_types_are_values() {
    let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let recorder = Recorder::with_clock(directory.path(), clock).unwrap();
    let mut process = recorder.process("p").unwrap();
    process.call(&PUT, (Some("a"), None::<u8>)).done((vec![1_u8, 2],));
    process.call(&PUT, ((1, "b", 'c'), [1.5_f32; 2])).done((BTreeSet::from([3, 1]),));
    process.call(&PUT, (BTreeMap::from([("x", 1)]), Box::new(true))).done((&usize::MAX.leading_zeros(),));
    process.call(&GET, &[i64::MIN][..]).done(&[i64::MAX][..]);
    drop(process);
    insta::assert_snapshot!(print(&read(directory.path()).unwrap()), @r#"
    p [0 0] put(key: "a", value: nil) = old: <<1, 2>>
    p [0 0] put(key: <<1, "b", "c">>, value: <<1.5, 1.5>>) = old: {1, 3}
    p [0 0] put(key: [x |-> 1], value: TRUE) = old: 0
    p [0 0] get(key: -9223372036854775808) = value: 9223372036854775807
    "#);
}

#[test]
fn a_call_that_panics_never_finished() {
    let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let recorder = Recorder::with_clock(directory.path(), clock.clone()).unwrap();
    let mut process = recorder.process("p").unwrap();
    let mut panics = |work: &mut dyn FnMut(&mut omnilink_record::Process)| {
        let panic = catch_unwind(AssertUnwindSafe(|| work(&mut process))).unwrap_err();
        panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap()
    };
    let messages = [
        panics(&mut |process| {
            let _call = process.call(&GET, (1,));
            panic!("the system panics");
        }),
        panics(&mut |process| {
            clock.set(5);
            process.call(&GET, (2,)).done((f64::INFINITY,));
        }),
        panics(&mut |process| process.call(&GET, (f64::NAN,)).done((1,))),
        panics(&mut |process| process.call(&GET, (1, 2)).done((1,))),
        panics(&mut |process| process.call(&GET, (3,)).done(())),
        panics(&mut |process| process.call(&GET, ("x".repeat(1 << 24),)).done((1,))),
    ];
    insta::assert_snapshot!(messages.join("\n"), @"
    the system panics
    `inf` cannot be recorded: only finite numbers can
    `NaN` cannot be recorded: only finite numbers can
    action `get` has 1 arguments, but 2 were given
    action `get` has 1 results, but 0 were given
    a record of 16777224 bytes cannot be written; at most 16777216 are allowed
    ");
    clock.set(9);
    process.call(&GET, (4,)).done((Some(4),));
    drop(process);
    insta::assert_snapshot!(print(&read(directory.path()).unwrap()), @"
    p [0 ...] get(key: 1)
    p+1 [5 ...] get(key: 2)
    p+2 [5 ...] get(key: 3)
    p+3 [9 9] get(key: 4) = value: 4
    ");
}

#[test]
fn threads_record_without_one_another() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(directory.path()).unwrap();
    let text = "some text that takes room, so that the file grows several times: ".repeat(3);
    const CALLS: i64 = 5_000;
    thread::scope(|scope| {
        for thread in 0..4 {
            let (recorder, text) = (&recorder, &text);
            scope.spawn(move || {
                let mut process = recorder.process(&format!("t{thread}")).unwrap();
                for counter in 0..CALLS {
                    process.call(&PUT, (counter, text)).done((thread,));
                }
            });
        }
    });
    let trace = read(directory.path()).unwrap();
    assert_eq!((trace.cuts.len(), trace.records.len()), (0, 4 * CALLS as usize));
    let history = omnilink_history::History::new(trace).unwrap(); // Each process is sequential.
    assert_eq!(history.ops().len(), 4 * CALLS as usize);
}

#[test]
fn published_records_can_be_read_while_recording() {
    let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let recorder = Recorder::with_clock(directory.path(), clock).unwrap();
    let mut process = recorder.process("p").unwrap();
    process.call(&GET, (1,)).done((2,));
    let call = process.call(&GET, (3,));
    insta::assert_snapshot!(print(&read(directory.path()).unwrap()), @"
    p [0 0] get(key: 1) = value: 2
    p [0 ...] get(key: 3)
    000.seg breaks off after 44 bytes: no more records were published, and the segment was not closed
    ");
    call.done((4,));
    assert_eq!(read(directory.path()).unwrap().records.len(), 2);
}

#[test]
fn names_are_taken_once() {
    let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::new());
    let recorder = Recorder::with_clock(directory.path(), clock.clone()).unwrap();
    let mut process = recorder.process("p").unwrap();
    let _other = recorder.process("p+1").unwrap();
    let errors = [
        recorder.process("p").unwrap_err().to_string(),
        recorder.process(&"x".repeat(241)).unwrap_err().to_string(),
        Recorder::with_clock(directory.path(), clock).unwrap_err().kind().to_string(),
    ];
    insta::assert_snapshot!(errors.join("\n"), @"
    process `p` already exists
    the name of a process has 241 bytes; at most 240 are allowed
    entity already exists
    ");
    drop(process.call(&GET, (1,)));
    drop(process.call(&GET, (2,)));
    let names = read(directory.path()).unwrap().processes;
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["p", "p+1", "p+2"]);
}

#[test]
fn a_plan_is_run_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let run = |name: &str, perturbation: Perturbation| {
        let trace = directory.path().join(name);
        let plan =
            Plan { trace: trace.clone(), seed: 7, threads: 3, operations: 40, perturbation, only: None, script: None };
        let session = |_: &(), thread| thread;
        drive::run(&plan, &(), session, |_, local, client| {
            assert_eq!(*local, client.thread());
            let key = client.draw().below(10);
            let fresh = client.draw().fresh();
            client.call(&PUT, (key, fresh)).done((0,));
        })
        .unwrap();
        assert_eq!(segments(&trace).len(), 3);
        let manifest = std::fs::read_to_string(trace.join("manifest.json")).unwrap();
        let read = read(&trace).unwrap();
        let args: Vec<Vec<Value>> = read.records.iter().map(|record| record.call.args().to_vec()).collect();
        (manifest, args)
    };
    let (manifest, args) = run("plain", Perturbation::default());
    insta::assert_snapshot!(
        manifest,
        @r#"{"format": "omnilink-trace", "version": 1, "clock": "ns", "meta": {"seed": 7, "threads": 3, "operations": 40, "perturb": ""}}"#
    );
    let disturbed = "yield=2,nap=10,pin,crowd=2".parse().unwrap();
    assert_eq!(run("disturbed", disturbed).1, args, "the inputs depend on the seed alone");
    let fresh: BTreeSet<&Value> = args.iter().map(|args| &args[1]).collect();
    assert_eq!(fresh.len(), 120);
}
