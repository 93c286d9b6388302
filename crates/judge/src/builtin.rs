//! Checks histories against a specification in Rust: a built-in one, or the user's own.

mod check;
mod coverage;
mod evidence;
mod key;

use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};

use omnilink_history::{Call, History, Op, Value};
use omnilink_models::check::Error;
use omnilink_models::level::LevelOptions;
use omnilink_models::{BadModel, Chosen, Model, Visitor};
use omnilink_report::Report;
use omnilink_search::Watch;
use omnilink_weak::Class;

use self::check::{Check, Walk};
use self::key::{KeyCheck, Settling};
use crate::input::InputError;
use crate::keys::{self, CheckedKey, Key};
use crate::recording::Whole;
use crate::run::Run;
use crate::show::{Inspection, ShowBuilder, ShowOptions};
use crate::{Against, Case, CheckOptions, Failed, follow_up};

/// A specification in Rust.
#[derive(Debug)]
pub(crate) struct Builtin {
    name: String,
    choice: Box<dyn Choice>,
    /// The file that it was read from, if it was.
    file: Option<PathBuf>,
    /// Whether texts of digits are numbers.
    reads_digits: bool,
}

/// A model whose type only its implementation knows.
trait Choice: Debug + Send + Sync {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed>;
    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed>;
    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed>;
    fn settled(&self, settling: Settling<'_>) -> Option<Value>;
    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watch: &dyn Watch) -> LevelResult;
}

type LevelResult = Result<omnilink_models::level::Checked, Error>;

impl Choice for Chosen {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed> {
        self.visit(check)
    }

    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed> {
        Ok(self.visit(walk)?)
    }

    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed> {
        self.visit(check)
    }

    fn settled(&self, settling: Settling<'_>) -> Option<Value> {
        self.visit(settling)
    }

    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watch: &dyn Watch) -> LevelResult {
        omnilink_models::level::check_chosen(self, history, options, watch)
    }
}

/// The user's own model, created for each check.
struct Own<F>(F);

impl<F> Debug for Own<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").finish_non_exhaustive()
    }
}

impl<M: Model, F: Fn() -> M + Send + Sync> Choice for Own<F> {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed> {
        check.visit((self.0)())
    }

    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed> {
        Ok(walk.visit((self.0)())?)
    }

    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed> {
        check.visit((self.0)())
    }

    fn settled(&self, settling: Settling<'_>) -> Option<Value> {
        settling.visit((self.0)())
    }

    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watch: &dyn Watch) -> LevelResult {
        omnilink_models::level::check(&(self.0)(), history, options, watch)
    }
}

impl Builtin {
    pub(crate) fn find(name: &str) -> Result<Builtin, InputError> {
        let help = Some("`omnilink spec list` lists the specifications and their options".into());
        let chosen: Chosen = name.parse().map_err(|error: BadModel| InputError { message: error.to_string(), help })?;
        let reads_digits = chosen.reads_digits();
        Ok(Builtin { name: name.to_owned(), choice: Box::new(chosen), file: None, reads_digits })
    }

    /// A specification of the user's own.
    pub(crate) fn own<M: Model>(name: &str, model: impl Fn() -> M + Send + Sync + 'static) -> Builtin {
        Builtin { name: name.to_owned(), choice: Box::new(Own(model)), file: None, reads_digits: false }
    }

    /// A specification that was read from a file and has its name.
    pub(crate) fn of_file<M: Model>(path: &Path, model: impl Fn() -> M + Send + Sync + 'static) -> Builtin {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Builtin { file: Some(path.to_owned()), ..Builtin::own(&name, model) }
    }

    /// Checks the operations of one key.
    pub(crate) fn check_key(&self, asked: &CheckOptions, key: Key<'_>) -> Result<CheckedKey, Failed> {
        let is_plain = asked.is_linearizable() && !asked.exhaustive && asked.assume.is_empty();
        if !is_plain || asked.own_order(None).is_some() {
            return keys::check_whole(self, asked, key);
        }
        self.choice.check_key(KeyCheck { asked, against: self, key })
    }

    /// Whether operations keep the argument of this name, which identifies the object.
    pub(crate) fn takes_key(&self, name: &str) -> bool {
        let about = omnilink_models::names().iter().find(|about| Some(about.name) == self.name.split(':').next());
        about.is_none_or(|about| about.takes_key && name == "key")
    }

    /// Whether texts of digits are numbers.
    pub(crate) fn reads_digits(&self) -> bool {
        self.reads_digits
    }

    /// The state after an operation, if it does not depend on the state before.
    pub(crate) fn settled(&self, op: &Op<Call>) -> Option<Value> {
        self.choice.settled(Settling(op))
    }
}

impl Against for Builtin {
    fn check(
        &self,
        asked: &CheckOptions,
        case: &mut Case<'_>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let Case { recording, label, limits, .. } = *case;
        let held = recording.held(asked.max_memory, limits)?;
        let run = Run { asked, spec: &self.name, recording, label, limits, held };
        let check = Check { run, witness: &mut case.witness, builder };
        if asked.level().class() != Class::Strong {
            return check.check_level(&*self.choice);
        }
        self.choice.check(check)
    }

    fn builtin(&self) -> Option<&Builtin> {
        Some(self)
    }

    fn named(&self) -> Option<follow_up::Named<'_>> {
        // A command line cannot name a specification that a program brings along.
        let name = self.name.split(':').next().unwrap_or_default();
        omnilink_models::names().iter().any(|about| about.name == name).then_some(follow_up::Named::Builtin(&self.name))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        self.file.iter().map(|path| (path.clone(), self.name.clone())).collect()
    }

    fn walk(
        &self,
        asked: &CheckOptions,
        case: &Case<'_>,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed> {
        let Whole { history, .. } = case.recording.held(asked.max_memory, case.limits)?.whole(case.limits)?;
        let walk = Walk { asked, history, way: &shown.way, look, timeline: &mut shown.timeline };
        self.choice.walk(walk)
    }
}
