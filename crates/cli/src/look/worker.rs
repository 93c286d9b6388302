//! The thread that checks and looks for a server: one question after the other.
//!
//! Every question names the assumptions that it is asked under. What was found under the last few lists of them is kept, with
//! its parts encoded, so going back and forth between them costs nothing. Operations do not depend on assumptions, so
//! chunks are those of the check without any.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ::report::{Report, Verdict};
use judge::{Assumption, Complaint, Failed, Judge, Look, Shown};
use page::{About, Encoder, Level, Served};
use tokio::sync::oneshot;

use super::subject::{Recording, Subject};
use crate::args::Progress;
use crate::files::TOOL;
use crate::limits::Settings;

/// A check that a page asks for may take so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was found under so many lists of assumptions is kept, besides what was found under none.
const MOST_KEPT: usize = 4;

/// What a page asks for.
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

/// Why there is no answer, in words for the person who looks at the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such part.
    Unknown,
    /// It could not be found out.
    Failed(String),
}

pub(super) type Answer = Result<Vec<u8>, Refusal>;

type Asked = (Question, oneshot::Sender<Answer>);

/// The way to the thread.
pub(super) struct Worker {
    questions: RefCell<Option<Sender<Asked>>>,
    thread: Cell<Option<JoinHandle<()>>>,
}

/// How the first check ended: the report, or why there is none.
pub(super) type First = Result<Box<Report>, Failed>;

impl Worker {
    /// Starts the thread, which begins with a check without further assumptions and says how that ended.
    pub(super) fn start(
        subject: Subject,
        settings: Settings,
        look: Look,
        assume: Vec<Assumption>,
    ) -> (Worker, oneshot::Receiver<First>) {
        let (questions, asked) = channel();
        let (first, found) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(subject, settings, look, assume, first, &asked));
        (Worker { questions: RefCell::new(Some(questions)), thread: Cell::new(Some(thread)) }, found)
    }

    /// Asks, and says where the answer will come from.
    pub(super) fn ask(&self, question: Question) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        // If the thread is gone, so is the other end of the answer, and the receiver says so.
        if let Some(questions) = &*self.questions.borrow() {
            let _ = questions.send((question, answer));
        }
        receiver
    }

    /// Lets the thread end, and waits for it. A check that is going on ends because the command was interrupted.
    pub(super) fn stop(&self) {
        drop(self.questions.take());
        // Who panicked has said why.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    subject: Subject,
    settings: Settings,
    look: Look,
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
    // Nobody listens any more if the command is ending.
    let _ = first.send(Ok(Box::new(source.report().clone())));
    let mut source = source;
    for (question, answer) in asked {
        // Who has gone elsewhere waits for nothing.
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
                Err(Refusal::Failed("only the report is at hand: nothing can be checked or evaluated".into()))
            }
            Source::Report(report) => {
                let encoder = Encoder::new(report, None, Level::Fast);
                let served = Some(Served { assume: false, evaluate: false });
                match &*question.part {
                    "head" => Ok(encoder.head(&About { tool: TOOL, run: None, served })),
                    "states" => Ok(encoder.states()),
                    _ => Err(Refusal::Unknown),
                }
            }
        }
    }
}

/// A recording that is looked at.
struct Looking {
    recording: Recording,
    /// How states are shown unless somebody asks otherwise.
    look: Look,
    /// What was assumed on the command line.
    assumed: Vec<Assumption>,
    first: Found,
    /// What was found under further assumptions, the last one that was asked for last.
    others: Vec<(Vec<String>, Found)>,
}

/// What was found under a list of assumptions.
struct Found {
    judge: Judge,
    shown: Shown,
    /// How its states are being looked at; none if that failed in the middle.
    look: Option<Look>,
    /// All parts but the states.
    parts: BTreeMap<String, Vec<u8>>,
}

impl Looking {
    fn start(
        recording: Recording,
        settings: Settings,
        look: Look,
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

    fn asked_look(&self, question: &Question) -> Look {
        let mut watch = self.look.watch.clone();
        watch.extend(question.watch.iter().filter(|text| !self.look.watch.contains(text)).cloned());
        Look { until: question.until, states: self.look.states, watch }
    }

    fn find(&self, assume: &[String]) -> Result<Found, Refusal> {
        let parse = |text: &String| {
            Assumption::from_str(text).map_err(|error| Refusal::Failed(format!("`{text}` is no assumption: {error}")))
        };
        let mut assumed = self.assumed.clone();
        for text in assume {
            assumed.push(parse(text)?);
        }
        let found = Found::new(&self.recording, &patient(), &self.look, &assumed);
        match found.map_err(|failed| Refusal::Failed(message(&failed)))? {
            Found {
                shown: Shown { report: Report { verdict: Verdict::Inconclusive { stop, .. }, .. }, .. }, ..
            } => Err(Refusal::Failed(format!("it was given up: {stop}"))),
            found => Ok(found),
        }
    }
}

impl Found {
    fn new(recording: &Recording, settings: &Settings, look: &Look, assumed: &[Assumption]) -> Result<Found, Failed> {
        let judge = recording.judge(assumed)?;
        let shown = recording.show(&judge, settings, look)?;
        let run = recording.run_json();
        let served = Some(Served { assume: true, evaluate: judge.tla().is_some() });
        let about = About { tool: TOOL, run: run.as_ref(), served };
        let parts = Encoder::new(&shown.report, Some(&shown.timeline), Level::Fast).parts(&about);
        let parts =
            parts.into_iter().filter(|part| part.name != "states").map(|part| (part.name, part.bytes)).collect();
        Ok(Found { judge, shown, look: Some(look.clone()), parts })
    }

    fn part(&self, name: &str) -> Answer {
        self.parts.get(name).cloned().ok_or(Refusal::Unknown)
    }

    fn states(&mut self, recording: &Recording, look: Look) -> Answer {
        let is_same = |other: &Look| (other.until, &other.watch) == (look.until, &look.watch);
        if !self.look.as_ref().is_some_and(is_same) {
            self.look = None;
            let walked = recording.walk(&self.judge, &patient(), &mut self.shown, &look);
            walked.map_err(|failed| Refusal::Failed(message(&failed)))?;
            self.look = Some(look);
        }
        Ok(page::states(&self.shown.timeline, Level::Fast))
    }
}

fn patient() -> Settings {
    let max_memory = judge::Options::default().max_memory;
    Settings { timeout: Some(PATIENCE), max_memory, progress: Progress::None }
}

/// Why something failed, as plain text.
fn message(failed: &Failed) -> String {
    match failed {
        Failed::Input(error) => match &error.help {
            Some(help) => format!("{}\nhelp: {help}", error.message),
            None => error.message.clone(),
        },
        Failed::Spec(complaints) => complaints.iter().map(Complaint::plain).collect::<Vec<_>>().join("\n"),
        Failed::Stopped(stop) => format!("it was given up: {stop}"),
    }
}
