//! The transactions from which a path leads to a node.
//!
//! With sessions, a clock holds for each session how far it leads to a node. Without them, a set of bits does. Both are
//! computed for a range of sessions, or of transactions, at a time, so that memory is bounded.

use std::ops::Range;

use crate::graph::Graph;
use crate::model::Model;
use crate::points::{Point, Points};

/// The maximum number of numbers in one table. A number has four bytes.
const MAX_NUMBERS: usize = 1 << 27;

/// How much leads to each node of a graph.
#[derive(Debug)]
pub(crate) struct Past<'a> {
    model: &'a Model<'a>,
    points: Points,
    has_sessions: bool,
    range: Range<u32>,
    width: usize,
    rows: Vec<u32>,
}

/// The ranges of sessions, or of transactions, that a table holds at a time.
pub(crate) fn ranges(model: &Model<'_>, nodes: usize, has_sessions: bool) -> Vec<Range<u32>> {
    let (all, width) = match has_sessions {
        true => (model.txns.lanes, (MAX_NUMBERS / nodes.max(1)).max(1)),
        false => (model.len() as u32, (MAX_NUMBERS / nodes.max(1)).max(1).saturating_mul(32)),
    };
    let width = u32::try_from(width).unwrap_or(u32::MAX);
    (0..all.div_ceil(width)).map(|at| at * width..all.min((at + 1).saturating_mul(width))).collect()
}

impl<'a> Past<'a> {
    /// Follows a graph in a topological order of it.
    pub(crate) fn new(
        model: &'a Model<'a>,
        points: Points,
        graph: &Graph,
        sequence: &[u32],
        has_sessions: bool,
        range: Range<u32>,
    ) -> Past<'a> {
        let width = if has_sessions { range.len() } else { range.len().div_ceil(32) };
        let rows = vec![0; graph.len() * width];
        let mut past = Past { model, points, has_sessions, range, width, rows };
        let mut row = vec![0; width];
        for &node in sequence {
            row.copy_from_slice(&past.rows[node as usize * width..][..width]);
            past.stamp(node, &mut row);
            for &to in graph.of(node) {
                let target = &mut past.rows[to as usize * width..][..width];
                match has_sessions {
                    true => target.iter_mut().zip(&row).for_each(|(seen, &now)| *seen = now.max(*seen)),
                    false => target.iter_mut().zip(&row).for_each(|(seen, &now)| *seen |= now),
                }
            }
        }
        past
    }

    /// Adds a node to the past of those that follow it.
    fn stamp(&self, node: u32, row: &mut [u32]) {
        let Some((txn, value)) = self.value(node) else { return };
        if self.has_sessions {
            let lane = self.model.lane[txn as usize];
            if self.range.contains(&lane) {
                let seen = &mut row[(lane - self.range.start) as usize];
                *seen = value.max(*seen);
            }
        } else if self.range.contains(&txn) && value & 1 == 0 {
            let at = txn - self.range.start;
            row[at as usize / 32] |= 1 << (at % 32);
        }
    }

    /// The transaction of a point, and the place of the point in its session. Without sessions only commits count.
    fn value(&self, node: u32) -> Option<(u32, u32)> {
        let place = |txn: u32| 2 * self.model.place[txn as usize];
        match self.points.point(node) {
            Point::Begin(txn) if self.points.is_split => Some((txn, place(txn) + 1)),
            Point::Begin(txn) | Point::Commit(txn) => Some((txn, place(txn) + 2)),
            Point::Other => None,
        }
    }

    /// How far each session leads to a node, if the table has all sessions.
    pub(crate) fn row(&self, node: u32) -> &[u32] {
        &self.rows[node as usize * self.width..][..self.width]
    }

    /// How far a session leads to a node: twice the number of its transactions whose commits do.
    pub(crate) fn seen(&self, lane: u32, node: u32) -> u32 {
        self.rows[node as usize * self.width + (lane - self.range.start) as usize]
    }

    /// True if the commit of a transaction in the range leads to a node.
    pub(crate) fn has_commit(&self, txn: u32, node: u32) -> bool {
        self.reaches(self.points.commit(txn), node)
    }

    /// True if a point of a transaction in the range leads to a node.
    pub(crate) fn reaches(&self, point: u32, node: u32) -> bool {
        let Some((txn, value)) = self.value(point) else { return false };
        if self.has_sessions {
            return self.seen(self.model.lane[txn as usize], node) >= value;
        }
        let at = txn - self.range.start;
        self.rows[node as usize * self.width + at as usize / 32] >> (at % 32) & 1 == 1
    }
}
