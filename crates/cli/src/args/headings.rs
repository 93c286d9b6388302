//! The headings of options in help texts. Commands show them in the order in which their arguments name them first.

pub(crate) const SPECIFICATION: &str = "Specification";
pub(crate) const INPUT: &str = "Input";
pub(crate) const SCHEDULES: &str = "Schedules";
pub(crate) const ORDERS: &str = "Which orders count";
pub(crate) const LIMITS: &str = "Limits";
pub(crate) const OUTPUT: &str = "Output";
/// Other ways to decide about a history.
pub(crate) const OPINION: &str = "Second opinion";
/// Options that `--help` shows and `-h` leaves out.
pub(crate) const EXPERTS: &str = "For experts";
