//! Objects whose calls are listed from their methods: the list, and the recorded operations.
#![allow(clippy::unwrap_used, reason = "all of this file is tests")]
#![allow(unreachable_pub, reason = "public methods are the calls")]

mod common;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omnilink_record::object::{Describe, Description};
use omnilink_record::{object, Recorder};

/// The listed calls, each with its operation if all are made in order on one object.
fn check<D: Describe + 'static>(make: impl Fn() -> D + Send + Sync + 'static) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let shared = make().share();
    let mut process = Recorder::create(&path).unwrap().process("p").unwrap();
    let calls = D::calls();
    calls.iter().for_each(|call| call.make(&shared, &mut process));
    process.close().unwrap();
    assert_eq!(format!("{:?}", Description::of(make)), format!("{calls:?}"));
    let trace = common::read(&path).unwrap();
    let lines = calls.iter().zip(&trace.records).map(|(call, record)| format!("{call:?}: {}", record.call));
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct Register {
    value: Mutex<i64>,
}

#[object]
impl Register {
    pub fn new() -> Register {
        Register::default()
    }

    #[calls(1, Self::LARGE)]
    pub fn write(&self, value: i64) {
        *self.value() = value;
    }

    pub fn read(&self) -> i64 {
        *self.value()
    }

    #[calls((-1, 3), (Register::LARGE, 4))]
    pub fn swap(&self, expected: i64, r#new: i64) -> Result<(), i64> {
        let mut value = self.value();
        match *value == expected {
            true => *value = r#new,
            false => return Err(*value),
        }
        Ok(())
    }

    #[calls(skip)]
    pub fn close(self) {}

    fn value(&self) -> MutexGuard<'_, i64> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Register {
    const LARGE: i64 = 2 * 100;
}

#[test]
fn methods_are_calls() {
    Register::new().close(); // Not a call, but still a method.
    insta::assert_snapshot!(check(Register::new), @"
    write(1): write(value: 1)
    write(200): write(value: 200)
    read(): read() = result: 200
    swap(-1, 3): swap(expected: -1, new: 3) = result: [err |-> 200]
    swap(200, 4): swap(expected: 200, new: 4) = result: [ok |-> <<>>]
    ");
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key(&'static str);

/// Takes part in no trait but `Debug`.
#[derive(Debug)]
struct Full {
    _capacity: usize,
}

struct Values;

#[object]
impl Values {
    #[calls("a\"b")]
    pub fn str<'a>(&self, text: &'a str) -> &'a str {
        text
    }

    #[calls((Some("x".to_owned()), None))]
    pub fn options(&self, some: Option<String>, none: Option<Key>) -> Option<Option<Key>> {
        Some(some.map(|_| Key("k")).or(none))
    }

    #[calls(&[1, 2])]
    pub fn slice<'a>(&self, items: &'a [u8]) -> &'a [u8] {
        &items[1..]
    }

    #[calls(vec![Key("a"), Key("b")])]
    fn opaque_list(&self, keys: Vec<Key>) -> (bool, Vec<Key>, [Key; 1], ()) {
        (true, keys, [Key("c")], ())
    }

    #[calls(&Key("by reference"))]
    pub fn reference<'a>(&self, object: &'a Key) -> &'a Key {
        object
    }

    #[calls(true, false)]
    pub fn results(&self, process: bool) -> Result<Key, Full> {
        process.then_some(Key("k")).ok_or(Full { _capacity: 4 })
    }

    pub fn alias(&self) -> io::Result<u8> {
        Err(io::ErrorKind::TimedOut.into())
    }

    pub fn unit_alias(&self) -> fmt::Result {
        Ok(())
    }

    pub fn map(&self) -> BTreeMap<u8, Option<f64>> {
        BTreeMap::from([(1, Some(0.5)), (2, None)])
    }

    #[cfg(any())]
    pub fn left_out(&self) -> Missing {}
}

#[test]
fn values_are_recorded_by_their_types() {
    insta::assert_snapshot!(check(|| Values), @r#"
    str("a\"b"): str(text: "a\"b") = result: "a\"b"
    options("x", nil): options(some: "x", none: nil) = result: "Key(\"k\")"
    slice(<<1, 2>>): slice(items: <<1, 2>>) = result: <<2>>
    opaque_list(<<"Key(\"a\")", "Key(\"b\")">>): opaque_list(keys: <<"Key(\"a\")", "Key(\"b\")">>) = result: <<TRUE, <<"Key(\"a\")", "Key(\"b\")">>, <<"Key(\"c\")">>, <<>>>>
    reference("Key(\"by reference\")"): reference(object: "Key(\"by reference\")") = result: "Key(\"by reference\")"
    results(TRUE): results(process: TRUE) = result: [ok |-> "Key(\"k\")"]
    results(FALSE): results(process: FALSE) = result: [err |-> "Full { _capacity: 4 }"]
    alias(): alias() = result: [err |-> "Kind(TimedOut)"]
    unit_alias(): unit_alias() = result: [ok |-> <<>>]
    map(): map() = result: <<0.5, nil>>
    "#);
}

/// A lock whose `lock` returns the guard itself.
struct Plain<T>(Mutex<T>);

impl<T> Plain<T> {
    fn new(value: T) -> Plain<T> {
        Plain(Mutex::new(value))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Stack<T, const N: usize>(Vec<T>);

#[object(T = (i64, String), N = 1, lock = std::sync::Mutex)]
impl<T, const N: usize> Stack<T, N> {
    #[calls((1, "a".into()))]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        match self.0.len() < N {
            true => self.0.push(item),
            false => return Err(item),
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }
}

#[object(lock = Plain)]
trait Bag {
    #[calls(7)]
    fn add(&mut self, item: i64) -> bool;

    fn count(&self) -> usize;

    fn empty() -> Self;
}

impl Bag for Vec<i64> {
    fn add(&mut self, item: i64) -> bool {
        self.push(item);
        true
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn empty() -> Vec<i64> {
        Vec::new()
    }
}

struct Nothing;

#[object]
impl Iterate<u8> for Nothing {
    type Item = Key;

    #[calls(Key("first"))]
    fn after(&self, item: Self::Item) -> (Self::Item, u8) {
        (item, 1)
    }
}

trait Iterate<T> {
    type Item;

    fn after(&self, item: Self::Item) -> (Self::Item, T);
}

#[test]
fn locks_parameters_and_traits_are_described() {
    insta::assert_snapshot!(check(|| Stack::<(i64, String), 1>(Vec::new())), @r#"
    push(<<1, "a">>): push(item: <<1, "a">>) = result: [ok |-> <<>>]
    len(): len() = result: 1
    pop(): pop() = result: <<1, "a">>
    "#);
    insta::assert_snapshot!(check(|| BagObject(<Vec<i64> as Bag>::empty())), @"
    add(7): add(item: 7) = result: TRUE
    count(): count() = result: 1
    ");
    insta::assert_snapshot!(check(|| Nothing), @r#"after("Key(\"first\")"): after(item: "Key(\"first\")") = result: <<"Key(\"first\")", 1>>"#);
}
