//! Values that neither the rest of a log nor the specification distinguishes.
//!
//! A log without arguments leaves open which resource manager prepared, and all of them would do. If the specification
//! treats the elements of a constant set alike, a permutation of them maps behaviors to behaviors. A permutation that
//! also leaves alone every value that the rest of the log mentions maps an explanation of the rest to an explanation of
//! the rest. So of all configurations that such permutations map to each other, one is enough.
//!
//! - *Sorts.* A constant set of strings, of model values or of integers is a *sort* if no expression of the specification
//!   or of the mapping has one of its elements as a literal or as the name of a field, chooses one by `CHOOSE`, or passes
//!   one to an operator that may distinguish them. A literal or another constant that every permutation leaves unchanged,
//!   such as the set itself, is fine. Expressions must not compute with integers or count them at all, and there must be no
//!   sequences, whose domains are integers.
//! - *Strings as sequences.* `Len`, `\o`, `SubSeq` and `Tail` are about sequences in nearly every specification, but
//!   distinguish strings if they are applied to one. The machine notes that, and then the check searches a rejected log
//!   again without sorts of strings. It is enough to note one such evaluation although the search leaves out
//!   configurations: a permutation maps the evaluation of an expression in one of those to an evaluation in the one that
//!   was kept, and strings to strings. If the order of evaluation differs, an operand that is not evaluated in one of them
//!   does not change the value. An accepted log has a behavior, which is confirmed without any of this.
//! - *Canonical states.* Colors are computed for the values of a sort: two values get the same color if they occur at the
//!   same places of the state, and the colors of the values around places distinguish them. Values that the rest of the log
//!   does not mention are then sorted by color and renamed in that order. Equal colors do not prove that two values are
//!   interchangeable, and then two configurations may be kept where one would do, but a canonical state is always a
//!   permutation of the state.
//! - *Arguments.* An argument that the log does not have is tried for one value of each class only. Two values are in one
//!   class if exchanging them leaves the state unchanged, which is tested. Further arguments are chosen among values that
//!   exchanges of values other than those chosen before leave unchanged.

use hashbrown::{HashMap, HashSet};
use omnilink_tla::ir::{Body, DefId, ExprId, Node, Step};
use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::{Operation, Program};
use omnilink_tla::strings::Str;
use omnilink_tla::value::{Set, Value};
use rustc_hash::FxBuildHasher;

use crate::bind::{Args, Bound};

/// The interchangeable values of a log and a specification.
#[derive(Debug)]
pub(crate) struct Symmetry {
    /// Each value's index.
    index: HashMap<Value, usize, FxBuildHasher>,
    values: Vec<Value>,
    /// The sort of each value.
    sorts: Vec<usize>,
    /// Whether one of the sorts has strings.
    pub(crate) has_strings: bool,
    /// For each chain and position, the values that its events from there on mention.
    mentioned: Vec<Vec<Bits>>,
}

/// A set of values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(size: usize) -> Bits {
        Bits(vec![0; size.div_ceil(64)])
    }

    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn unite(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// The maximum number of elements of a sort.
const MOST_VALUES: usize = 4096;

/// The maximum number of values to try for a parameter one by one.
const MOST_CANDIDATES: usize = 4096;

/// The number of rounds in which colors are refined.
const ROUNDS: usize = 2;

impl Symmetry {
    /// Finds the interchangeable values; `None` if there are none. `constants` are those with a value. Leaves out strings
    /// if the specification takes them apart.
    pub(crate) fn find(
        program: &Program,
        constants: &[(DefId, Value)],
        bound: &Bound,
        expressions: &[DefId],
        told: &[Value],
        reads_text: bool,
    ) -> Option<Symmetry> {
        // An action of the mapping need not be part of the next-state relation.
        let actions = bound.actions.iter().map(|action| action.def);
        let expressions: Vec<DefId> = expressions.iter().copied().chain(actions).collect();
        let features = Features::of(program, constants, &expressions);
        if features.has_unknown {
            return None;
        }
        let updates = bound.events.iter().flat_map(|event| &event.updates).flat_map(|(_, updates)| updates);
        let computes = features.computes || updates.into_iter().any(|update| update.op.counts());
        let mut sorts: Vec<&Set> = Vec::new();
        for (_, value) in constants {
            let Value::Set(set) = value else { continue };
            let first = set.elements().first();
            // `STRING`, for example, distinguishes values of different kinds.
            let is_plain = |value: &Value| match (value, first) {
                (Value::Str(text), Some(Value::Str(_))) => !reads_text && !features.fields.contains(text),
                (Value::Model(model), Some(Value::Model(first))) => model.class == first.class,
                (Value::Int(_), Some(Value::Int(_))) => !computes,
                _ => false,
            };
            let is_sort = (2..=MOST_VALUES).contains(&set.len())
                && set.elements().iter().all(is_plain)
                && set.elements().windows(2).all(|pair| {
                    features.literals.iter().all(|literal| exchanged(literal, &pair[0], &pair[1]) == *literal)
                        && told.iter().all(|value| exchanged(value, &pair[0], &pair[1]) == *value)
                        && constants.iter().all(|(_, value)| exchanged(value, &pair[0], &pair[1]) == *value)
                });
            // Sorts do not distinguish sets with common elements.
            let overlaps = constants.iter().filter_map(|(_, other)| match other {
                Value::Set(other) if other.elements() != set.elements() => Some(other),
                _ => None,
            });
            let is_apart =
                overlaps.into_iter().all(|other| !set.elements().iter().any(|value| other.elements().contains(value)));
            if is_sort && is_apart && !sorts.iter().any(|known| known.elements() == set.elements()) {
                sorts.push(set);
            }
        }
        if sorts.is_empty() {
            return None;
        }
        let (mut index, mut values, mut of) = (HashMap::default(), Vec::new(), Vec::new());
        for (sort, set) in sorts.iter().enumerate() {
            for value in set.elements() {
                index.insert(value.clone(), values.len());
                values.push(value.clone());
                of.push(sort);
            }
        }
        let has_strings = values.iter().any(|value| matches!(value, Value::Str(_)));
        let mut symmetry = Symmetry { index, values, sorts: of, has_strings, mentioned: Vec::new() };
        symmetry.mention(bound);
        Some(symmetry)
    }

    /// Notes the values that the rest of each chain mentions.
    fn mention(&mut self, bound: &Bound) {
        let mut mentioned = Vec::new();
        for chain in &bound.order.chains {
            let mut rest = Bits::new(self.values.len());
            let mut suffixes = vec![rest.clone()];
            for &event in chain.iter().rev() {
                for value in &bound.events[event].mentions {
                    self.add_mentions(value, &mut rest);
                }
                suffixes.push(rest.clone());
            }
            suffixes.reverse();
            mentioned.push(suffixes);
        }
        self.mentioned = mentioned;
    }

    fn add_mentions(&self, value: &Value, bits: &mut Bits) {
        if let Some(&place) = self.index.get(value) {
            bits.add(place);
        }
    }

    /// The values that events not yet explained mention.
    fn fixed(&self, position: &[u32]) -> Bits {
        let mut fixed = Bits::new(self.values.len());
        for (suffixes, index) in self.mentioned.iter().zip(position) {
            if let Some(rest) = suffixes.get(*index as usize) {
                fixed.unite(rest);
            }
        }
        fixed
    }

    /// The representative of a state among those that permutations map to it.
    pub(crate) fn canonical(&self, position: &[u32], state: &State) -> State {
        let fixed = self.fixed(position);
        let free: Vec<usize> = (0..self.values.len()).filter(|place| !fixed.has(*place)).collect();
        if free.len() < 2 {
            return state.clone();
        }
        let colors = self.colors(&fixed, state);
        let mut renamed: HashMap<&Value, &Value, FxBuildHasher> = HashMap::default();
        let mut start = 0;
        while start < free.len() {
            let sort = self.sorts[free[start]];
            let end =
                free[start..].iter().position(|place| self.sorts[*place] != sort).map_or(free.len(), |n| start + n);
            let mut by_color = free[start..end].to_vec();
            by_color.sort_by_key(|place| (colors[*place], *place));
            for (from, to) in by_color.iter().zip(&free[start..end]) {
                if from != to {
                    renamed.insert(&self.values[*from], &self.values[*to]);
                }
            }
            start = end;
        }
        if renamed.is_empty() {
            return state.clone();
        }
        state.iter().map(|value| renaming(value, &renamed)).collect()
    }

    /// A color for each value. Values that are fixed have colors of their own.
    fn colors(&self, fixed: &Bits, state: &State) -> Vec<u64> {
        let first = |place: usize| match fixed.has(place) {
            true => mix(1, place as u64),
            false => mix(2, self.sorts[place] as u64),
        };
        let mut colors: Vec<u64> = (0..self.values.len()).map(first).collect();
        for _ in 0..ROUNDS {
            let mut sums = vec![0_u64; colors.len()];
            for (variable, value) in state.iter().enumerate() {
                self.visit(value, mix(3, variable as u64), &colors, &mut sums);
            }
            colors.iter_mut().zip(sums).for_each(|(color, sum)| *color = mix(*color, sum));
        }
        colors
    }

    /// Adds the place of each occurrence of a value to its sum.
    fn visit(&self, value: &Value, place: u64, colors: &[u64], sums: &mut [u64]) {
        if let Some(&index) = self.index.get(value) {
            sums[index] = sums[index].wrapping_add(mix(place, 4));
            return;
        }
        match value {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => {}
            Value::Set(set) => {
                for element in set.elements() {
                    self.visit(element, mix(place, self.color(element, colors)), colors, sums);
                }
            }
            Value::Seq(seq) => {
                for (index, element) in seq.elements().iter().enumerate() {
                    self.visit(element, mix(place, mix(5, index as u64)), colors, sums);
                }
            }
            Value::Fun(fun) => {
                for (key, value) in fun.domain().elements().iter().zip(fun.values()) {
                    self.visit(key, mix(place, mix(6, self.color(value, colors))), colors, sums);
                    self.visit(value, mix(place, mix(7, self.color(key, colors))), colors, sums);
                }
            }
        }
    }

    /// A hash of a value that permutations of values with equal colors leave unchanged.
    fn color(&self, value: &Value, colors: &[u64]) -> u64 {
        if let Some(&index) = self.index.get(value) {
            return colors[index];
        }
        match value {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => hash(value),
            Value::Set(set) => {
                let elements = set.elements().iter();
                elements.fold(8, |sum, element| sum.wrapping_add(mix(9, self.color(element, colors))))
            }
            Value::Seq(seq) => seq.elements().iter().fold(10, |sum, element| mix(sum, self.color(element, colors))),
            Value::Fun(fun) => {
                let pairs = fun.domain().elements().iter().zip(fun.values());
                pairs.fold(11, |sum, (key, value)| {
                    sum.wrapping_add(mix(self.color(key, colors), self.color(value, colors)))
                })
            }
        }
    }

    /// The arguments to try in a state: one combination of each class.
    pub(crate) fn representatives(
        &self,
        machine: &mut Machine<'_>,
        operation: &Operation,
        args: Args,
        position: &[u32],
        state: &State,
    ) -> Vec<Args> {
        let unknown: Vec<usize> = (0..args.len()).filter(|place| args[*place].is_none()).collect();
        let mut candidates = Vec::new();
        for place in &unknown {
            match machine.candidates(operation, *place, state, MOST_CANDIDATES) {
                Some(found) => candidates.push(found),
                // Another argument's class may depend on this one.
                None => return vec![args],
            }
        }
        let fixed = self.fixed(position);
        let colors = self.colors(&fixed, state);
        let mut found = Vec::new();
        let chosen = args.iter().flatten().cloned().collect();
        let choice =
            Choice { symmetry: self, unknown: &unknown, candidates: &candidates, fixed: &fixed, colors: &colors };
        choice.choose(0, args, chosen, state, &mut found);
        found
    }
}

/// The choice of arguments in a state.
struct Choice<'a> {
    symmetry: &'a Symmetry,
    unknown: &'a [usize],
    candidates: &'a [Vec<Value>],
    fixed: &'a Bits,
    colors: &'a [u64],
}

impl Choice<'_> {
    fn choose(&self, index: usize, args: Args, chosen: Vec<Value>, state: &State, out: &mut Vec<Args>) {
        let Some(place) = self.unknown.get(index) else {
            out.push(args);
            return;
        };
        let mut tried: Vec<(usize, &Value)> = Vec::new();
        for value in &self.candidates[index] {
            if let Some(&number) = self.symmetry.index.get(value)
                && !self.fixed.has(number)
                && !chosen.contains(value)
            {
                let is_tried = tried.iter().any(|(other, known)| {
                    self.symmetry.sorts[*other] == self.symmetry.sorts[number]
                        && self.colors[*other] == self.colors[number]
                        && state.iter().all(|part| exchanged(part, known, value) == *part)
                });
                if is_tried {
                    continue;
                }
                tried.push((number, value));
            }
            let (mut args, mut chosen) = (args.clone(), chosen.clone());
            args[*place] = Some(value.clone());
            chosen.push(value.clone());
            self.choose(index + 1, args, chosen, state, out);
        }
    }
}

/// The ways in which a specification uses values.
#[derive(Default)]
struct Features {
    /// Literals that are not numbers or Booleans alone.
    literals: Vec<Value>,
    /// Names of fields.
    fields: HashSet<Str, FxBuildHasher>,
    /// True if it computes with integers, has some of its own, or has sequences.
    computes: bool,
    /// True if it may distinguish values in other ways.
    has_unknown: bool,
}

/// Built-in operators that treat all values alike, and whether this includes integers. Operators on sequences take strings
/// apart, which the machine notes.
const ALIKE: &[(&str, &str, bool)] = &[
    ("FiniteSets", "Cardinality", false),
    ("FiniteSets", "IsFiniteSet", true),
    ("Sequences", "Append", false),
    ("Sequences", "Head", false),
    ("Sequences", "Len", false),
    ("Sequences", "Seq", false),
    ("Sequences", "SelectSeq", false),
    ("Sequences", "SubSeq", false),
    ("Sequences", "Tail", false),
    ("Sequences", "\\o", false),
    ("SequencesExt", "ToSet", true),
    ("Functions", "Range", true),
    ("TLC", ":>", true),
    ("TLC", "@@", true),
];

impl Features {
    fn of(program: &Program, constants: &[(DefId, Value)], expressions: &[DefId]) -> Features {
        let mut features = Features::default();
        let mut seen: HashSet<DefId, FxBuildHasher> = constants.iter().map(|(def, _)| *def).collect();
        let entries = program.init.iter().chain(&program.next).copied();
        let predicates = program.invariants.iter().chain(&program.constraints).chain(&program.action_constraints);
        for expr in entries.chain(predicates.map(|(_, expr)| *expr)) {
            features.walk(program, expr, &mut seen);
        }
        for def in expressions {
            features.enter(program, *def, &mut seen);
        }
        features
    }

    fn enter(&mut self, program: &Program, def: DefId, seen: &mut HashSet<DefId, FxBuildHasher>) {
        if !seen.insert(def) {
            return;
        }
        match &program.definition(def).body {
            Body::Expr(body) => self.walk(program, *body, seen),
            Body::Native(native) if matches!(native.module, "Naturals" | "Integers") => self.computes = true,
            Body::Native(native) => {
                let known = ALIKE.iter().find(|(module, name, _)| (*module, *name) == (native.module, native.name));
                self.computes |= known.is_some_and(|(.., integers)| !integers);
                self.has_unknown |= known.is_none();
            }
            Body::Declared => self.has_unknown = true,
        }
    }

    fn walk(&mut self, program: &Program, expr: ExprId, seen: &mut HashSet<DefId, FxBuildHasher>) {
        let node = program.module.exprs.node(expr);
        match node {
            Node::Value(Value::Bool(_)) => {}
            Node::Value(value) => {
                self.computes |= matches!(value, Value::Int(_));
                self.literals.push(value.clone());
            }
            // A function of several arguments is one of tuples.
            Node::Arithmetic(..) | Node::Tuple(_) | Node::Product(_) => self.computes = true,
            Node::Function { bounds, .. } if bounds.len() > 1 => self.computes = true,
            Node::Choose { .. } | Node::Unsupported { .. } | Node::CallArgument { .. } => self.has_unknown = true,
            Node::Record(fields) | Node::Records(fields) => {
                self.fields.extend(fields.iter().map(|(name, _)| name.clone()));
            }
            Node::Shaped(names, _) => self.fields.extend(names.elements().iter().filter_map(|name| match name {
                Value::Str(text) => Some(text.clone()),
                _ => None,
            })),
            Node::Field(_, name) => drop(self.fields.insert(name.clone())),
            Node::Except { updates, .. } => {
                let steps = updates.iter().flat_map(|update| &update.path);
                self.fields.extend(steps.filter_map(|step| match step {
                    Step::Field(name) => Some(name.clone()),
                    Step::Index(_) => None,
                }));
            }
            _ => {}
        }
        node.for_each_callee(&mut |def| self.enter(program, def, seen));
        node.for_each_child(&mut |child| self.walk(program, child, seen));
    }
}

/// A value with two others exchanged.
fn exchanged(value: &Value, a: &Value, b: &Value) -> Value {
    let mut renamed: HashMap<&Value, &Value, FxBuildHasher> = HashMap::default();
    renamed.insert(a, b);
    renamed.insert(b, a);
    renaming(value, &renamed)
}

/// A value with others renamed.
fn renaming(value: &Value, renamed: &HashMap<&Value, &Value, FxBuildHasher>) -> Value {
    let all = |values: &[Value]| values.iter().map(|value| renaming(value, renamed)).collect::<Vec<Value>>();
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => {
            renamed.get(value).map_or_else(|| value.clone(), |other| (*other).clone())
        }
        Value::Set(set) => Value::set(all(set.elements())).unwrap_or_else(|_| value.clone()),
        Value::Seq(seq) => {
            // A sequence is a function on integers, whose names may have changed too.
            match (1..=seq.len() as i64).any(|index| renamed.contains_key(&Value::Int(index))) {
                false => Value::seq(all(seq.elements())),
                true => {
                    let keys = all(&(1..=seq.len() as i64).map(Value::Int).collect::<Vec<Value>>());
                    let pairs = keys.into_iter().zip(all(seq.elements()));
                    Value::pairs(pairs.collect()).unwrap_or_else(|_| value.clone())
                }
            }
        }
        Value::Fun(fun) => {
            let pairs = all(fun.domain().elements()).into_iter().zip(all(fun.values()));
            Value::pairs(pairs.collect()).unwrap_or_else(|_| value.clone())
        }
    }
}

fn hash(value: &Value) -> u64 {
    use std::hash::BuildHasher;
    FxBuildHasher.hash_one(value)
}

/// Combines two hashes; not symmetric.
fn mix(a: u64, b: u64) -> u64 {
    let product = (a ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(b.rotate_left(29) ^ 0xd6e8_feb8_6659_fd93 | 1);
    (product ^ (product >> 32)).wrapping_mul(0xe703_7ed1_a0b4_28db) ^ b
}
