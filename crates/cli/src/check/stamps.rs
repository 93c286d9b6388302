//! `omnilink check --isolation LEVEL --stamps`: histories of transactions, and the times that the database gave them.

use omnilink_history::Precedence;
use omnilink_isolation::{
    Doubt, Explanation, Isolation, Level, Misfit, ORDERS, Outcome, StampError, StampOutcome, StampRejection, Strongest,
    Transactions, check, check_stamps,
};
use omnilink_judge::InputError;
use omnilink_judge::stamps::{DecidedByStamps, why_doubtful, with_names};
use omnilink_report::{Timeline, clean};
use omnilink_suggest::counted;
use serde_json::{Value, json};

use super::Found;
use super::isolation::{Answer, Asked, HINT, in_stronger_orders, note, orders_table, rejected_because, show_notes};
use crate::exit::Exit;

/// The most misfits after the first that a text shows.
const EXAMPLES: usize = 4;

impl Asked<'_> {
    pub(super) fn check_stamps(&self, txns: &Transactions, level: Level, found: &mut Found) -> (Exit, Value) {
        let outcome = match check_stamps(txns, level, self.limits.halt()) {
            Ok(outcome) => outcome,
            Err(error) => {
                return self.failed(InputError { message: error.to_string(), help: Some(help(&error)) }, found);
            }
        };
        if let Err(claim) = outcome.prove(txns) {
            return self.unverified(level, &claim, found);
        }
        if let StampOutcome::Accepted(run) = &outcome
            && let Err(error) = self.write_run(txns, run, found)
        {
            return self.failed(error, found);
        }
        let answer = match &outcome {
            StampOutcome::Accepted(_) => self.fitting(txns, level),
            StampOutcome::Rejected(rejection) => self.misfitting(txns, level, rejection),
            StampOutcome::Inconclusive(doubt) => self.doubtful(txns, level, *doubt),
        };
        let decided = DecidedByStamps { name: self.name, txns, level, outcome: &outcome };
        let mut report = decided.report();
        report.notes.extend(answer.notes);
        let timeline = if self.has_pages() { decided.timeline() } else { Timeline::default() };
        self.keep(report, timeline, found);
        (answer.exit, answer.document)
    }

    /// The levels that the stamps fit. `serializable` and `snapshot` read at different stamps, so neither implies the other.
    pub(super) fn find_by_stamps(&self, txns: &Transactions, found: &mut Found) -> (Exit, Value) {
        let mut strongest: Vec<Strongest> = Vec::new();
        let (mut missing, mut has_answer): (Vec<StampError>, bool) = (Vec::new(), false);
        for order in ORDERS {
            let mut of_order = Strongest { order, levels: Vec::new(), undecided: Vec::new() };
            for isolation in [Isolation::Snapshot, Isolation::Prefix, Isolation::Serializable] {
                let is_implied = isolation == Isolation::Prefix && of_order.levels.contains(&Isolation::Snapshot);
                if is_implied || (order == Precedence::RealTime && !txns.has_times()) {
                    continue;
                }
                let level = Level { isolation, order };
                let outcome = match check_stamps(txns, level, self.limits.halt()) {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        missing.extend(Some(error).filter(|error| !missing.contains(error)));
                        continue;
                    }
                };
                if let Err(claim) = outcome.prove(txns) {
                    return self.unverified(level, &claim, found);
                }
                has_answer = true;
                match outcome {
                    StampOutcome::Accepted(_) => of_order.levels.push(isolation),
                    StampOutcome::Rejected(_) => {}
                    StampOutcome::Inconclusive(_) => of_order.undecided.push(isolation),
                }
            }
            strongest.push(of_order);
        }
        if let Some(error) = missing.first().filter(|_| !has_answer) {
            return self.failed(InputError { message: error.to_string(), help: Some(help(error)) }, found);
        }
        let notes: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let rest = json!({ "stamps": true, "notes": notes });
        let answer = self.show_strongest(txns, &strongest, "the levels by the stamps", rest);
        if self.is_human() {
            show_notes(&notes);
        }
        answer
    }

    fn fitting(&self, txns: &Transactions, level: Level) -> Answer {
        let others = in_stronger_orders(txns, level, |level| match check_stamps(txns, level, self.limits.halt()) {
            Ok(StampOutcome::Accepted(_)) => "accepted".to_owned(),
            Ok(StampOutcome::Rejected(rejection)) => rejected_because(&rejection.explain(txns), txns),
            Ok(StampOutcome::Inconclusive(_)) | Err(_) => "inconclusive".to_owned(),
        });
        let notes: Vec<String> = others.iter().map(note).collect();
        if self.is_human() && !self.args.quiet {
            let size = self.size(txns);
            outln!("{}: accepted, {level} by the stamps of the database: {size} {}", clean(self.name), self.time());
            show_notes(&notes);
        }
        let rest = json!({ "stamps": true, "stronger_orders": orders_table(&others) });
        Answer { notes, ..Answer::new(Exit::Accepted, self.document(txns, level, "accepted", rest)) }
    }

    fn misfitting(&self, txns: &Transactions, level: Level, rejection: &StampRejection) -> Answer {
        let explanation = rejection.explain(txns);
        let without = self.without_stamps(txns, level);
        let opinion = format!("by reads and writes alone, without the stamps: {without}");
        if self.is_human() {
            let Explanation { anomaly, sentence, txns: involved, edges } = &explanation;
            outln!("{}: rejected, the stamps of the database do not fit {level}: {anomaly}", clean(self.name));
            outln!("error: {}", clean(sentence));
            self.show_txns(txns, involved);
            edges.iter().for_each(|(txn, stamps)| outln!("  = note: {txn}: {}", clean(stamps)));
            let others: Vec<String> = rejection.misfits[1..].iter().map(|misfit| in_a_line(*misfit, txns)).collect();
            show_notes(&others[..others.len().min(EXAMPLES)]);
            let (count, all) = (counted(rejection.count as u64, "misfit"), counted(txns.len() as u64, "transaction"));
            outln!("  = note: {count} in {all}, {}", self.time());
            show_notes(std::slice::from_ref(&opinion));
        }
        let involved = explanation
            .txns
            .iter()
            .map(|(label, txn)| json!({ "label": label, "name": txns.name(*txn), "stamps": txns.stamps_of(*txn) }));
        let misfits = rejection.misfits.iter().map(|misfit| misfit_document(*misfit, txns));
        let rest = json!({
            "stamps": true,
            "anomaly": explanation.anomaly,
            "sentence": explanation.sentence,
            "involved": involved.collect::<Vec<Value>>(),
            "misfits": misfits.collect::<Vec<Value>>(),
            "misfit_count": rejection.count,
            "without_stamps": without,
        });
        let document = self.document(txns, level, "rejected", rest);
        Answer { notes: vec![opinion], ..Answer::new(Exit::Rejected, document) }
    }

    /// The verdict from reads and writes alone: a history may have the level although its stamps are wrong.
    fn without_stamps(&self, txns: &Transactions, level: Level) -> String {
        match check(txns, level, &HINT, self.limits.halt()) {
            Outcome::Accepted(_) => "accepted".to_owned(),
            Outcome::Rejected(rejection) => format!("rejected, {}", rejection.explain(txns).anomaly),
            Outcome::Inconclusive(_) => "inconclusive".to_owned(),
        }
    }

    fn doubtful(&self, txns: &Transactions, level: Level, doubt: Doubt) -> Answer {
        let (reason, help) = why_doubtful(txns, doubt);
        if self.is_human() {
            outln!("{}: inconclusive, {level} by the stamps of the database: {}", clean(self.name), clean(&reason));
            outln!("  = help: {help}");
        }
        let rest = json!({ "stamps": true, "reason": reason });
        Answer::new(Exit::Inconclusive, self.document(txns, level, "inconclusive", rest))
    }
}

fn in_a_line(misfit: Misfit, txns: &Transactions) -> String {
    let explanation = misfit.explain(txns);
    format!("{}: {}", explanation.anomaly, with_names(&explanation, txns))
}

fn misfit_document(misfit: Misfit, txns: &Transactions) -> Value {
    let explanation = misfit.explain(txns);
    let involved: Vec<String> = explanation.txns.iter().map(|(_, txn)| txns.name(*txn)).collect();
    json!({ "anomaly": explanation.anomaly, "sentence": with_names(&explanation, txns), "transactions": involved })
}

fn help(error: &StampError) -> String {
    let start = match error {
        StampError::None => "PostgreSQL's `snapshot` is the text of `pg_current_snapshot()`; ",
        StampError::Missing { .. } | StampError::Level(_) | StampError::Serializable | StampError::RealTime => "",
    };
    format!("{start}a check without `--stamps` decides the level from reads and writes alone")
}
