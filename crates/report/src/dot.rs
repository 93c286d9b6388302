//! The interpretations of a history as a Graphviz graph.
//!
//! A node is a state after some number of steps, an edge is the operation that leads from one to the next.
//! Interpretations that are in equal states after equally many steps share the node, so their common part is visible.
//! Where an interpretation ends, red edges say which operations cannot be next and why. A history with only one order,
//! such as an accepted one, has a graph that is a line: its last steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::data::{Report, State, Stuck};
use crate::finding::{fields, op_text, why};
use crate::timeline::{Ending, Placement, Timeline};
use crate::wording::{count, short};

/// The number of common steps drawn before the interpretations diverge, and if they never do.
const BEFORE_ENDINGS: usize = 5;
const ALONE: usize = 50;

/// The maximum number of interpretations drawn.
const MOST_ENDINGS: usize = 64;

/// The layer of reasons, below all states.
const LAST: usize = usize::MAX;

/// The maximum width of a text.
const WIDTH: usize = 60;

/// The interpretations of a history as a graph.
pub fn dot(report: &Report, timeline: &Timeline) -> String {
    let mut graph = Graph::default();
    let endings = &timeline.endings[..timeline.endings.len().min(MOST_ENDINGS)];
    let at = graph.common(timeline, if endings.is_empty() { ALONE } else { BEFORE_ENDINGS });
    let ends: Vec<usize> = endings.iter().map(|ending| graph.ending(timeline, at, ending)).collect();
    if let Some(stuck) = report.stuck() {
        match &*ends {
            [] => graph.stuck(report, stuck, at, None),
            _ => {
                for (interpretation, &end) in stuck.interpretations.iter().zip(&ends) {
                    graph.stuck(report, stuck, end, Some(interpretation.state));
                }
            }
        }
    }
    graph.write(report, timeline.endings.len() - endings.len())
}

#[derive(Default)]
struct Graph {
    /// The text of each node, and the number of steps before it.
    nodes: Vec<(String, usize)>,
    /// The nodes of known states, by the number of steps before.
    known: BTreeMap<(usize, String), usize>,
    /// The nodes of unknown states, by the previous node and the operation.
    unknown: BTreeMap<(usize, u32), usize>,
    /// From, to, and text. A set, because interpretations share their common part.
    edges: BTreeSet<(usize, usize, String)>,
    /// The nodes of reasons, each once: several states may be stuck for the same reason.
    reasons: BTreeMap<usize, usize>,
}

impl Graph {
    /// Draws the last steps common to all interpretations, and returns where they end.
    fn common(&mut self, timeline: &Timeline, most: usize) -> usize {
        let steps = timeline.order.len();
        // States are known up to the last step, unless an earlier range was requested.
        let states = if timeline.until == steps { &timeline.states[..] } else { &[] };
        let first = steps - most.min(steps);
        let state = |after: usize| states.len().checked_sub(1 + steps - after).and_then(|place| states.get(place));
        let mut at = self.node(first, state(first), None);
        for (after, step) in (first + 1..).zip(&timeline.order[first..]) {
            at = self.step(timeline, at, step, state(after));
            debug_assert_eq!(self.nodes[at].1, after);
        }
        at
    }

    fn ending(&mut self, timeline: &Timeline, mut at: usize, ending: &Ending) -> usize {
        for (place, step) in ending.steps.iter().enumerate() {
            at = self.step(timeline, at, step, ending.states.get(place));
        }
        at
    }

    fn step(&mut self, timeline: &Timeline, from: usize, step: &Placement, state: Option<&State>) -> usize {
        let to = self.node(self.nodes[from].1 + 1, state, Some((from, step.op)));
        let entry = &timeline.operations[step.op as usize];
        let style = if step.partway { ", style=dashed" } else { "" };
        let name = format!("{} {}", timeline.name(entry), timeline.text(entry));
        self.edges.insert((from, to, format!("label={}{style}", quoted(&short(&name, WIDTH)))));
        to
    }

    /// The node of a state after this many steps; an unknown state is identified by how it is reached.
    fn node(&mut self, after: usize, state: Option<&State>, reached: Option<(usize, u32)>) -> usize {
        let next = self.nodes.len();
        let node = match (state, reached) {
            (Some(state), _) => *self.known.entry((after, state.id.clone())).or_insert(next),
            (None, Some(reached)) => *self.unknown.entry(reached).or_insert(next),
            (None, None) => next,
        };
        if node == next {
            let label = match state {
                Some(state) => format!("{}\n{}", state.id, fields(&state.variables, " = ", WIDTH)),
                None => count(after as u64, "step"),
            };
            self.nodes.push((format!("label={}", quoted(&label)), after));
        }
        node
    }

    /// Draws the operations that cannot be next, in one of the states or in any.
    fn stuck(&mut self, report: &Report, stuck: &Stuck, at: usize, state: Option<usize>) {
        let holds = |states: &[usize]| state.is_none_or(|state| states.contains(&state));
        for (place, reason) in stuck.reasons.iter().enumerate().filter(|(_, reason)| holds(&reason.states)) {
            let next = self.nodes.len();
            let end = *self.reasons.entry(place).or_insert(next);
            if end == next {
                let label = quoted(&short(&why(report, stuck, reason), 2 * WIDTH));
                self.nodes.push((format!("label={label}, shape=plaintext, fontcolor=red"), LAST));
            }
            let label = quoted(&op_text(report, reason.op));
            self.edges.insert((at, end, format!("label={label}, color=red, fontcolor=red, style=dotted")));
        }
    }

    fn write(&self, report: &Report, left_out: usize) -> String {
        let mut title = format!("{}: {}", short(&report.history.name, WIDTH), report.verdict.word());
        if left_out > 0 {
            title += &format!("; {} not drawn", count(left_out as u64, "interpretation"));
        }
        let mut out = format!("digraph interpretations {{\n  label={};\n", quoted(&title));
        out += "  rankdir=TB;\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n";
        for (place, (node, _)) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "  n{place} [{node}];");
        }
        for (from, to, edge) in &self.edges {
            let _ = writeln!(out, "  n{from} -> n{to} [{edge}];");
        }
        let mut layers: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (place, (_, after)) in self.nodes.iter().enumerate() {
            layers.entry(*after).or_default().push(format!("n{place};"));
        }
        for nodes in layers.values().filter(|nodes| nodes.len() > 1) {
            let _ = writeln!(out, "  {{ rank=same; {} }}", nodes.join(" "));
        }
        out + "}\n"
    }
}

/// A quoted text: a backslash stands for itself, and a line break is kept.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
