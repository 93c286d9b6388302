//! `omnilink check --isolation`, and `--find-level` without a specification: histories of transactions.

use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use omnilink_explore::NewFile;
use omnilink_history::{Precedence, Stop};
use omnilink_isolation::{
    Certificate, Effort, Explanation, Inconclusive, Isolation, Level, ORDERS, Outcome, Rejection, Status, Strongest,
    Transactions, TxnId, Violation, check, find, order_name, read,
};
use omnilink_judge::input::{bytes_within, recordings};
use omnilink_judge::isolation::{Decided, why_inconclusive};
use omnilink_judge::stamps::with_names;
use omnilink_judge::{Failed, InputError, Stage};
use omnilink_report::{History, Problem, Report, Timeline, Unchecked, Verdict, clean, duration, visible_json};
use omnilink_settings::FILE_NAME;
use omnilink_suggest::counted;
use serde_json::{Value, json};

use super::{Found, output, transaction_run};
use crate::args::{CheckArgs, CheckOutput, Extra, Order, parse_isolation};
use crate::exit::Exit;
use crate::files;
use crate::limits::{Limits, Settings};
use crate::outcome::{label, print_failure};
use crate::project::read_settings;
use crate::terminal::complain;

/// The most transactions that a text shows, and the most micro-operations of each.
const TXNS: usize = 12;
const MICROS: usize = 8;

/// The effort for other levels than the one of the check.
pub(super) const HINT: Effort = Effort { conflicts: 50, pairs: 100_000, choices: 64 };

/// The schema of `--format json`.
const SCHEMA: &str = "omnilink.isolation/1";

/// Takes the level from the settings, if no option names a level or a specification.
pub(crate) fn apply_settings(args: &mut CheckArgs) -> Result<(), Exit> {
    let is_spec = |path: &PathBuf| omnilink_judge::is_tla(path) || omnilink_judge::is_lineup(path);
    let has_subject = args.spec.is_some() || args.isolation.is_some() || args.find_level || args.full;
    if has_subject || args.paths.first().is_some_and(is_spec) {
        return Ok(());
    }
    let file = args.about.settings.clone().unwrap_or_else(|| FILE_NAME.into());
    if args.about.settings.is_none() && !file.exists() {
        return Ok(());
    }
    let (file, settings) = read_settings(Path::new("."), Some(&file))?;
    let Some(name) = settings.isolation else { return Ok(()) };
    let wrong = |key: &str, message: String| {
        complain(&file.display().to_string(), &InputError::new(format!("`{key}`: {message}")))
    };
    args.isolation = Some(parse_isolation(&name).map_err(|message| wrong("isolation", message))?);
    args.about.settings = None;
    args.stamps |= settings.stamps;
    if let (None, Some(order)) = (args.about.level.order, settings.order) {
        let parsed = Order::from_str(&order, false);
        let unrecognized = |_| wrong("order", format!("expected `none`, `session` or `real-time`, found `{order}`"));
        args.about.level.order = Some(parsed.map_err(unrecognized)?);
    }
    Ok(())
}

/// True if the strongest levels are those of transactions: no specification is named.
pub(super) fn finds_isolation(args: &CheckArgs) -> bool {
    let names_spec = |path: &Path| omnilink_judge::is_tla(path) || omnilink_judge::is_lineup(path);
    args.find_level && args.spec.is_none() && !args.paths.first().is_some_and(|path| names_spec(path))
}

/// Checks all histories.
pub(super) fn run(args: &CheckArgs) -> Exit {
    if args.about.is_of_history() || (args.isolation.is_none() && args.format == CheckOutput::Md) {
        return unsupported();
    }
    let mut paths = Vec::new();
    for path in &args.paths {
        match recordings(path) {
            Ok(found) => paths.extend(found),
            Err(error) => return complain(&label(path), &error),
        }
    }
    if paths.is_empty() {
        errln!("nothing to check: no histories found");
        return Exit::Nothing;
    }
    let mut exit = Exit::Nothing;
    let mut documents = Vec::new();
    let mut found = match args.witness.as_deref().map(NewFile::create).transpose() {
        Ok(witness) => Found { witness, ..Found::default() },
        Err(error) => return no_witness(args, &error),
    };
    for path in &paths {
        let name = label(path);
        let limits = Limits::around(&args.into(), &name);
        let asked = Asked { args, name: &name, limits: &limits };
        let read = read_file(path, Settings::from(args).max_memory, &limits);
        // A stop may have cut the input off, which may have caused the error.
        let (ended, document) = match (limits.halt().reason(), read) {
            (Some(stop), _) | (None, Err(Failed::Stopped(stop))) => asked.stopped(stop, &mut found),
            (None, Ok(txns)) => asked.check(&txns, &mut found),
            (None, Err(Failed::Input(error))) => asked.failed(error, &mut found),
            (None, Err(failed)) => return print_failure(&failed, &name),
        };
        exit = exit.max(ended);
        documents.push(document);
    }
    if let Some(Err(error)) = found.witness.take().map(NewFile::commit) {
        return no_witness(args, &error);
    }
    let written = match args.format {
        CheckOutput::Json => {
            let document = json!({ "schema": SCHEMA, "histories": documents });
            out!("{}", visible_json(&format!("{document:#}\n")));
            output::write_extras(&args.reports, &found.reports, &found.timelines, &found.unchecked)
        }
        CheckOutput::Human | CheckOutput::Md => output::write(args.format, &args.reports, &found),
    };
    match written {
        Ok(()) => exit,
        Err((path, error)) => complain(&path, &error),
    }
}

fn unsupported() -> Exit {
    let message =
        "unsupported for transactions: `--from`, the files of a specification, and `--find-level` in Markdown";
    complain("check", &InputError::new(message))
}

fn no_witness(args: &CheckArgs, error: &io::Error) -> Exit {
    let path = args.witness.as_deref().unwrap_or(Path::new("--witness"));
    complain(&path.display().to_string(), &InputError::new(format!("cannot be written: {error}")))
}

/// Executes a run that `--witness` wrote for one history.
pub(crate) fn verify(args: &CheckArgs, file: &Path) -> Exit {
    if args.about.is_of_history() {
        return unsupported();
    }
    let ([path], Some(level)) = (&*args.paths, level_of(args)) else {
        let help = Some("`omnilink check --isolation snapshot run.jsonl --verify run.txt`".to_owned());
        return complain("--verify", &InputError { message: "expected one history".to_owned(), help });
    };
    let text = match files::read_order(file) {
        Ok(text) => text,
        Err(error) => return complain(&label(file), &error),
    };
    let limits = Limits::around(&args.into(), &label(path));
    let txns = match read_file(path, Settings::from(args).max_memory, &limits) {
        Ok(txns) => txns,
        Err(failed) => return print_failure(&failed, &label(path)),
    };
    if let Some(stop) = limits.halt().reason() {
        return print_failure(&Failed::Stopped(stop), &label(path));
    }
    match transaction_run::verify(&text, &txns, level) {
        Ok(steps) => {
            outln!("verified, {level}: {}", counted(steps as u64, "step"));
            Exit::Accepted
        }
        Err((line, why)) => {
            let place = line.map_or(format!("not a run of {level}"), |line| format!("line {line}"));
            outln!("{}, {place}: {}", clean(&label(file)), clean(&why));
            Exit::Rejected
        }
    }
}

/// The level of the options.
fn level_of(args: &CheckArgs) -> Option<Level> {
    let level = args.isolation?;
    Some(args.about.level.order.map_or(level, |order| Level { order: order.precedence(), ..level }))
}

fn read_file(path: &Path, most: u64, limits: &Limits) -> Result<Transactions, Failed> {
    let bytes = bytes_within(path, most, limits)?;
    read::transactions(&bytes, limits.halt()).map_err(|error| {
        let help = error.help().map(str::to_owned);
        Failed::Input(InputError { message: error.to_string(), help })
    })
}

/// One history, and what the user asked about it.
pub(super) struct Asked<'a> {
    pub(super) args: &'a CheckArgs,
    pub(super) name: &'a str,
    pub(super) limits: &'a Limits,
}

impl Asked<'_> {
    pub(super) fn is_human(&self) -> bool {
        self.args.format == CheckOutput::Human
    }

    /// True if reports are written, which have more than the texts.
    pub(super) fn wants_reports(&self) -> bool {
        !self.args.reports.is_empty() || self.args.format == CheckOutput::Md
    }

    pub(super) fn has_pages(&self) -> bool {
        self.args.reports.iter().any(Extra::is_page)
    }

    fn stopped(&self, stop: Stop, found: &mut Found) -> (Exit, Value) {
        let text = stop.to_string();
        if self.is_human() {
            outln!("{}: inconclusive: {text}", clean(self.name));
        }
        let spec = self.args.isolation.map(|level| level.to_string()).unwrap_or_default();
        let level = self.args.about.level.level();
        let report = omnilink_judge::given_up(self.name, &spec, &level, stop, Stage::Reading, 0);
        self.keep(report, Timeline::default(), found);
        (Exit::Inconclusive, json!({ "history": self.name, "verdict": "inconclusive", "reason": text }))
    }

    /// A history that could not be checked.
    pub(super) fn failed(&self, error: InputError, found: &mut Found) -> (Exit, Value) {
        let exit = complain(self.name, &error);
        let document = json!({ "history": self.name, "error": error.message, "help": error.help });
        let problems = vec![Problem { message: error.message, help: error.help }];
        found.unchecked.push(Unchecked { history: self.name.to_owned(), spec: String::new(), problems });
        (exit, document)
    }

    /// A verdict whose evidence was refused.
    pub(super) fn unverified(&self, level: Level, claim: &str, found: &mut Found) -> (Exit, Value) {
        let message = format!("the verdict about {level} could not be verified: {claim}");
        self.failed(InputError::new(message), found)
    }

    /// Writes the run of an accepted history, if `--witness` names a file.
    pub(super) fn write_run(
        &self,
        txns: &Transactions,
        run: &Certificate,
        found: &mut Found,
    ) -> Result<(), InputError> {
        let Some(file) = &mut found.witness else { return Ok(()) };
        let written = transaction_run::write(file, self.name, txns, run);
        written.map_err(|error| InputError::new(format!("its run cannot be written: {error}")))
    }

    pub(super) fn keep(&self, mut report: Report, timeline: Timeline, found: &mut Found) {
        report.stats.seconds = self.limits.elapsed().as_secs_f64();
        found.reports.push(report);
        found.timelines.push(timeline);
    }

    fn check(&self, txns: &Transactions, found: &mut Found) -> (Exit, Value) {
        if !txns.ids().any(|txn| txns.status(txn) == Status::Committed) {
            if self.is_human() {
                let none = match txns.len() {
                    0 => String::new(),
                    all => format!(": none of {} committed", counted(all as u64, "transaction")),
                };
                outln!("{}: nothing to check{none}", clean(self.name));
            }
            let history = History { name: self.name.to_owned(), operations: Some(0), ..History::default() };
            self.keep(Report::new(history, Verdict::Accepted), Timeline::default(), found);
            return (Exit::Empty, json!({ "history": self.name, "transactions": txns.len(), "committed": 0 }));
        }
        let Some(level) = level_of(self.args) else {
            return if self.args.stamps { self.find_by_stamps(txns, found) } else { self.find(txns) };
        };
        if level.order == Precedence::RealTime && !txns.has_times() {
            let message = format!("{level} needs times, and the transactions have none");
            let error = InputError { message, help: Some("`--order session` needs none".into()) };
            return self.failed(error, found);
        }
        if self.args.stamps {
            return self.check_stamps(txns, level, found);
        }
        let outcome = check(txns, level, &Effort::default(), self.limits.halt());
        // The checkers are large; the code that certifies their answers is small, and shares nothing with them.
        if let Err(claim) = outcome.prove(txns) {
            return self.unverified(level, &claim, found);
        }
        if let Outcome::Accepted(run) = &outcome
            && let Err(error) = self.write_run(txns, run, found)
        {
            return self.failed(error, found);
        }
        let answer = match &outcome {
            Outcome::Accepted(_) => self.accepted(txns, level),
            Outcome::Rejected(rejection) => self.rejected(txns, level, rejection),
            Outcome::Inconclusive(why) => self.inconclusive(txns, level, why),
        };
        let Answer { exit, document, notes, strongest } = answer;
        let decided = Decided { name: self.name, txns, level, outcome: &outcome, strongest: &strongest };
        let mut report = decided.report();
        let timeline = if self.has_pages() { decided.timeline(&report) } else { Timeline::default() };
        report.notes.extend(notes);
        self.keep(report, timeline, found);
        (exit, document)
    }

    pub(super) fn size(&self, txns: &Transactions) -> String {
        let sessions = counted(txns.process_count() as u64, "session");
        format!("{} of {sessions}", counted(txns.len() as u64, "transaction"))
    }

    pub(super) fn time(&self) -> String {
        format!("in {}", duration(self.limits.elapsed().as_secs_f64()))
    }

    pub(super) fn document(&self, txns: &Transactions, level: Level, verdict: &str, rest: Value) -> Value {
        let mut document = json!({
            "history": self.name,
            "isolation": level.isolation.name(),
            "order": order_name(level.order),
            "verdict": verdict,
            "transactions": txns.len(),
            "sessions": txns.process_count(),
            "micro_operations": txns.micro_count(),
            "seconds": self.limits.elapsed().as_secs_f64(),
        });
        if let (Value::Object(document), Value::Object(rest)) = (&mut document, rest) {
            document.extend(rest);
        }
        document
    }

    fn accepted(&self, txns: &Transactions, level: Level) -> Answer {
        if self.is_human() && self.args.quiet && !self.wants_reports() {
            return Answer::new(Exit::Accepted, Value::Null); // Nothing shows other levels.
        }
        let others = self.stronger_orders(txns, level);
        let notes: Vec<String> = others.iter().map(note).chain(hint_at_stamps(txns, level)).collect();
        if self.is_human() && !self.args.quiet {
            outln!("{}: accepted, {level}: {} {}", clean(self.name), self.size(txns), self.time());
            show_notes(&notes);
        }
        let strongest = if self.wants_reports() { find(txns, &HINT, self.limits.halt()) } else { Ok(Vec::new()) };
        let rest = json!({ "stronger_orders": orders_table(&others) });
        Answer {
            exit: Exit::Accepted,
            document: self.document(txns, level, "accepted", rest),
            notes,
            strongest: strongest.unwrap_or_default(),
        }
    }

    /// The verdicts of the same level in stronger orders.
    fn stronger_orders(&self, txns: &Transactions, level: Level) -> Vec<(Precedence, String)> {
        in_stronger_orders(txns, level, |level| match check(txns, level, &HINT, self.limits.halt()) {
            Outcome::Accepted(_) => "accepted".to_owned(),
            Outcome::Rejected(rejection) => rejected_because(&rejection.explain(txns), txns),
            Outcome::Inconclusive(_) => "inconclusive".to_owned(),
        })
    }

    fn rejected(&self, txns: &Transactions, level: Level, rejection: &Rejection) -> Answer {
        let explanation = rejection.explain(txns);
        let broken = rejection.broken(level);
        // A stronger order often has a cycle of few transactions.
        let is_core = matches!(rejection.violation, Violation::Core(_));
        let others = if is_core { self.stronger_orders(txns, level) } else { Vec::new() };
        let notes: Vec<String> = others.iter().map(note).collect();
        let strongest = find(txns, &HINT, self.limits.halt()).unwrap_or_default();
        if self.is_human() {
            let Explanation { anomaly, sentence, txns: involved, edges } = &explanation;
            outln!("{}: rejected, not {level}: {anomaly}", clean(self.name));
            outln!("error: {}", clean(sentence));
            self.show_txns(txns, involved);
            for (arrow, reason) in edges {
                outln!("  = note: {arrow}: {}", clean(reason));
            }
            if rejection.choices > 1 {
                let ways = rejection.choices;
                outln!(
                    "  = note: several transactions wrote the same value, so reads have {ways} sources; this is one of them, and all \
                     are rejected"
                );
            }
            show_notes(&notes);
            let (count, all) = (involved.len(), txns.len());
            outln!("  = note: {count} of {}, {}", counted(all as u64, "transaction"), self.time());
            outln!("  = help: strongest levels: {}", in_one_line(&strongest));
        }
        let involved = explanation.txns.iter().map(|(label, txn)| json!({ "label": label, "name": txns.name(*txn) }));
        let edges = explanation.edges.iter().map(|(edge, reason)| json!({ "edge": edge, "reason": reason }));
        let rest = json!({
            "anomaly": explanation.anomaly,
            "sentence": explanation.sentence,
            "violates": {
                "isolation": broken.isolation.name(),
                "order": order_name(broken.order),
            },
            "involved": involved.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
            "strongest": table(&strongest),
        });
        let document = self.document(txns, level, "rejected", rest);
        Answer { exit: Exit::Rejected, document, notes, strongest }
    }

    /// The transactions that take part, one for each line.
    pub(super) fn show_txns(&self, txns: &Transactions, involved: &[(String, TxnId)]) {
        let name = |txn: &TxnId| clean(&txns.name(*txn)).to_string();
        let width = involved.iter().map(|(_, txn)| name(txn).chars().count()).max().unwrap_or(0);
        for (label, txn) in involved.iter().take(TXNS) {
            let mut micros: Vec<String> =
                txns.micros_of(*txn).take(MICROS).map(|micro| clean(&txns.show_micro(micro)).to_string()).collect();
            if txns.micros_of(*txn).count() > MICROS {
                micros.push("...".to_owned());
            }
            let times = match txns.times(*txn) {
                Some((start, Some(end))) => format!("  [{start} {end}]"),
                Some((start, None)) => format!("  [{start} ...]"),
                None => String::new(),
            };
            outln!("  {label:<3} {:<width$}  {}{times}", name(txn), micros.join("  "));
        }
        if involved.len() > TXNS {
            outln!("  and {} more", involved.len() - TXNS);
        }
    }

    fn inconclusive(&self, txns: &Transactions, level: Level, why: &Inconclusive) -> Answer {
        let (reason, help) = why_inconclusive(txns, why);
        if self.is_human() {
            outln!("{}: inconclusive, {level}: {}", clean(self.name), clean(&reason));
            show_notes(hint_at_stamps(txns, level).as_slice());
            outln!("  = help: {help}");
        }
        Answer::new(Exit::Inconclusive, self.document(txns, level, "inconclusive", json!({ "reason": reason })))
    }

    /// The strongest levels in one table.
    fn find(&self, txns: &Transactions) -> (Exit, Value) {
        let strongest = match find(txns, &Effort::default(), self.limits.halt()) {
            Ok(strongest) => strongest,
            Err(why) => {
                let level = Level { isolation: Isolation::Serializable, order: Precedence::None };
                let Answer { exit, document, .. } = self.inconclusive(txns, level, &why);
                return (exit, document);
            }
        };
        self.show_strongest(txns, &strongest, "the strongest levels", json!({}))
    }

    /// Shows a table of levels: `subject` says which.
    pub(super) fn show_strongest(
        &self,
        txns: &Transactions,
        strongest: &[Strongest],
        subject: &str,
        rest: Value,
    ) -> (Exit, Value) {
        if self.is_human() {
            outln!("{}: {subject} of {} {}", clean(self.name), self.size(txns), self.time());
            for found in strongest {
                let levels = match found.order {
                    Precedence::RealTime if !txns.has_times() => "the transactions have no times".to_owned(),
                    _ => in_words(found),
                };
                outln!("  {:<10} {levels}", order_name(found.order));
            }
        }
        let exit = match strongest.iter().any(|found| !found.levels.is_empty()) {
            true => Exit::Accepted,
            false if strongest.iter().any(|found| !found.undecided.is_empty()) => Exit::Inconclusive,
            false => Exit::Rejected,
        };
        let mut document = json!({
            "history": self.name,
            "transactions": txns.len(),
            "sessions": txns.process_count(),
            "has_times": txns.has_times(),
            "strongest": table(strongest),
            "seconds": self.limits.elapsed().as_secs_f64(),
        });
        if let (Value::Object(document), Value::Object(rest)) = (&mut document, rest) {
            document.extend(rest);
        }
        (exit, document)
    }
}

/// The verdict on a history.
pub(super) struct Answer {
    pub(super) exit: Exit,
    /// For `--format json`.
    pub(super) document: Value,
    /// Further facts, for reports.
    pub(super) notes: Vec<String>,
    pub(super) strongest: Vec<Strongest>,
}

impl Answer {
    pub(super) fn new(exit: Exit, document: Value) -> Answer {
        Answer { exit, document, notes: Vec::new(), strongest: Vec::new() }
    }
}

pub(super) fn show_notes(notes: &[String]) {
    notes.iter().for_each(|note| outln!("  = note: {}", clean(note)));
}

/// The verdicts of a level in stronger orders than its own.
pub(super) fn in_stronger_orders(
    txns: &Transactions,
    level: Level,
    verdict: impl Fn(Level) -> String,
) -> Vec<(Precedence, String)> {
    let place = ORDERS.iter().position(|order| *order == level.order).unwrap_or(0);
    let verdict = |&order: &Precedence| match order {
        Precedence::RealTime if !txns.has_times() => {
            (order, "not decided, because the transactions have no times".to_owned())
        }
        order => (order, verdict(Level { order, ..level })),
    };
    ORDERS[place + 1..].iter().map(verdict).collect()
}

pub(super) fn orders_table(verdicts: &[(Precedence, String)]) -> Vec<Value> {
    verdicts.iter().map(|(order, verdict)| json!({ "order": order_name(*order), "verdict": verdict })).collect()
}

pub(super) fn rejected_because(explanation: &Explanation, txns: &Transactions) -> String {
    format!("rejected, {}: {}", explanation.anomaly, with_names(explanation, txns))
}

/// A note on a check by stamps that was not requested, if it is possible.
fn hint_at_stamps(txns: &Transactions, level: Level) -> Option<String> {
    let has_any = txns.stamps_decide(level.isolation).is_ok();
    has_any
        .then(|| "the transactions have stamps of the database: `--stamps` compares their reads with them".to_owned())
}

pub(super) fn note((order, verdict): &(Precedence, String)) -> String {
    format!("in {}: {verdict}", order_words(*order))
}

fn order_words(order: Precedence) -> &'static str {
    match order {
        Precedence::None => "no order",
        Precedence::Program => "session order",
        Precedence::RealTime => "real time",
    }
}

fn in_words(found: &Strongest) -> String {
    let names = |levels: &[Isolation]| levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
    let mut text = if found.levels.is_empty() { "none".to_owned() } else { names(&found.levels) };
    if !found.undecided.is_empty() {
        text += &format!(" (not decided: {})", names(&found.undecided));
    }
    text
}

fn in_one_line(strongest: &[Strongest]) -> String {
    let of_order = |found: &Strongest| format!("{} in {}", in_words(found), order_words(found.order));
    strongest.iter().map(of_order).collect::<Vec<_>>().join("; ")
}

fn table(strongest: &[Strongest]) -> Vec<Value> {
    let names = |levels: &[Isolation]| levels.iter().map(|level| level.name()).collect::<Vec<_>>();
    let row = |found: &Strongest| {
        json!({
            "order": order_name(found.order),
            "levels": names(&found.levels),
            "undecided": names(&found.undecided),
        })
    };
    strongest.iter().map(row).collect()
}
