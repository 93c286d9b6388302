//! A checked trace as one side of a comparison of two runs.

use omnilink_judge::{Failed, Inspection, Recording};
use omnilink_report::Side;

/// The operations of a trace, with their places in the order that was found.
pub(crate) fn side(label: &str, recorded: &Recording, shown: &Inspection) -> Result<Side, Failed> {
    let history = recorded.history()?;
    let ids = (0..history.ops().len() as u32).map(omnilink_history::OpId);
    let operations: Vec<_> = ids.map(|id| omnilink_judge::operation(history.name(id), history.op(id))).collect();
    let steps = shown.timeline.order.iter().zip(1..);
    let steps = steps.filter_map(|(step, place)| Some((operations.get(step.op as usize)?.name.clone(), place)));
    let (name, verdict) = (label.to_owned(), shown.report.verdict.word().to_owned());
    Ok(Side { name, verdict, steps: steps.collect(), operations })
}
