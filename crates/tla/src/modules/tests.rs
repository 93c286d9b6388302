//! Corner cases of each operator, as `module Name(arguments) = answer`; and the table itself.

use std::collections::BTreeSet;
use std::io::Write;

use super::{Operand, exists, extends, find, natives};
use crate::datum::fake::{ABOVE_ONE, Fake, LEAST, LESS, MINUS, PARITY, operator};
use crate::datum::{self, Datum, LazySet};
use crate::error::ErrorKind;
use crate::value::Value;

fn op(number: u32) -> Operand {
    Operand::Operator(operator(number))
}

fn of(value: impl Into<Datum>) -> Operand {
    Operand::Datum(value.into())
}

fn int(value: i64) -> Operand {
    of(Value::Int(value))
}

fn ints<const N: usize>(values: [i64; N]) -> Vec<Value> {
    values.map(Value::Int).to_vec()
}

fn seq<const N: usize>(values: [i64; N]) -> Operand {
    of(Value::seq(ints(values)))
}

fn set<const N: usize>(values: [i64; N]) -> Operand {
    of(Value::set(ints(values)).unwrap())
}

fn string(text: &str) -> Operand {
    of(Value::Str(Fake::new().strings.str(text)))
}

fn bag<const N: usize>(pairs: [(i64, i64); N]) -> Operand {
    of(Value::pairs(pairs.map(|(element, count)| (Value::Int(element), Value::Int(count))).to_vec()).unwrap())
}

fn answer(host: &mut Fake, module: &str, name: &str, args: &[Operand]) -> String {
    let native = find(module, name).unwrap_or_else(|| panic!("{module}!{name}"));
    assert_eq!(native.params.len(), args.len(), "{module}!{name}");
    match (native.run)(host, args) {
        Ok(result) => datum::display(host, &result),
        Err(error) => format!("{:?}", error.kind),
    }
}

#[track_caller]
fn check(module: &str, name: &str, args: &[Operand], expected: &str) {
    assert_eq!(answer(&mut Fake::new(), module, name, args), expected, "{module}!{name}");
}

#[test]
fn every_module_of_the_table_exists_and_extends_modules_that_do() {
    let mut seen = BTreeSet::new();
    for native in natives() {
        assert!(exists(native.module), "{}", native.module);
        assert!(seen.insert((native.module, native.name)), "{}!{} is listed twice", native.module, native.name);
        assert!(extends(native.module).iter().all(|module| exists(module)));
    }
    assert!(extends("SequencesExt").contains(&"TLC"));
    assert!(!exists("Nonsense") && extends("Nonsense").is_empty() && find("Naturals", "Int").is_none());
}

#[test]
fn arithmetic_has_32_bits() {
    let max = i64::from(i32::MAX);
    check("Naturals", "+", &[int(max), int(0)], "2147483647");
    check("Naturals", "+", &[int(max), int(1)], "Arithmetic");
    check("Naturals", "+", &[int(i64::MAX), int(i64::MAX)], "Arithmetic");
    check("Naturals", "-", &[int(-max), int(1)], "-2147483648");
    check("Naturals", "*", &[int(65536), int(65536)], "Arithmetic");
    check("Naturals", "^", &[int(2), int(30)], "1073741824");
    check("Naturals", "^", &[int(2), int(31)], "Arithmetic");
    check("Naturals", "^", &[int(-1), int(max)], "-1");
    check("Naturals", "^", &[int(0), int(0)], "Arithmetic");
    check("Naturals", "^", &[int(0), int(5)], "0");
    check("Naturals", "^", &[int(2), int(-1)], "WrongKind");
    check("Integers", "-.", &[int(5)], "-5");
    check("Naturals", "<", &[int(1), string("a")], "WrongKind");
    check("Reals", "/", &[int(1), int(2)], "Unsupported");
}

#[test]
fn division_rounds_down() {
    for (a, b, quotient) in
        [(5, 2, "2"), (-5, 2, "-3"), (5, -2, "-3"), (-5, -2, "2"), (-4, 2, "-2"), (1, 0, "Arithmetic")]
    {
        check("Naturals", "\\div", &[int(a), int(b)], quotient);
    }
    for (a, b, rest) in [(-5, 3, "1"), (5, 3, "2"), (5, -3, "Arithmetic"), (5, 0, "Arithmetic")] {
        check("Naturals", "%", &[int(a), int(b)], rest);
    }
}

#[test]
fn sequences() {
    check("Sequences", "Len", &[string("abc")], "3");
    check("Sequences", "Len", &[set([1])], "WrongKind");
    check("Sequences", "\\o", &[string("abc"), string("def")], "\"abcdef\"");
    check("Sequences", "\\o", &[seq([1]), string("def")], "WrongKind");
    check("Sequences", "Head", &[seq([])], "OutsideDomain");
    check("Sequences", "Head", &[string("abc")], "WrongKind");
    check("Sequences", "Tail", &[string("abc")], "\"bc\"");
    check("Sequences", "Tail", &[seq([])], "OutsideDomain");
    check("Sequences", "Tail", &[seq([1])], "<<>>");
    check("Sequences", "SubSeq", &[seq([1, 2, 3]), int(2), int(5)], "OutsideDomain");
    check("Sequences", "SubSeq", &[seq([1, 2, 3]), int(3), int(2)], "<<>>");
    check("Sequences", "SubSeq", &[string("abcd"), int(2), int(3)], "\"bc\"");
    check("Sequences", "SelectSeq", &[seq([1, 2, 3]), op(ABOVE_ONE)], "<<2, 3>>");
    check("Sequences", "Append", &[string("abc"), string("d")], "WrongKind");
    check("Sequences", "Seq", &[set([1])], "Seq({1})");
}

#[test]
fn cardinality_is_computed_without_enumerating() {
    check("FiniteSets", "Cardinality", &[of(LazySet::Subsets(datum::make_interval(1, 20)))], "1048576");
    check("FiniteSets", "Cardinality", &[of(LazySet::Subsets(datum::make_interval(1, 40)))], "Arithmetic");
    check("FiniteSets", "Cardinality", &[of(LazySet::Subsets(datum::make_interval(1, 4000)))], "Limit");
    check("FiniteSets", "Cardinality", &[of(LazySet::Naturals)], "NotEnumerable");
    check("FiniteSets", "IsFiniteSet", &[of(LazySet::Naturals)], "FALSE");
    check("FiniteSets", "IsFiniteSet", &[int(1)], "WrongKind");
}

#[test]
fn functions_of_tlc() {
    check("TLC", ":>", &[int(1), int(2)], "<<2>>");
    check("TLC", "@@", &[bag([(1, 2)]), bag([(1, 3), (2, 4)])], "<<2, 4>>");
    check(
        "TLC",
        "@@",
        &[bag([(5, 5), (9, 9)]), bag([(0, 0), (7, 7), (9, 1)])],
        "(0 :> 0 @@ 5 :> 5 @@ 7 :> 7 @@ 9 :> 9)",
    );
    check("TLC", "@@", &[int(1), seq([])], "WrongKind");
    check("TLC", "Permutations", &[set([1, 2])], "{<<1, 2>>, <<2, 1>>}");
    check("TLC", "Permutations", &[set([])], "{<<>>}");
    check("TLC", "Permutations", &[of(datum::make_interval(1, 20))], "Limit");
    check("TLC", "SortSeq", &[seq([3, 1, 2, 1]), op(LESS)], "<<1, 1, 2, 3>>");
    check("TLC", "ToString", &[of(datum::make_interval(1, 3))], "\"1..3\"");
    check("TLC", "ToString", &[string("a\"")], r#""\"a\\\"\"""#);
    check("TLC", "TLCEval", &[of(datum::make_interval(1, 2))], "{1, 2}");
    check("TLC", "TLCEval", &[of(LazySet::Naturals)], "Nat");
    check("TLC", "Assert", &[of(Value::Bool(false)), string("boom")], "Assertion");
    check("TLC", "Assert", &[int(1), string("boom")], "WrongKind");
}

#[test]
fn registers_keep_what_was_set() {
    let mut host = Fake::new();
    assert_eq!(answer(&mut host, "TLC", "TLCGet", &[int(99)]), "Unassigned");
    assert_eq!(answer(&mut host, "TLC", "TLCSet", &[int(99), int(5)]), "TRUE");
    assert_eq!(answer(&mut host, "TLC", "TLCGet", &[int(99)]), "5");
    assert_eq!(answer(&mut host, "TLC", "TLCGet", &[string("level")]), "3");
    assert_eq!(answer(&mut host, "TLC", "TLCGet", &[string("nothing")]), "Unsupported");
    assert_eq!(answer(&mut host, "TLCExt", "TLCGetAndSet", &[int(99), op(MINUS), int(2), int(0)]), "5");
    assert_eq!(answer(&mut host, "TLC", "TLCGet", &[int(99)]), "3");
    assert_eq!(answer(&mut host, "TLCExt", "TLCGetOrDefault", &[int(7), int(1)]), "1");
    assert_eq!(answer(&mut host, "TLC", "PrintT", &[string("hello")]), "TRUE");
    assert_eq!(answer(&mut host, "TLC", "TLCSet", &[string("exit"), of(Value::Bool(true))]), "TRUE");
    assert_eq!(host.printed, ["\"hello\"", "exit"]);
}

#[test]
fn folds_keep_their_order() {
    // 5 - (1 - 10), (10 - 1) - 5 and 1 - (5 - 10).
    check("FiniteSetsExt", "FoldSet", &[op(MINUS), int(10), set([1, 5])], "14");
    check("FiniteSetsExt", "ReduceSet", &[op(MINUS), set([1, 5]), int(10)], "14");
    check("Functions", "FoldFunction", &[op(MINUS), int(10), seq([1, 5])], "14");
    check("Functions", "FoldFunctionOnSet", &[op(MINUS), int(10), seq([1, 2, 5]), set([1, 3])], "14");
    check("SequencesExt", "FoldSeq", &[op(MINUS), int(10), seq([1, 5])], "14");
    check("SequencesExt", "FoldLeft", &[op(MINUS), int(10), seq([1, 5])], "4");
    check("SequencesExt", "FoldRight", &[op(MINUS), seq([1, 5]), int(10)], "6");
    check("SequencesExt", "FoldLeftDomain", &[op(MINUS), int(10), seq([7, 7])], "7");
    check("SequencesExt", "FoldRightDomain", &[op(MINUS), seq([7, 7]), int(10)], "9");
    check("Folds", "MapThenFoldSet", &[op(MINUS), int(10), op(PARITY), op(LEAST), set([1, 2])], "11");
    check("BagsExt", "FoldBag", &[op(MINUS), int(10), bag([(1, 2), (3, 1)])], "5");
}

#[test]
fn finite_sets_ext() {
    check("FiniteSetsExt", "SumSet", &[set([1, 2, 3])], "6");
    check("FiniteSetsExt", "ProductSet", &[set([2, 3])], "6");
    check("FiniteSetsExt", "MapThenSumSet", &[op(PARITY), set([1, 2, 3])], "2");
    check("FiniteSetsExt", "Quantify", &[set([1, 2, 3]), op(ABOVE_ONE)], "2");
    check("FiniteSetsExt", "kSubset", &[int(2), set([1, 2, 3])], "{{1, 2}, {1, 3}, {2, 3}}");
    check("FiniteSetsExt", "kSubset", &[int(0), set([1])], "{{}}");
    check("FiniteSetsExt", "kSubset", &[int(2), set([1])], "{}");
    check("FiniteSetsExt", "Max", &[set([1, 3, 2])], "3");
    check("FiniteSetsExt", "Min", &[of(datum::make_interval(4, 9))], "4");
    check("FiniteSetsExt", "Max", &[set([])], "NoChoice");
    check("FiniteSetsExt", "SymDiff", &[set([1, 2]), set([2, 3])], "{1, 3}");
    check("FiniteSetsExt", "ChooseUnique", &[set([1, 2]), op(ABOVE_ONE)], "2");
    check("FiniteSetsExt", "ChooseUnique", &[set([1, 2, 3]), op(ABOVE_ONE)], "NoChoice");
    let sets = Value::set(vec![Value::set(ints([1, 2])).unwrap(), Value::set(ints([3])).unwrap()]).unwrap();
    check("FiniteSetsExt", "Choices", &[of(sets)], "{{1, 3}, {2, 3}}");
}

#[test]
fn functions() {
    check("Functions", "Restrict", &[seq([7, 8, 9]), set([1, 3])], "(1 :> 7 @@ 3 :> 9)");
    check("Functions", "Restrict", &[seq([7]), set([2])], "OutsideDomain");
    check("Functions", "RestrictDomain", &[seq([7, 8]), op(ABOVE_ONE)], "(2 :> 8)");
    check("Functions", "RestrictValues", &[seq([1, 8]), op(ABOVE_ONE)], "(2 :> 8)");
    check("Functions", "IsRestriction", &[seq([7]), seq([7, 8])], "TRUE");
    check("Functions", "Range", &[seq([2, 1, 2])], "{1, 2}");
    check("Functions", "Pointwise", &[seq([5, 6]), seq([1, 2]), op(MINUS)], "<<4, 4>>");
    check("Functions", "AntiFunction", &[seq([7, 5])], "(5 :> 2 @@ 7 :> 1)");
    check("Functions", "AntiFunction", &[seq([7, 7])], "WrongKind");
    check("Functions", "Inverse", &[seq([7, 5]), set([1, 2]), set([4, 5])], "(4 :> 1 @@ 5 :> 2)");
    check("Functions", "IsInjective", &[seq([7, 7])], "FALSE");
    check("Functions", "Injection", &[set([1]), set([1, 2])], "{<<1>>, <<2>>}");
    check("Functions", "Surjection", &[set([1]), set([1, 2])], "{}");
    check("Functions", "Bijection", &[set([1, 2]), set([3, 4])], "{<<3, 4>>, <<4, 3>>}");
    check("Functions", "ExistsSurjection", &[set([1]), set([])], "FALSE");
    check("Functions", "SumFunction", &[seq([7, 5])], "12");
    check("Functions", "SumFunctionOnSet", &[seq([7, 5]), set([2])], "5");
}

#[test]
fn sequences_ext() {
    check("SequencesExt", "ToSet", &[seq([2, 1, 2])], "{1, 2}");
    check("SequencesExt", "ToBag", &[seq([5, 6, 5])], "(5 :> 2 @@ 6 :> 1)");
    check("SequencesExt", "SetToSeq", &[set([2, 1])], "<<1, 2>>");
    check("SequencesExt", "SetToSeqs", &[set([2, 1])], "{<<1, 2>>, <<2, 1>>}");
    check("SequencesExt", "SetToAllKPermutations", &[set([2, 1])], "{<<>>, <<1>>, <<2>>, <<1, 2>>, <<2, 1>>}");
    check("SequencesExt", "SeqOf", &[set([1, 2]), int(1)], "{<<>>, <<1>>, <<2>>}");
    check("SequencesExt", "TupleOf", &[set([1]), int(2)], "{<<1, 1>>}");
    check("SequencesExt", "Contains", &[seq([1]), int(2)], "FALSE");
    check("SequencesExt", "Contains", &[seq([1]), string("a")], "Incomparable");
    check("SequencesExt", "IsSorted", &[seq([1, 1]), op(LESS)], "FALSE");
    check("SequencesExt", "Reverse", &[seq([1, 2])], "<<2, 1>>");
    check("SequencesExt", "Remove", &[seq([1, 2, 1]), int(1)], "<<2>>");
    check("SequencesExt", "ReplaceAll", &[seq([1, 2, 1]), int(1), int(9)], "<<9, 2, 9>>");
    check("SequencesExt", "SelectInSeq", &[seq([1, 2, 3]), op(ABOVE_ONE)], "2");
    check("SequencesExt", "SelectLastInSeq", &[seq([1, 2, 3]), op(ABOVE_ONE)], "3");
    check("SequencesExt", "SelectInSubSeq", &[seq([5, 1, 2, 3]), int(2), int(4), op(ABOVE_ONE)], "3");
    check("SequencesExt", "SelectLastInSubSeq", &[seq([5, 1]), int(2), int(2), op(ABOVE_ONE)], "0");
    check("SequencesExt", "InsertAt", &[seq([1, 2]), int(3), int(9)], "<<1, 2, 9>>");
    check("SequencesExt", "ReplaceAt", &[seq([1, 2]), int(3), int(9)], "<<1, 2>>");
    check("SequencesExt", "RemoveAt", &[seq([1, 2, 3]), int(2)], "<<1, 3>>");
    check("SequencesExt", "RemoveFirst", &[seq([1, 2, 1]), int(1)], "<<2, 1>>");
    check("SequencesExt", "RemoveFirstMatch", &[seq([1, 2, 3]), op(ABOVE_ONE)], "<<1, 3>>");
    check("SequencesExt", "Cons", &[int(1), seq([2])], "<<1, 2>>");
    check("SequencesExt", "Snoc", &[int(1), seq([2])], "<<2, 1>>");
    check("SequencesExt", "Front", &[string("abc")], "\"ab\"");
    check("SequencesExt", "Last", &[seq([])], "OutsideDomain");
    check("SequencesExt", "SeqMod", &[int(4), int(2)], "2");
    check("SequencesExt", "Zip", &[seq([1, 2]), seq([3])], "<<<<1, 3>>>>");
    check("SequencesExt", "Interleave", &[seq([1]), seq([3])], "<<<<1>>, <<3>>>>");
}

#[test]
fn sequences_within_sequences() {
    check("SequencesExt", "IsPrefix", &[string("ab"), string("abc")], "TRUE");
    check("SequencesExt", "IsPrefix", &[seq([1, 2]), seq([1])], "FALSE");
    check("SequencesExt", "IsStrictPrefix", &[seq([1]), seq([1])], "FALSE");
    check("SequencesExt", "IsSuffix", &[seq([2]), seq([1, 2])], "TRUE");
    check("SequencesExt", "IsStrictSuffix", &[seq([2]), seq([2])], "FALSE");
    check("SequencesExt", "Prefixes", &[seq([1, 2])], "{<<>>, <<1>>, <<1, 2>>}");
    check("SequencesExt", "Suffixes", &[seq([1, 2])], "{<<>>, <<2>>, <<1, 2>>}");
    let rows = Value::set(vec![Value::seq(ints([1, 2, 3])), Value::seq(ints([1, 2, 4]))]).unwrap();
    check("SequencesExt", "LongestCommonPrefix", &[of(rows.clone())], "<<1, 2>>");
    check("SequencesExt", "CommonPrefixes", &[of(rows.clone())], "{<<>>, <<1>>, <<1, 2>>}");
    check("SequencesExt", "LongestCommonPrefix", &[set([])], "NoChoice");
    let Value::Set(rows) = rows else { panic!("made a set") };
    check("SequencesExt", "FlattenSeq", &[of(Value::seq(rows.elements().to_vec()))], "<<1, 2, 3, 1, 2, 4>>");
    check("SequencesExt", "SubSeqs", &[seq([1, 2])], "{<<>>, <<1>>, <<2>>, <<1, 2>>}");
    check("SequencesExt", "AllSubSeqs", &[seq([3, 1])], "{<<>>, <<1>>, <<3>>, <<3, 1>>}");
    check("SequencesExt", "IndexFirstSubSeq", &[seq([2, 3]), seq([1, 2, 3])], "2");
    check("SequencesExt", "IndexFirstSubSeq", &[seq([]), seq([1])], "1");
    check("SequencesExt", "IndexFirstSubSeq", &[seq([9]), seq([1])], "NoChoice");
    check("SequencesExt", "ReplaceFirstSubSeq", &[seq([9]), seq([1]), seq([1, 2, 1])], "<<9, 2, 1>>");
    check("SequencesExt", "ReplaceAllSubSeqs", &[string("x"), string("aa"), string("aaaba")], "\"xaba\"");
    check("SequencesExt", "ReplaceAllSubSeqs", &[seq([9]), seq([]), seq([1, 2])], "<<9, 1, 9, 2>>");
    check("SequencesExt", "ReplaceSubSeqAt", &[int(2), seq([]), seq([0, 0]), seq([1, 2, 3, 4])], "<<1, 4>>");
}

#[test]
fn bags() {
    check("Bags", "(+)", &[bag([(5, 1)]), bag([(5, 2), (6, 1)])], "(5 :> 3 @@ 6 :> 1)");
    check("Bags", "(-)", &[bag([(5, 3), (6, 1)]), bag([(5, 1), (6, 4)])], "(5 :> 2)");
    check("Bags", "\\sqsubseteq", &[bag([(5, 3)]), bag([(5, 1)])], "FALSE");
    check("Bags", "IsABag", &[bag([(5, 0)])], "FALSE");
    check("Bags", "IsABag", &[int(1)], "FALSE");
    check("Bags", "BagIn", &[int(5), bag([(5, 1)])], "TRUE");
    check("Bags", "CopiesIn", &[int(6), bag([(5, 1)])], "0");
    check("Bags", "SetToBag", &[set([5, 6])], "(5 :> 1 @@ 6 :> 1)");
    check("Bags", "BagCardinality", &[bag([(5, 3), (6, 1)])], "4");
    check("Bags", "BagOfAll", &[op(PARITY), bag([(5, 3), (7, 1)])], "<<4>>");
    check("Bags", "SubBag", &[bag([(5, 2)])], "{<<>>, (5 :> 1), (5 :> 2)}");
    check(
        "Bags",
        "BagUnion",
        &[of(Value::set(vec![Value::seq(ints([1])), Value::seq(ints([2, 1]))]).unwrap())],
        "<<3, 1>>",
    );
    check("BagsExt", "BagAdd", &[bag([(5, 2)]), int(5)], "(5 :> 3)");
    check("BagsExt", "BagRemove", &[bag([(5, 1)]), int(5)], "<<>>");
    check("BagsExt", "BagRemoveAll", &[bag([(5, 9), (6, 1)]), int(5)], "(6 :> 1)");
    check("BagsExt", "SumBag", &[bag([(5, 2), (6, 1)])], "16");
    check("BagsExt", "ProductBag", &[bag([(5, 2), (6, 1)])], "150");
}

#[test]
fn bits() {
    check("Bitwise", "&", &[int(6), int(3)], "2");
    check("Bitwise", "|", &[int(6), int(3)], "7");
    check("Bitwise", "^^", &[int(6), int(3)], "5");
    check("Bitwise", "Not", &[int(5)], "2");
    check("Bitwise", "Not", &[int(0)], "0");
    check("Bitwise", "shiftR", &[int(8), int(2)], "2");
    check("Bitwise", "&", &[int(1 << 40), int(3)], "Arithmetic");
}

#[test]
fn random_choices_are_of_the_set() {
    let functions = LazySet::Functions(datum::make_interval(1, 40), datum::make_interval(3, 3));
    let threes = format!("<<{}>>", ["3"; 40].join(", "));
    check("TLC", "RandomElement", &[of(functions)], &threes);
    check("TLC", "RandomElement", &[set([])], "NoChoice");
    check("Randomization", "RandomSubset", &[int(2), set([1, 2])], "{1, 2}");
    check("Randomization", "RandomSubset", &[int(3), set([1, 2])], "WrongKind");
    check("Randomization", "RandomSetOfSubsets", &[int(5), int(2), set([1, 2])], "{{1, 2}}");
}

fn check_file(name: &str, bytes: &[u8], module: &str, args: &[Operand], expected: &str) {
    let mut host = Fake::new();
    host.files.insert("f".to_owned(), bytes.to_vec());
    assert_eq!(answer(&mut host, module, name, args), expected);
}

#[test]
fn json_is_read_and_written() {
    let lines = b"{\"b\": [1, true], \"a\": \"x\"}\n\n{}\n";
    check_file("ndJsonDeserialize", lines, "Json", &[string("f")], r#"<<[a |-> "x", b |-> <<1, TRUE>>], <<>>>>"#);
    check_file("JsonDeserialize", b"[5000000000]", "Json", &[string("f")], "<<5000000000>>");
    check_file("JsonDeserialize", b"[1.5, -1.5]", "Json", &[string("f")], "<<1, -1>>");
    check_file("JsonDeserialize", b"[1e30]", "Json", &[string("f")], "WrongKind");
    check_file("JsonDeserialize", b"null", "Json", &[string("f")], "WrongKind");
    check_file("JsonDeserialize", b"", "Json", &[string("g")], "WrongKind");
    check("Json", "ToJson", &[bag([(0, 1)])], r#""{\"0\":1}""#);
    check("Json", "ToJson", &[set([2, 1])], "\"[1,2]\"");
    check("Json", "ToJsonObject", &[seq([7])], r#""{\"0\":7}""#);
    check("Json", "JsonSerialize", &[string("f"), int(1)], "Unsupported");
}

/// `(3 :> <<[a |-> TRUE], {5}>>)`, then the sequence again, as TLC writes them.
const WRITTEN: &[u8] = &[
    7, 0, 2, // a sequence of two, number 0
    9, 0, 1, 2, // a function of one argument, not sorted, number 1
    1, 0, 0, 0, 3, // 3
    7, 0, 2, // a sequence of two, number 2
    4, 0xff, 0xff, 0xff, 0xff, // a record of one field, not sorted, number 3
    3, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, b'a', // number 4
    0, 1, // TRUE
    5, 0, 0, 0, 1, 1, 0, 0, 0, 5, // {5}, number 5
    26, 0, 2, // number 2 again
];

#[test]
fn files_of_tlc_are_read() {
    let (plain, packed) = (of(Value::Bool(false)), of(Value::Bool(true)));
    let expected = "<<(3 :> <<[a |-> TRUE], {5}>>), <<[a |-> TRUE], {5}>>>>";
    check_file("IODeserialize", WRITTEN, "IOUtils", &[string("f"), plain.clone()], expected);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(WRITTEN).unwrap();
    check_file("IODeserialize", &gzip.finish().unwrap(), "IOUtils", &[string("f"), packed.clone()], expected);
    check_file("IODeserialize", WRITTEN, "IOUtils", &[string("f"), packed], "WrongKind");
    for len in 0..WRITTEN.len() {
        check_file("IODeserialize", &WRITTEN[..len], "IOUtils", &[string("f"), plain.clone()], "WrongKind");
    }
    let nested = [7, 0, 1].repeat(5000);
    check_file("IODeserialize", &nested, "IOUtils", &[string("f"), plain], "WrongKind");
}

#[test]
fn the_environment_is_a_record() {
    check("IOUtils", "IOEnv", &[], r#"[TRACE |-> "a.ndjson"]"#);
    check("IOUtils", "atoi", &[string("-12")], "-12");
    check("IOUtils", "atoi", &[string("x")], "WrongKind");
    check("IOUtils", "zeroPadN", &[int(7), int(3)], "\"007\"");
}

#[test]
fn a_wrong_argument_is_named() {
    let error = (find("Sequences", "Append").unwrap().run)(&mut Fake::new(), &[int(1), int(2)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::WrongKind);
    insta::assert_snapshot!(error.message, @"the first argument of `Append` must be a sequence, but it is 1");
    let error = (find("CSV", "CSVRecords").unwrap().run)(&mut Fake::new(), &[int(1)]).unwrap_err();
    insta::assert_snapshot!(error.message, @"`CSVRecords` of the module `CSV` is not supported");
}
