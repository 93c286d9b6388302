//! A harness under control: how it is built, asked for executions, and what is made of them.

pub(crate) mod args;
pub(crate) mod debug;
pub(crate) mod replay;
pub(crate) mod shrink;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use explore::strategy::{Dfs, Dpor, Sampling, Strategy};
use explore::{Control, ControlError, Ended, Execution, Note, Order, Plan, Program, Race, Ran, Store, audit};
use schedule::Schedule;
use schedule::channel::Policy;
use settings::Settings;

use crate::limits;
use args::{How, Scheduling};

/// A harness that is built so that its threads can be controlled.
pub(crate) struct Harness {
    pub(crate) program: Program,
    pub(crate) runtime: PathBuf,
    scratch: PathBuf,
    timeout: Duration,
}

/// An execution, and where its recording is.
pub(crate) struct Tried {
    pub(crate) execution: Execution,
    pub(crate) ran: Ran,
    pub(crate) trace: PathBuf,
    /// Why it need not be the same when it is repeated.
    pub(crate) notes: Vec<Note>,
    /// Accesses that nothing orders, if these were looked for.
    pub(crate) race: Option<Race>,
}

impl Harness {
    /// Builds a harness so that it can be controlled. Why not, if it cannot be.
    pub(crate) fn build(
        program: &Program,
        settings: &Settings,
        store: &Store,
        timeout: Duration,
        is_built: bool,
    ) -> Result<Harness, String> {
        let kit = crate::build::kit()?;
        let (path, said) = (crate::build::path(), crate::build::said_to_rust());
        let built = program.instrumented(settings.harness.controlled.as_ref(), &kit, &path, &said);
        let program = built.map_err(|error| error.to_string())?;
        match if is_built { Ok(Ok(())) } else { program.build() } {
            Ok(Ok(())) => {}
            Ok(Err(said)) => return Err(format!("`{}` failed: {said}", program.build.join(" "))),
            Err(error) => return Err(error.to_string()),
        }
        Harness::built(program, kit.runtime().path(), store, timeout)
    }

    /// One that is built already.
    pub(crate) fn built(
        program: Program,
        runtime: PathBuf,
        store: &Store,
        timeout: Duration,
    ) -> Result<Harness, String> {
        let scratch = std::path::absolute(store.scratch()).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        Ok(Harness { program, runtime, scratch, timeout })
    }

    /// The file that is executed.
    pub(crate) fn executable(&self) -> PathBuf {
        self.program.directory.join(self.program.run.first().map(String::as_str).unwrap_or_default())
    }

    /// What runs it.
    pub(crate) fn command(&self) -> std::io::Result<Command> {
        let mut command = Command::new(std::path::absolute(self.executable())?);
        command.args(&self.program.run[1..]).current_dir(&self.program.directory);
        Ok(command)
    }

    /// A process that waits for orders.
    pub(crate) fn start(&self) -> Result<Control, ControlError> {
        let command = self.command().map_err(|error| ControlError::Io { what: "the harness", error })?;
        Ok(Control::start(&command, &self.runtime, &self.scratch)?.interruptible(limits::is_interrupted))
    }

    /// Asks for one execution.
    pub(crate) fn execute(&self, control: &mut Control, plan: &Plan, order: Order) -> Result<Tried, ControlError> {
        let trace = control.directory().join("trace");
        let order = Order { environment: environment(plan, &trace), ..order };
        let started = Instant::now();
        let execution = control.execute(&order, self.timeout)?;
        let took = started.elapsed();
        let base = control.outcome().base;
        let ended = execution.ended_under(&order, &|places| self.symbolize(base, places));
        let (notes, race) = (Note::of(control.outcome()), Race::of(control.outcome()));
        Ok(Tried { execution, ran: Ran { ended, took }, trace, notes, race })
    }

    /// Repeats an execution in a process of its own. The process must stay while the recording is needed.
    pub(crate) fn repeat(
        &self,
        plan: &Plan,
        like: &Order,
        schedule: &Schedule,
    ) -> Result<(Tried, Control), ControlError> {
        self.repeat_in(self.start()?, plan, like, schedule)
    }

    /// Repeats an execution in this process, which must have done nothing before.
    pub(crate) fn repeat_in(
        &self,
        mut control: Control,
        plan: &Plan,
        like: &Order,
        schedule: &Schedule,
    ) -> Result<(Tried, Control), ControlError> {
        let order = follow(like, schedule);
        let tried = self.execute(&mut control, plan, order)?;
        Ok((tried, control))
    }

    /// Which lines places of the program are; what is not the program's is left out.
    pub(crate) fn symbolize(&self, base: u64, places: &[u64]) -> Vec<String> {
        audit::symbolize(&self.executable(), base, places)
    }
}

/// What the harness is told.
fn environment(plan: &Plan, trace: &Path) -> Vec<(String, String)> {
    plan.environment(trace).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An order that follows these decisions and no others.
pub(crate) fn follow(like: &Order, schedule: &Schedule) -> Order {
    Order { policy: Policy::Steady, strict: true, follow: schedule.0.clone(), sleep: 0, batch: false, ..like.clone() }
}

/// What chooses schedules.
pub(crate) enum Chosen {
    Sampling(Sampling),
    Dfs(Dfs),
    Dpor(Dpor),
}

impl Chosen {
    pub(crate) fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Chosen::Sampling(sampling) => sampling,
            Chosen::Dfs(dfs) => dfs,
            Chosen::Dpor(dpor) => dpor,
        }
    }

    /// How many executions had 0, 1, 2 and so on interruptions, if that is the order in which they come.
    pub(crate) fn per_bound(&self) -> &[u64] {
        match self {
            Chosen::Dfs(dfs) => dfs.per_bound(),
            _ => &[],
        }
    }
}

/// What chooses schedules; nobody if threads run freely.
pub(crate) fn strategy(how: How, scheduling: &Scheduling, races: bool, seed: u64) -> Option<Chosen> {
    let order = Order {
        seed,
        races,
        depth: scheduling.depth,
        weak: scheduling.weak_memory,
        plain: scheduling.plain,
        batch: scheduling.batch,
        limit: scheduling.max_steps,
        ..Order::default()
    };
    let sampling = |policy| Chosen::Sampling(Sampling::new(Order { policy, ..order.clone() }));
    Some(match how {
        How::Random => sampling(Policy::Random),
        How::Pct => sampling(Policy::Pct),
        How::Pos => sampling(Policy::Pos),
        How::Dfs => Chosen::Dfs(Dfs::new(order, scheduling.bound)),
        How::Dpor => Chosen::Dpor(Dpor::new(order)),
        How::Free => return None,
    })
}

/// Whether two runs ended alike: the same kind of end, and for crashes the same words.
pub(crate) fn ended_alike(a: &Ended, b: &Ended) -> bool {
    match (a, b) {
        (Ended::Crashed { how: a, .. }, Ended::Crashed { how: b, .. })
        | (Ended::Stuck { how: a, .. }, Ended::Stuck { how: b, .. }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
