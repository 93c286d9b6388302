//! The thread that checks and computes states for a server: one request after the other.
//!
//! Every request names its assumptions. The results of the last few lists of assumptions are kept, with their parts
//! encoded, so switching between them costs nothing. Operations do not depend on assumptions, so chunks are those of
//! the check without any.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ::omnilink_report::{Report, Verdict};
use omnilink_judge::{Assumption, Complaint, Failed, Inspection, Judge, ShowOptions};
use omnilink_page::{About, Encoder, Packing, Served};
use tokio::sync::oneshot;

use super::subject::{Recording, Subject};
use crate::args::Progress;
use crate::files::TOOL;
use crate::limits::Settings;

/// The maximum time of a check requested by a page.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of lists of assumptions whose results are kept, besides the empty one.
const MOST_KEPT: usize = 4;

/// A request of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// The part.
    pub(super) part: String,
    /// Under these assumptions.
    pub(super) assume: Vec<String>,
    /// With the values of these expressions.
    pub(super) watch: Vec<String>,
    /// Up to this step.
    pub(super) until: Option<usize>,
}

/// Why there is no answer, for the reader of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Unknown part.
    Unknown,
    /// The check failed.
    Failed(String),
}

pub(super) type Answer = Result<Vec<u8>, Refusal>;

type Asked = (Question, oneshot::Sender<Answer>);

/// The handle of the thread.
pub(super) struct Worker {
    questions: RefCell<Option<Sender<Asked>>>,
    thread: Cell<Option<JoinHandle<()>>>,
}

/// The result of the first check: the report, or why it failed.
pub(super) type First = Result<Box<Report>, Failed>;

impl Worker {
    /// Starts the thread, which begins with a check without further assumptions and sends its result.
    pub(super) fn start(
        subject: Subject,
        settings: Settings,
        look: ShowOptions,
        assume: Vec<Assumption>,
    ) -> (Worker, oneshot::Receiver<First>) {
        let (questions, asked) = channel();
        let (first, found) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(subject, settings, look, assume, first, &asked));
        (Worker { questions: RefCell::new(Some(questions)), thread: Cell::new(Some(thread)) }, found)
    }

    /// Sends a request, and returns where the answer will arrive.
    pub(super) fn ask(&self, question: Question) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        // If the thread is gone, the sender of the answer is gone too, and the receiver reports that.
        if let Some(questions) = &*self.questions.borrow() {
            let _ = questions.send((question, answer));
        }
        receiver
    }

    /// Lets the thread end, and waits for it. A running check ends because the command was interrupted.
    pub(super) fn stop(&self) {
        drop(self.questions.take());
        // A panic has printed its message.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    subject: Subject,
    settings: Settings,
    look: ShowOptions,
    assume: Vec<Assumption>,
    first: oneshot::Sender<First>,
    asked: &Receiver<Asked>,
) {
    let source = match subject {
        Subject::Recording(recording) => match Looking::start(*recording, settings, look, assume) {
            Ok(looking) => Source::Looking(Box::new(looking)),
            Err(failed) => return drop(first.send(Err(failed))),
        },
        Subject::Report(report) => Source::Report(report),
        Subject::Store(_) => return,
    };
    // The receiver is gone if the command is ending.
    let _ = first.send(Ok(Box::new(source.report().clone())));
    let mut source = source;
    for (question, answer) in asked {
        // A client that has disconnected needs no answer.
        if answer.is_closed() {
            continue;
        }
        let _ = answer.send(source.answer(&question));
    }
}

enum Source {
    Report(Box<Report>),
    Looking(Box<Looking>),
}

impl Source {
    fn report(&self) -> &Report {
        match self {
            Source::Report(report) => report,
            Source::Looking(looking) => &looking.first.shown.report,
        }
    }

    fn answer(&mut self, question: &Question) -> Answer {
        match self {
            Source::Looking(looking) => looking.answer(question),
            Source::Report(_) if !question.assume.is_empty() || !question.watch.is_empty() => {
                Err(Refusal::Failed("only a report was given: nothing can be checked or evaluated".into()))
            }
            Source::Report(report) => {
                let encoder = Encoder::new(report, None, Packing::Fast);
                let served = Some(Served { assume: false, evaluate: false });
                match &*question.part {
                    "head" => Ok(encoder.head(&About { tool: TOOL, served, ..About::default() })),
                    "states" => Ok(encoder.states()),
                    _ => Err(Refusal::Unknown),
                }
            }
        }
    }
}

/// The trace and its results.
struct Looking {
    recording: Recording,
    /// The default options for states.
    look: ShowOptions,
    /// The assumptions from the command line.
    assumed: Vec<Assumption>,
    first: Found,
    /// The results under further assumptions, the last requested one last.
    others: Vec<(Vec<String>, Found)>,
}

/// The result under a list of assumptions.
struct Found {
    judge: Judge,
    shown: Inspection,
    /// The options of its current states; `None` if the last request failed midway.
    look: Option<ShowOptions>,
    /// All parts but the states.
    parts: BTreeMap<String, Vec<u8>>,
}

impl Looking {
    fn start(
        recording: Recording,
        settings: Settings,
        look: ShowOptions,
        assumed: Vec<Assumption>,
    ) -> Result<Looking, Failed> {
        let first = Found::new(&recording, &settings, &look, &assumed)?;
        Ok(Looking { recording, look, assumed, first, others: Vec::new() })
    }

    fn answer(&mut self, question: &Question) -> Answer {
        if question.part.starts_with("chunk-") {
            return self.first.part(&question.part);
        }
        let look = self.asked_look(question);
        let found = match &*question.assume {
            [] => &mut self.first,
            assume => {
                let at = match self.others.iter().position(|(known, _)| known == assume) {
                    Some(at) => at,
                    None => {
                        let found = self.find(assume)?;
                        if self.others.len() == MOST_KEPT {
                            self.others.remove(0);
                        }
                        self.others.push((assume.to_vec(), found));
                        self.others.len() - 1
                    }
                };
                let last = self.others.len() - 1;
                self.others[at..].rotate_left(1);
                &mut self.others[last].1
            }
        };
        match &*question.part {
            "states" => found.states(&self.recording, look),
            part => found.part(part),
        }
    }

    fn asked_look(&self, question: &Question) -> ShowOptions {
        let mut watch = self.look.watch.clone();
        watch.extend(question.watch.iter().filter(|text| !self.look.watch.contains(text)).cloned());
        ShowOptions { until: question.until, states: self.look.states, watch }
    }

    fn find(&self, assume: &[String]) -> Result<Found, Refusal> {
        let parse = |text: &String| {
            Assumption::from_str(text)
                .map_err(|error| Refusal::Failed(format!("`{text}` is not an assumption: {error}")))
        };
        let mut assumed = self.assumed.clone();
        for text in assume {
            assumed.push(parse(text)?);
        }
        let found = Found::new(&self.recording, &patient(), &self.look, &assumed);
        match found.map_err(|failed| Refusal::Failed(message(&failed)))? {
            Found {
                shown: Inspection { report: Report { verdict: Verdict::Inconclusive { stop, .. }, .. }, .. },
                ..
            } => Err(Refusal::Failed(format!("given up: {stop}"))),
            found => Ok(found),
        }
    }
}

impl Found {
    fn new(
        recording: &Recording,
        settings: &Settings,
        look: &ShowOptions,
        assumed: &[Assumption],
    ) -> Result<Found, Failed> {
        let judge = recording.judge(assumed)?;
        let shown = recording.show(&judge, settings, look)?;
        let run = recording.run_json();
        let served = Some(Served { assume: true, evaluate: judge.tla().is_some() });
        let about = About { tool: TOOL, run: run.as_ref(), served, ..About::default() };
        let parts = Encoder::new(&shown.report, Some(&shown.timeline), Packing::Fast).parts(&about);
        let parts =
            parts.into_iter().filter(|part| part.name != "states").map(|part| (part.name, part.bytes)).collect();
        Ok(Found { judge, shown, look: Some(look.clone()), parts })
    }

    fn part(&self, name: &str) -> Answer {
        self.parts.get(name).cloned().ok_or(Refusal::Unknown)
    }

    fn states(&mut self, recording: &Recording, look: ShowOptions) -> Answer {
        let is_same = |other: &ShowOptions| (other.until, &other.watch) == (look.until, &look.watch);
        if !self.look.as_ref().is_some_and(is_same) {
            self.look = None;
            let walked = recording.walk(&self.judge, &patient(), &mut self.shown, &look);
            walked.map_err(|failed| Refusal::Failed(message(&failed)))?;
            self.look = Some(look);
        }
        Ok(omnilink_page::states(&self.shown.timeline, Packing::Fast))
    }
}

fn patient() -> Settings {
    let max_memory = omnilink_judge::CheckOptions::default().max_memory;
    Settings { timeout: Some(PATIENCE), max_memory, progress: Progress::None }
}

/// The reason of a failure, as plain text.
fn message(failed: &Failed) -> String {
    match failed {
        Failed::Input(error) => match &error.help {
            Some(help) => format!("{}\nhelp: {help}", error.message),
            None => error.message.clone(),
        },
        Failed::Spec(complaints) => complaints.iter().map(Complaint::plain).collect::<Vec<_>>().join("\n"),
        Failed::Stopped(stop) => format!("given up: {stop}"),
    }
}
