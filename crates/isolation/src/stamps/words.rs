//! Names of misfits and sentences about them, for whole histories and for streams. Transactions are given by their labels, and reads
//! and writes as `x = 5`.

pub(super) const INTERNAL: &str = "internal read";
pub(super) const THIN_AIR: &str = "thin-air read";
pub(super) const ABORTED: &str = "aborted read";
pub(super) const INTERMEDIATE: &str = "intermediate read";
pub(super) const UNSEEN: &str = "read of a later commit";
pub(super) const MISSED: &str = "missed write";
pub(super) const DISORDERED: &str = "list in another order";
pub(super) const CONFLICT: &str = "overlapping writers";
pub(super) const IN_SESSION: &str = "stale snapshot in session order";
pub(super) const BACKWARDS: &str = "commit before snapshot";

pub(super) fn internal(reader: &str, read: &str, own: &str) -> String {
    format!("{reader} read {read} after it had written {own}")
}

/// A read of a value that no transaction left, by the name of the anomaly.
pub(super) fn unwritten(anomaly: &str, reader: &str, read: &str) -> String {
    let why = match anomaly {
        ABORTED => "whose writer did not commit",
        INTERMEDIATE => "which its writer overwrote",
        _ => "which no transaction wrote",
    };
    format!("{reader} read {read}, {why}")
}

pub(super) fn unseen(reader: &str, write: &str, writer: &str) -> String {
    format!("{reader} read {write} of {writer}, whose commit it does not see")
}

pub(super) fn missed(reader: &str, read: &str, write: &str, writer: &str) -> String {
    format!("{reader} read {read}, but by the stamps it sees {write} of {writer}")
}

pub(super) fn disordered(reader: &str, read: &str) -> String {
    format!("{reader} read {read}, whose elements were committed in another order")
}

pub(super) fn conflict(second: &str, its: &str, first: &str, other: &str) -> String {
    format!("{second} wrote {its} without seeing {other} of {first}, and {first} did not see it either")
}

pub(super) fn in_session(after: &str, before: &str) -> String {
    format!("the snapshot of {after} does not have {before}, which is earlier in its session")
}

pub(super) fn backwards(txn: &str) -> String {
    format!("{txn} was committed no later than it took its snapshot")
}
