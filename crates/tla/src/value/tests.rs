//! Canonical forms, TLC's order and its failures, and the text of values.

use std::cmp::Ordering;

use super::{Model, Set, Value, compare, equal};
use crate::error::ErrorKind;
use crate::strings::Strings;

fn strings() -> Strings {
    let mut strings = Strings::default();
    for text in ["zz", "a", "b", "m", "p_1", "q_1", "x y"] {
        strings.intern(text);
    }
    strings
}

fn string(text: &str) -> Value {
    Value::Str(strings().str(text))
}

fn model(name: &str) -> Value {
    match strings().str(name) {
        crate::strings::Str::Known(rank) => Value::Model(Model { name: rank, class: Model::class_of(name) }),
        crate::strings::Str::Made(_) => panic!("{name} is not in the table"),
    }
}

fn set(elements: impl IntoIterator<Item = Value>) -> Value {
    Value::set(elements.into_iter().collect()).unwrap()
}

fn ints(elements: impl IntoIterator<Item = i64>) -> Vec<Value> {
    elements.into_iter().map(Value::Int).collect()
}

fn record(fields: &[(&str, Value)]) -> Value {
    Value::record(fields.iter().map(|(name, value)| (strings().str(name), value.clone())).collect())
}

fn shown(value: &Value) -> String {
    value.display(&strings()).to_string()
}

#[track_caller]
fn check_equal(a: &Value, b: &Value, expected: Option<bool>) {
    assert_eq!(equal(a, b).ok(), expected, "{} = {}", shown(a), shown(b));
    if let Some(expected) = expected {
        assert_eq!(a == b, expected, "structural");
        assert_eq!(compare(a, b).unwrap() == Ordering::Equal, expected, "order");
    }
}

#[test]
fn values_are_written_as_tlc_writes_them() {
    let function = Value::pairs(vec![(Value::Int(2), Value::Int(3)), (Value::Int(0), Value::Int(1))]).unwrap();
    let odd = record(&[("x y", Value::Int(1))]);
    let made = Value::Str(strings().str("say \"hi\"\n"));
    let values = [
        set(ints([2, 1, 2])),
        Value::seq(vec![Value::Int(1), string("a"), set([Value::Bool(true), Value::Bool(false)])]),
        record(&[("b", Value::Int(2)), ("a", model("m"))]),
        function,
        odd,
        made,
        Value::empty_set(),
        Value::empty_seq(),
    ];
    insta::assert_snapshot!(values.iter().map(shown).collect::<Vec<_>>().join("\n"), @r#"
    {1, 2}
    <<1, "a", {FALSE, TRUE}>>
    [a |-> m, b |-> 2]
    (0 :> 1 @@ 2 :> 3)
    ("x y" :> 1)
    "say \"hi\"\n"
    {}
    <<>>
    "#);
}

#[test]
fn functions_on_one_to_n_are_sequences() {
    let pairs = vec![(Value::Int(2), Value::Int(5)), (Value::Int(1), Value::Int(4))];
    assert_eq!(Value::pairs(pairs).unwrap(), Value::seq(ints([4, 5])));
    assert_eq!(Value::function(Set::empty(), Vec::new()), Value::empty_seq());
    assert_eq!(Value::record(Vec::new()), Value::empty_seq());
    assert!(matches!(Value::pairs(vec![(Value::Int(0), Value::Int(4))]).unwrap(), Value::Fun(_)));
}

#[test]
fn the_first_of_two_pairs_with_one_key_counts() {
    let pairs = vec![(Value::Int(7), Value::Int(1)), (Value::Int(7), Value::Int(2))];
    assert_eq!(Value::pairs(pairs).unwrap().apply(&Value::Int(7)).unwrap(), &Value::Int(1));
}

#[test]
fn strings_are_ordered_as_they_were_met() {
    assert_eq!(shown(&set([string("a"), string("zz")])), r#"{"zz", "a"}"#);
}

#[test]
fn kinds_do_not_mix() {
    check_equal(&Value::Int(1), &string("a"), None);
    check_equal(&Value::empty_seq(), &Value::empty_set(), None);
    check_equal(&set(ints([1])), &set([string("a")]), None);
    check_equal(&Value::seq(ints([1])), &record(&[("a", Value::Int(1))]), None);
    assert_eq!(Value::set(vec![Value::Int(1), string("a")]).unwrap_err().kind, ErrorKind::Incomparable);
    let rows = vec![Value::seq(ints([1])), Value::seq(vec![string("a")])];
    assert_eq!(Value::set(rows).unwrap_err().kind, ErrorKind::Incomparable);
}

#[test]
fn a_large_set_of_different_kinds_is_an_error_too() {
    let mut elements: Vec<Value> = ints((0..100).rev());
    elements.insert(50, string("a"));
    assert_eq!(Value::set(elements).unwrap_err().kind, ErrorKind::Incomparable);
}

#[test]
fn sizes_answer_before_kinds() {
    check_equal(&set(ints([1, 2])), &set([string("a")]), Some(false));
    check_equal(&Value::seq(ints([1, 2])), &Value::seq(vec![string("a")]), Some(false));
    check_equal(&record(&[("a", Value::Int(1))]), &record(&[("b", string("a"))]), Some(false));
    check_equal(&Value::seq(ints([1, 2])), &record(&[("a", Value::Int(1))]), Some(false));
    assert_eq!(shown(&set([set([string("a"), string("b")]), set(ints([1]))])), r#"{{1}, {"a", "b"}}"#);
}

#[test]
fn a_record_on_the_left_is_compared_with_records_only() {
    check_equal(&record(&[("a", Value::Int(1))]), &Value::seq(ints([1, 2])), None);
    check_equal(&record(&[("a", Value::Int(1))]), &Value::empty_seq(), Some(false));
}

#[test]
fn model_values_compare_by_type() {
    check_equal(&model("m"), &Value::Int(1), Some(false));
    check_equal(&set(ints([1])), &model("m"), Some(false));
    check_equal(&model("p_1"), &Value::Int(1), None);
    check_equal(&model("p_1"), &model("q_1"), None);
    check_equal(&model("p_1"), &model("m"), Some(false));
    check_equal(&model("p_1"), &model("p_1"), Some(true));
    assert_eq!(shown(&set([Value::Int(1), model("m")])), "{m, 1}");
    assert_eq!((Model::class_of("p_"), Model::class_of("pp_1"), Model::class_of("p_1")), (0, 0, b'p'));
}

#[test]
fn membership_fails_where_equality_would() {
    let contains = |set: &Value, element: Value| match set {
        Value::Set(set) => set.contains(&element).ok(),
        _ => panic!("not a set"),
    };
    assert_eq!(contains(&set(ints([1])), string("a")), None);
    assert_eq!(contains(&set(ints([1, 3])), Value::Int(3)), Some(true));
    assert_eq!(contains(&set(ints([1, 3])), Value::Int(2)), Some(false));
    assert_eq!(contains(&set(ints([1, 2])), model("m")), Some(false));
    assert_eq!(contains(&Value::empty_set(), string("a")), Some(false));
    let pairs = set([Value::seq(ints([1, 2])), Value::seq(vec![string("a")])]);
    assert_eq!(contains(&pairs, Value::seq(ints([1]))), None);
    assert_eq!(contains(&set([Value::seq(ints([1, 2]))]), Value::seq(ints([1]))), Some(false));
}

#[test]
fn updates_outside_the_domain_change_nothing() {
    let seq = Value::seq(ints([1, 2]));
    assert_eq!(seq.except(&Value::Int(3), Value::Int(9)).unwrap(), None);
    assert_eq!(seq.except(&Value::Int(2), Value::Int(9)).unwrap(), Some(Value::seq(ints([1, 9]))));
    assert_eq!(seq.except(&string("a"), Value::Int(9)).unwrap_err().kind, ErrorKind::WrongKind);
    let fields = record(&[("a", Value::Int(1))]);
    assert_eq!(fields.except(&string("b"), Value::Int(9)).unwrap(), None);
    assert_eq!(fields.field(&strings().str("b")).unwrap_err().kind, ErrorKind::OutsideDomain);
}

/// A shallow value, with few enough leaves that equal ones occur.
fn random(rng: &mut fastrand::Rng, depth: u32) -> Value {
    let row = |rng: &mut fastrand::Rng| (0..rng.usize(0..3)).map(|_| random(rng, depth - 1)).collect::<Vec<_>>();
    match rng.u32(0..if depth == 0 { 4 } else { 8 }) {
        0 => Value::Bool(rng.bool()),
        1 => Value::Int(rng.i64(0..4)),
        2 => string(["a", "zz"][rng.usize(0..2)]),
        3 => model(["m", "p_1", "q_1"][rng.usize(0..3)]),
        4 => Value::set(row(rng)).unwrap_or_else(|_| Value::empty_set()),
        5 => Value::seq(row(rng)),
        6 => Value::pairs(row(rng).into_iter().map(|key| (key, Value::Int(1))).collect()).unwrap_or(Value::empty_seq()),
        _ => record(&[("a", random(rng, depth - 1))]),
    }
}

#[test]
fn both_orders_and_both_equalities_agree() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..50_000 {
        let [a, b, c] = [(); 3].map(|()| random(&mut rng, 2));
        let same = a == b;
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        assert_eq!(a.cmp(&b).is_eq(), same);
        if same {
            assert_eq!(a.digest(), b.digest());
        }
        if a <= b && b <= c {
            assert!(a <= c, "{} {} {}", shown(&a), shown(&b), shown(&c));
        }
        match (equal(&a, &b), compare(&a, &b)) {
            (Ok(equal), Ok(order)) => assert_eq!((equal, order), (same, a.cmp(&b))),
            (Err(_), Err(_)) => {}
            (equal, order) => panic!("{} and {}: {equal:?}, {order:?}", shown(&a), shown(&b)),
        }
    }
}

#[test]
fn sets_do_not_depend_on_insertion_order() {
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..2_000 {
        let row: Vec<Value> = (0..rng.usize(0..30)).map(|_| Value::seq(ints([rng.i64(0..4), rng.i64(0..4)]))).collect();
        let one = Value::set(row.clone()).unwrap();
        let mut shuffled = row.clone();
        rng.shuffle(&mut shuffled);
        let two = shuffled.into_iter().try_fold(Set::empty(), |set, element| set.insert(element)).unwrap();
        assert_eq!(one, Value::Set(two.clone()));
        let (left, right) = row.split_at(row.len() / 2);
        let (left, right) = (Set::new(left.to_vec()).unwrap(), Set::new(right.to_vec()).unwrap());
        assert_eq!(Value::Set(left.union(&right).unwrap()), one);
        let both = left.intersection(&right).unwrap();
        assert_eq!(left.difference(&right).unwrap().union(&both).unwrap().elements(), left.elements());
        assert!(left.is_subset(&two).unwrap());
    }
}
