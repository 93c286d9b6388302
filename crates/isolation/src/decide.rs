//! Decides one level of a model.

use omnilink_history::{Halt, Precedence, Stop};

use crate::effort::{Effort, Ways};
use crate::forced;
use crate::graph::Graph;
use crate::level::{Isolation, Level};
use crate::model::Model;
use crate::pairs::{self, Answer};
use crate::points::{Edges, Points};
use crate::versions::{NoChains, Versions};

/// A run: the points of transactions in an order. Where begin and commit are one point, commits only.
pub(crate) type Sequence = Vec<u32>;

/// The answer for one level.
#[derive(Debug)]
pub(crate) enum Decision {
    /// This run shows it.
    Accepted(Sequence),
    /// No run exists.
    Rejected,
    /// It was not decided, with this number of pairs of writes whose order is open.
    Undecided { pairs: usize, stop: Option<Stop> },
}

/// Decides a level.
pub(crate) fn decide(model: &Model<'_>, level: Level, effort: &Effort, ways: Ways, halt: &Halt) -> Decision {
    // A run in a stronger order is one in a weaker order, and sessions make the search easier.
    if level.order == Precedence::None && !matches!(level.isolation, Isolation::ReadCommitted) {
        let stronger = decide_in(model, level.with_order(Precedence::Program), effort, ways, halt);
        if matches!(stronger, Decision::Accepted(_)) {
            return stronger;
        }
    }
    decide_in(model, level, effort, ways, halt)
}

fn decide_in(model: &Model<'_>, level: Level, effort: &Effort, ways: Ways, halt: &Halt) -> Decision {
    let Level { isolation, order } = level;
    if isolation.is_polynomial() {
        return polynomial(model, isolation, order, halt);
    }
    let versions = match Versions::new(model, isolation.forbids_lost_updates()) {
        Ok(versions) => versions,
        Err(NoChains::Cycle | NoChains::Clash(_)) => return Decision::Rejected,
    };
    let points = Points::new(model, isolation);
    let mut edges = Edges::new(model, points, order, true);
    edges.add_versions(&versions);
    let readers = edges.add_reads(model, &versions);
    let problem = pairs::Problem { model, versions: &versions, edges, readers, order, isolation };
    if versions.open_keys().next().is_none() {
        return match problem.sort() {
            Some(sequence) => Decision::Accepted(points_only(points, sequence)),
            None => Decision::Rejected,
        };
    }
    match problem.solve(effort, ways, halt) {
        Answer::Found(sequence) => Decision::Accepted(points_only(points, sequence)),
        Answer::Impossible => Decision::Rejected,
        Answer::Undecided { pairs } => Decision::Undecided { pairs, stop: halt.reason() },
    }
}

fn points_only(points: Points, mut sequence: Vec<u32>) -> Sequence {
    sequence.retain(|&node| node < points.total());
    sequence
}

fn polynomial(model: &Model<'_>, isolation: Isolation, order: Precedence, halt: &Halt) -> Decision {
    let Ok(versions) = Versions::new(model, false) else { return Decision::Rejected };
    let Ok(graph) = polynomial_graph(model, &versions, isolation, order, halt) else { return Decision::Rejected };
    if let Some(stop) = halt.reason() {
        return Decision::Undecided { pairs: 0, stop: Some(stop) };
    }
    match graph.sort() {
        Ok(sequence) => Decision::Accepted(points_only(Points::new(model, isolation), sequence)),
        Err(_) => Decision::Rejected,
    }
}

/// The graph whose topological orders are the commit orders of a level that needs no choice.
pub(crate) fn polynomial_graph(
    model: &Model<'_>,
    versions: &Versions,
    isolation: Isolation,
    order: Precedence,
    halt: &Halt,
) -> Result<Graph, forced::Forced> {
    let forced = forced::find(model, versions, isolation, order, halt)?;
    let mut edges = Edges::new(model, Points::new(model, isolation), order, true);
    edges.add_versions(versions);
    edges.list.extend(forced.iter().map(|forced| (forced.seen, forced.read.source)));
    Ok(edges.graph())
}
