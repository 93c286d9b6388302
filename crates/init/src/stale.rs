//! Whether a harness can be run: it fits the specification and the settings, and every function is filled in.
//!
//! The generated file has the digest of its plan at its top. If the current plan has another one, the harness is stale. If
//! only weights and values changed, the generated file is written again, since it is ours and the file to fill in stays
//! as it is. If calls changed, the file to fill in has to change too, so the user decides when: it is an error that names
//! the command.

use std::fs;
use std::path::{Path, PathBuf};

use omnilink_harness::{Drift, Plan, drift, read_header, unfilled};
use omnilink_judge::Complaint;
use omnilink_judge::load::Around;
use omnilink_settings::{FILE_NAME, Settings};

use crate::kind::Language;
use crate::paths::{find_spec, relative};
use crate::plan::{files, plan, store};

/// Where the generated file is, unless the settings name it.
const PLACES: [&str; 4] =
    ["src/operations.rs", "operations.hpp", "omnilink/src/operations.rs", "omnilink/operations.hpp"];

/// A harness beside its settings.
pub struct Existing<'s> {
    /// The directory of the settings.
    pub directory: &'s Path,
    /// The file of the settings.
    pub file: &'s Path,
    /// The settings.
    pub settings: &'s Settings,
    /// The specification, as in the settings.
    pub spec: &'s str,
}

/// The place of the generated file of a harness.
pub struct Place {
    /// The language.
    pub language: Language,
    /// The specification.
    pub spec: PathBuf,
    /// The directory of the harness.
    pub output: PathBuf,
    /// The settings, if there are some.
    pub settings: Option<PathBuf>,
}

/// The generated file of a harness.
struct Generated {
    /// Its path, relative to the settings.
    name: String,
    language: Language,
    text: String,
    digest: u64,
}

impl Place {
    /// Finds the generated file of the harness in a directory, with its settings or these.
    pub fn find(directory: &Path, settings: Option<&Path>) -> Result<Place, Vec<Complaint>> {
        let file = settings.map_or_else(|| directory.join(FILE_NAME), Path::to_owned);
        // A path below the current directory is shown relative to it.
        let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
        let below = file.parent().unwrap_or(Path::new(""));
        let is_given = settings.is_some() || file.is_file();
        let settings = if is_given { Settings::read(&file) } else { Ok(Settings::default()) };
        let settings = settings.map_err(|error| vec![Complaint::of_settings(&error)])?;
        let spec = match &settings.spec {
            Some(spec) => spec.clone(),
            None => {
                let here = if below.as_os_str().is_empty() { Path::new(".") } else { below };
                relative(here, &find_spec(directory, None).map_err(|complaint| vec![complaint])?)
            }
        };
        let harness = Existing { directory: below, file: &file, settings: &settings, spec: &spec };
        let (language, output) = harness.place()?.ok_or_else(|| {
            let message = format!("no generated file of a harness for `{spec}` found");
            let help = "`omnilink init` sets up a harness; `--update` with `--spec` and `--lang` writes its generated part \
                        alone";
            vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }]
        })?;
        Ok(Place { language, spec: below.join(&spec), output, settings: is_given.then(|| file.clone()) })
    }
}

impl Existing<'_> {
    /// Writes the generated file again if that is all that is needed, and tells its path. An error if the harness cannot be
    /// run.
    pub fn refresh(&self, is_built: bool, tell: &mut dyn FnMut(&Path)) -> Result<(), Vec<Complaint>> {
        let Some(generated) = self.find()? else { return self.refuse_unknown_calls() };
        let plan = plan(&self.directory.join(self.spec), &Around::default(), self.settings)?;
        if generated.digest != plan.digest() {
            self.regenerate(&generated, &plan, is_built, tell)?;
        }
        self.refuse_unfilled(&generated, &plan)
    }

    /// The language and the directory of the harness, if it has a generated file.
    fn place(&self) -> Result<Option<(Language, PathBuf)>, Vec<Complaint>> {
        let Some(Generated { name, language, .. }) = self.find()? else { return Ok(None) };
        let below = name.strip_suffix(language.generated()).ok_or_else(|| {
            let path = self.directory.join(&name);
            let help = Some(format!("`omnilink init --update` writes files named `{}`", language.generated()));
            vec![Complaint { help, ..Complaint::new(format!("{}: written by another program", path.display())) }]
        })?;
        let below = Path::new(below.trim_end_matches('/'));
        // An empty path would add a slash.
        Ok(Some((
            language,
            if below.as_os_str().is_empty() { self.directory.to_owned() } else { self.directory.join(below) },
        )))
    }

    /// An error if settings without a generated file that is known have weights or values for calls that do not exist.
    fn refuse_unknown_calls(&self) -> Result<(), Vec<Complaint>> {
        let harness = &self.settings.harness;
        let names_calls = !harness.weights.is_empty() || !harness.values.is_empty();
        match names_calls && omnilink_judge::is_tla(Path::new(self.spec)) {
            true => plan(&self.directory.join(self.spec), &Around::default(), self.settings).map(|_| ()),
            false => Ok(()),
        }
    }

    /// The generated file, if this harness has one for this specification.
    fn find(&self) -> Result<Option<Generated>, Vec<Complaint>> {
        if !omnilink_judge::is_tla(Path::new(self.spec)) {
            return Ok(None);
        }
        let found = match &self.settings.harness.generated {
            Some(named) => vec![named.as_str()],
            // Other settings may be those of another harness in this directory.
            None if self.file.file_name().is_some_and(|name| name == FILE_NAME) => PLACES.to_vec(),
            None => Vec::new(),
        };
        for name in found {
            let path = self.directory.join(name);
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if self.settings.harness.generated.is_some() => {
                    return Err(vec![Complaint::new(format!("{}: {error}", path.display()))]);
                }
                Err(_) => continue,
            };
            let Some(header) = read_header(&text) else { continue };
            if Path::new(self.spec).file_name().is_some_and(|spec| *spec == *header.spec) {
                let language = if name.ends_with(".rs") { Language::Rust } else { Language::Cpp };
                return Ok(Some(Generated { name: name.to_owned(), language, text, digest: header.digest }));
            }
        }
        Ok(None)
    }

    fn regenerate(
        &self,
        generated: &Generated,
        plan: &Plan,
        is_built: bool,
        tell: &mut dyn FnMut(&Path),
    ) -> Result<(), Vec<Complaint>> {
        let files = files(plan, generated.language);
        let path = self.directory.join(&generated.name);
        let is_writable = path.ends_with(files.operations_name);
        match drift(plan, &generated.text, &files.operations) {
            Some(Drift::Code) if !is_built && is_writable => {
                store(&path, &files.operations)?;
                tell(&path);
                Ok(())
            }
            changes => {
                let message = format!("{} is out of date with {}", path.display(), plan.spec);
                let note = match changes {
                    Some(Drift::Calls(sentences)) => sentences.join("; "),
                    _ => "weights or values changed".to_owned(),
                };
                let command = self.command();
                let help = match is_built {
                    true => format!("`{command}` writes it again; then build it, or omit `--no-build`"),
                    false => format!("`{command}` writes it again; the compiler then names the functions to change"),
                };
                Err(vec![Complaint { note: Some(note), help: Some(help), ..Complaint::new(message) }])
            }
        }
    }

    /// The command that writes the generated file.
    fn command(&self) -> String {
        let is_own = self.file.file_name().is_some_and(|name| name == FILE_NAME);
        match (is_own, self.directory) {
            (true, here) if here.as_os_str().is_empty() => "omnilink init --update".to_owned(),
            (true, directory) => format!("omnilink init {} --update", directory.display()),
            (false, _) => format!("omnilink init --update --settings {}", self.file.display()),
        }
    }

    /// An error if functions that can be called still say `todo`.
    fn refuse_unfilled(&self, generated: &Generated, plan: &Plan) -> Result<(), Vec<Complaint>> {
        let files = files(plan, generated.language);
        let Some(root) = generated.name.strip_suffix(files.operations_name) else { return Ok(()) };
        let path: PathBuf = self.directory.join(format!("{root}{}", files.main_name));
        let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
        let never: Vec<String> =
            plan.calls.iter().filter(|call| call.weight == 0).map(omnilink_harness::function).collect();
        let functions: Vec<String> = unfilled(&text).into_iter().filter(|name| !never.contains(name)).collect();
        if functions.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = functions.iter().map(|name| format!("`{name}`")).collect();
        let noun = omnilink_suggest::plural(names.len() as u64, "function");
        let say = if names.len() == 1 { "says" } else { "say" };
        let message = format!("{}: fill in the {noun} {}, which still {say} `todo`", path.display(), names.join(", "));
        let help = "each makes one call of your system and returns its result; a call that the system does not have goes \
                    into `unsupported` of `[harness]`";
        Err(vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }])
    }
}
