//! Answers of lazy sets from their structure, and their agreement with enumeration.

use std::sync::Arc;

use super::fake::{Fake, closure};
use super::{
    Datum, Elements, LazyFunction, LazySet, apply, cap, cardinality, contains, cup, display, domain, equal, except,
    is_finite, is_subset, make_interval, make_set, minus, to_value, union,
};
use crate::error::{ErrorKind, Result};
use crate::value::{Model, Value};

fn int(value: i64) -> Datum {
    Value::Int(value).into()
}

fn text(text: &str) -> Datum {
    Value::Str(Fake::new().strings.str(text)).into()
}

fn set<const N: usize>(elements: [i64; N]) -> Datum {
    Value::set(elements.map(Value::Int).to_vec()).unwrap().into()
}

fn seq<const N: usize>(elements: [i64; N]) -> Datum {
    Value::seq(elements.map(Value::Int).to_vec()).into()
}

fn record(fields: &[(&str, i64)]) -> Datum {
    let host = Fake::new();
    Value::record(fields.iter().map(|(name, value)| (host.strings.str(name), Value::Int(*value))).collect()).into()
}

fn records(fields: &[(&str, Datum)]) -> Datum {
    let host = Fake::new();
    LazySet::Records(fields.iter().map(|(name, set)| (host.strings.str(name), set.clone())).collect()).into()
}

fn nat() -> Datum {
    LazySet::Naturals.into()
}

fn subsets(base: Datum) -> Datum {
    LazySet::Subsets(base).into()
}

fn functions(domain: Datum, range: Datum) -> Datum {
    LazySet::Functions(domain, range).into()
}

fn product<const N: usize>(sets: [Datum; N]) -> Datum {
    LazySet::Product(sets.into()).into()
}

/// The even ones.
fn filter(base: Datum) -> Datum {
    LazySet::Filter(base, closure()).into()
}

/// Ten times the argument.
fn tens(domain: Datum) -> Datum {
    Datum::Function(Arc::new(LazyFunction { domain, closure: closure(), changes: Vec::new() }))
}

fn shown(result: Result<Datum>) -> String {
    match result {
        Ok(datum) => display(&mut Fake::new(), &datum),
        Err(error) => format!("{:?}", error.kind),
    }
}

#[track_caller]
fn check_in(element: &Datum, set: &Datum, expected: std::result::Result<bool, ErrorKind>) {
    let answer = contains(&mut Fake::new(), set, element).map_err(|error| error.kind);
    assert_eq!(answer, expected, "{} \\in {}", shown(Ok(element.clone())), shown(Ok(set.clone())));
}

#[test]
fn membership_follows_the_structure() {
    let unlike = Err(ErrorKind::Incomparable);
    let model: Datum = Value::Model(Model { name: 3, class: 0 }).into();
    let typed: Datum = Value::Model(Model { name: 4, class: b'p' }).into();
    check_in(&int(3), &nat(), Ok(true));
    check_in(&int(-1), &nat(), Ok(false));
    check_in(&text("a"), &nat(), unlike);
    check_in(&model, &nat(), Ok(false));
    check_in(&typed, &nat(), unlike);
    check_in(&int(1), &LazySet::Strings.into(), unlike);
    check_in(&int(5), &make_interval(1, 4), Ok(false));
    check_in(&text("a"), &make_interval(1, 4), unlike);
    check_in(&text("a"), &make_interval(1, 0), Ok(false));
    check_in(&set([1]), &subsets(nat()), Ok(true));
    check_in(&int(1), &subsets(nat()), Err(ErrorKind::WrongKind));
    check_in(&nat(), &subsets(nat()), Err(ErrorKind::NotEnumerable));
    check_in(&seq([1, 2, 3]), &functions(make_interval(1, 3), nat()), Ok(true));
    check_in(&seq([1, 2]), &functions(make_interval(1, 3), nat()), Ok(false));
    check_in(&record(&[("a", 1)]), &functions(Value::set(vec![]).unwrap().into(), nat()), Ok(false));
    check_in(&int(1), &functions(make_interval(1, 3), nat()), unlike);
    check_in(&tens(make_interval(1, 3)), &functions(make_interval(1, 3), nat()), Ok(true));
    check_in(&record(&[("a", 1)]), &records(&[("a", nat())]), Ok(true));
    check_in(&record(&[("b", 1)]), &records(&[("a", nat())]), Ok(false));
    check_in(&seq([1]), &records(&[("a", nat())]), unlike);
    check_in(&seq([1, 2]), &product([nat(), set([2])]), Ok(true));
    check_in(&seq([1]), &product([nat(), set([2])]), Ok(false));
    check_in(&record(&[("a", 1)]), &product([nat(), nat()]), unlike);
    check_in(&seq([]), &LazySet::Sequences(nat()).into(), Ok(true));
    check_in(&int(2), &filter(nat()), Ok(true));
    check_in(&int(3), &filter(nat()), Ok(false));
    check_in(&int(-1), &LazySet::Cup(set([-1]), nat()).into(), Ok(true));
    check_in(&int(2), &LazySet::Minus(nat(), set([2])).into(), Ok(false));
    check_in(&int(2), &LazySet::Cap(nat(), filter(nat())).into(), Ok(true));
    check_in(&int(1), &int(1), Err(ErrorKind::WrongKind));
}

#[test]
fn a_union_of_large_sets_is_asked_without_being_enumerated() {
    // [1..n -> 1..9] for each n up to 30.
    let family = make_set((0..30).map(|n| functions(make_interval(1, n), make_interval(1, 9))).collect()).unwrap();
    let all = union(&mut Fake::new(), &family).unwrap();
    check_in(&seq([9, 9, 9]), &all, Ok(true));
    check_in(&seq([10]), &all, Ok(false));
    assert_eq!(to_value(&mut Fake::new(), &all).unwrap_err().kind, ErrorKind::Limit);
}

#[test]
fn operations_are_lazy_where_tlc_is() {
    let host = &mut Fake::new();
    insta::assert_snapshot!([
        shown(cup(host, &nat(), &set([-1]))),
        shown(cup(host, &set([]), &nat())),
        shown(cup(host, &make_interval(1, 2), &set([5]))),
        shown(cap(host, &nat(), &set([-1, 1]))),
        shown(cap(host, &set([1]), &Value::set(vec![]).unwrap().into())),
        shown(minus(host, &make_interval(1, 4), &filter(nat()))),
        shown(minus(host, &nat(), &set([1]))),
        shown(cup(host, &int(1), &set([1]))),
        shown(union(host, &set([1]))),
        shown(domain(&seq([4, 4, 4]))),
        shown(domain(&int(1))),
        shown(Ok(filter(nat()))),
        shown(Ok(subsets(make_interval(1, 7)))),
        shown(Ok(subsets(set([1, 2])))),
        shown(Ok(functions(nat(), set([1])))),
        shown(Ok(tens(nat()))),
        shown(Ok(tens(make_interval(0, 1)))),
        shown(Ok(records(&[("a", nat())]))),
        shown(Ok(product([nat(), nat()]))),
    ].join("\n"), @r"
    {-1} \cup Nat
    Nat
    {1, 2, 5}
    {1}
    {}
    {1, 3}
    Nat \ {1}
    {1} \cup 1
    WrongKind
    1..3
    WrongKind
    {x \in Nat : ...}
    SUBSET (1..7)
    {{}, {1}, {2}, {1, 2}}
    [Nat -> {1}]
    [x \in Nat |-> ...]
    (0 :> 0 @@ 1 :> 10)
    [a: Nat]
    (Nat \X Nat)
    ");
}

#[test]
fn equality_enumerates_only_what_it_must() {
    let check = |a: &Datum, b: &Datum| equal(&mut Fake::new(), a, b).map_err(|error| error.kind);
    assert_eq!(check(&nat(), &LazySet::Integers.into()), Ok(false));
    assert_eq!(check(&nat(), &nat()), Ok(true));
    assert_eq!(check(&nat(), &set([1])), Err(ErrorKind::NotEnumerable));
    assert_eq!(check(&nat(), &int(1)), Err(ErrorKind::Incomparable));
    assert_eq!(check(&subsets(nat()), &subsets(nat())), Ok(true));
    assert_eq!(check(&subsets(set([])), &make_set(vec![set([])]).unwrap()), Ok(true));
    assert_eq!(check(&LazySet::Sequences(set([1])).into(), &LazySet::Sequences(set([1])).into()), Ok(true));
    assert_eq!(check(&make_interval(1, 0), &make_interval(5, 2)), Ok(true));
    assert_eq!(check(&make_interval(1, 3), &set([1, 2, 3])), Ok(true));
    assert_eq!(check(&make_interval(1, 1 << 40), &set([1])), Ok(false));
    assert_eq!(check(&functions(make_interval(1, 40), set([1, 2])), &set([])), Ok(false));
    assert_eq!(check(&records(&[("a", nat())]), &records(&[("a", nat())])), Err(ErrorKind::NotEnumerable));
    assert_eq!(check(&records(&[("a", set([1]))]), &records(&[("a", make_interval(1, 1))])), Ok(true));
    assert_eq!(check(&records(&[("a", set([1]))]), &records(&[("b", set([1]))])), Ok(false));
    assert_eq!(check(&records(&[("a", set([]))]), &records(&[("b", set([]))])), Ok(true));
    assert_eq!(check(&product([set([]), nat()]), &product([set([1]), set([2])])), Ok(false));
    assert_eq!(check(&product([set([]), nat()]), &product([set([]), set([2])])), Ok(true));
    assert_eq!(check(&tens(make_interval(1, 2)), &seq([10, 20])), Ok(true));
    assert_eq!(is_subset(&mut Fake::new(), &nat(), &nat()).unwrap_err().kind, ErrorKind::NotEnumerable);
    assert!(is_subset(&mut Fake::new(), &make_interval(1, 1 << 40), &make_interval(0, 1 << 41)).unwrap());
    assert!(is_subset(&mut Fake::new(), &set([1, 2]), &nat()).unwrap());
    assert!(!is_finite(&mut Fake::new(), &LazySet::Minus(nat(), set([1])).into()).unwrap());
}

#[test]
fn lazy_functions_are_applied_and_changed() {
    let host = &mut Fake::new();
    let function = tens(nat());
    assert_eq!(shown(apply(host, &function, &int(4))), "40");
    assert_eq!(shown(apply(host, &function, &int(-4))), "OutsideDomain");
    let changed = except(host, &function, &int(4), int(7)).unwrap().unwrap();
    assert_eq!(shown(apply(host, &changed, &int(4))), "7");
    assert_eq!(shown(apply(host, &changed, &int(5))), "50");
    assert!(except(host, &function, &int(-4), int(7)).unwrap().is_none());
    assert_eq!(shown(apply(host, &seq([1]), &int(2))), "OutsideDomain");
    assert_eq!(shown(apply(host, &set([1]), &int(2))), "WrongKind");
}

/// A set over small integers, or sets of them, that can be enumerated.
fn random(rng: &mut fastrand::Rng, depth: u32) -> Datum {
    let low = rng.i64(0..3);
    if depth == 0 {
        return match rng.u32(0..3) {
            0 => make_interval(low, low + rng.i64(-1..3)),
            1 => set([low, low + 2]),
            _ => filter(make_interval(0, low)),
        };
    }
    let flat = |rng: &mut fastrand::Rng| random(rng, 0);
    match rng.u32(0..9) {
        0 => subsets(flat(rng)),
        1 => functions(flat(rng), flat(rng)),
        2 => product([flat(rng), flat(rng)]),
        3 => records(&[("a", flat(rng)), ("b", flat(rng))]),
        4 => LazySet::Union(subsets(flat(rng))).into(),
        5 => LazySet::Cup(flat(rng), flat(rng)).into(),
        6 => LazySet::Cap(flat(rng), flat(rng)).into(),
        7 => LazySet::Minus(flat(rng), flat(rng)).into(),
        _ => filter(flat(rng)),
    }
}

#[test]
fn walking_counting_and_membership_agree_with_enumerating() {
    let mut rng = fastrand::Rng::with_seed(3);
    let host = &mut Fake::new();
    for _ in 0..3000 {
        let set = random(&mut rng, 1);
        let Value::Set(enumerated) = to_value(host, &set).unwrap() else { panic!("a set") };
        let mut elements = Elements::new(host, &set).unwrap();
        let mut walked = Vec::new();
        while let Some(element) = elements.next(host).unwrap() {
            assert!(contains(host, &set, &element.clone().into()).unwrap(), "{}", shown(Ok(set.clone())));
            walked.push(element);
        }
        assert!(walked.is_sorted_by(|a, b| a < b), "{}", shown(Ok(set.clone())));
        assert_eq!(walked, enumerated.elements());
        assert_eq!(cardinality(host, &set).unwrap(), walked.len() as u128);
        assert!(equal(host, &set, &Value::Set(enumerated.clone()).into()).unwrap());
        let other = random(&mut rng, 1);
        let Value::Set(others) = to_value(host, &other).unwrap() else { panic!("a set") };
        for element in others.elements() {
            let (Ok(lazy), Ok(plain)) = (contains(host, &set, &element.clone().into()), enumerated.contains(element))
            else {
                continue;
            };
            assert_eq!(lazy, plain, "{} in {}", shown(Ok(element.clone().into())), shown(Ok(set.clone())));
        }
    }
}
