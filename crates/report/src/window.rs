//! The operations of a window as a table: a column for each process, and time downwards.
//!
//! Operations are taken by start, and one joins the current row if it began before any of the row had ended. So all
//! operations of a row overlap. An operation of an earlier row that had not ended when a row begins is shown there as
//! still running; between any other two operations of different rows, the upper one ended before the lower one began.

use std::cmp::Reverse;

use crate::data::{OpRef, Operation, Order, Report, Window};

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// The process is idle, or between operations.
    Empty,
    /// An operation of an earlier row has not ended.
    Running,
    /// An operation.
    Op(OpRef),
}

/// A table by process.
#[derive(Debug)]
pub(crate) struct Grid {
    /// The processes, in order.
    pub(crate) processes: Vec<String>,
    /// A cell for each process.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Grid {
    /// The operations of a window.
    pub(crate) fn new(report: &Report, window: &Window) -> Grid {
        let mut ops = window.operations.clone();
        ops.sort_by_key(|&op| report.op(op).start);
        let mut processes: Vec<String> = ops.iter().map(|&op| report.op(op).process.clone()).collect();
        processes.sort_by_cached_key(|process| natural(process));
        processes.dedup();
        let mut grid = Grid { processes, rows: Vec::new() };
        let mut earliest_end = 0;
        for op in ops {
            let Operation { process, start, end, .. } = report.op(op);
            let column = grid.processes.iter().position(|known| known == process).expect("every process has a column");
            // Without real time, only the order within a process has a meaning.
            let row = match report.order {
                Order::RealTime => {
                    let last = grid.rows.last().filter(|row| *start <= earliest_end && row[column] == Cell::Empty);
                    last.map(|_| grid.rows.len() - 1)
                }
                Order::Program | Order::None => grid.rows.iter().position(|row| row[column] == Cell::Empty),
            };
            let end = end.unwrap_or(u64::MAX);
            match row {
                Some(row) => {
                    grid.rows[row][column] = Cell::Op(op);
                    earliest_end = earliest_end.min(end);
                }
                None => {
                    let mut row = vec![Cell::Empty; grid.processes.len()];
                    row[column] = Cell::Op(op);
                    grid.rows.push(row);
                    earliest_end = end;
                }
            }
        }
        if report.order == Order::RealTime {
            grid.mark_running(report);
        }
        grid
    }

    /// The meaning of rows and signs, as far as this table has them. Without real time, rows have no meaning.
    pub(crate) fn legend(&self, order: Order) -> Option<String> {
        let is_op = |cell: &&Cell| matches!(cell, Cell::Op(_));
        let overlaps =
            order == Order::RealTime && self.rows.iter().any(|row| row.iter().filter(is_op).nth(1).is_some());
        let is_running = self.rows.iter().flatten().any(|cell| *cell == Cell::Running);
        let parts = [(overlaps, "operations in one row overlap"), (is_running, "| is still running")];
        let parts: Vec<&str> = parts.iter().filter(|(is_there, _)| *is_there).map(|(_, text)| *text).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn mark_running(&mut self, report: &Report) {
        let mut ends: Vec<Option<u64>> = vec![None; self.processes.len()];
        for row in &mut self.rows {
            let ops = row.iter().filter_map(|cell| if let Cell::Op(op) = cell { Some(*op) } else { None });
            let start = ops.map(|op| report.op(op).start).min().unwrap_or(0);
            for (cell, end) in row.iter_mut().zip(&mut ends) {
                match cell {
                    Cell::Op(op) => *end = Some(report.op(*op).end.unwrap_or(u64::MAX)),
                    _ if end.is_some_and(|end| end >= start) => *cell = Cell::Running,
                    _ => {}
                }
            }
        }
    }

    /// Leaves out whole processes until `fits`: first those whose operations are furthest from the end, never those
    /// that `kept` belong to. Returns how many processes and operations are left out.
    pub(crate) fn narrow(&mut self, kept: &[OpRef], mut fits: impl FnMut(&Grid) -> bool) -> (usize, usize) {
        let (mut processes, mut operations) = (0, 0);
        while !fits(self) && self.processes.len() > 1 {
            let last_row = |column: usize| self.rows.iter().rposition(|row| matches!(row[column], Cell::Op(_)));
            let is_kept =
                |column: usize| self.rows.iter().any(|row| kept.iter().any(|&op| row[column] == Cell::Op(op)));
            let candidates = (0..self.processes.len()).filter(|&column| !is_kept(column));
            let Some(column) = candidates.min_by_key(|&column| (last_row(column), Reverse(column))) else { break };
            processes += 1;
            self.processes.remove(column);
            for row in &mut self.rows {
                operations += usize::from(matches!(row.remove(column), Cell::Op(_)));
            }
        }
        self.rows.retain(|row| row.iter().any(|cell| matches!(cell, Cell::Op(_))));
        (processes, operations)
    }
}

/// Orders names that end in numbers by the number.
fn natural(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.into(), name[stem.len()..].parse().unwrap_or(0), name.into())
}
