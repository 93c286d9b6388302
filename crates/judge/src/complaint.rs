//! What is wrong with a specification, shown where it stands: source lines and carets for people, places for programs.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use report::clean;
use serde_json::json;
use settings::{BadSettings, ReadError};
use tla::error::EvalError;
use tla::program::{LinkError, LinkErrors, Place, Program, Warning};
use tla::resolve::Errors;
use tla::source::{Site, Sources};
use tla_syntax::{Diagnostic, Position, Span};

/// Something to tell about a text.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// Nothing has to be done about it.
    pub is_warning: bool,
    /// What it is, in a sentence.
    pub message: String,
    /// The first is where it is wrong; the others belong to it.
    pub spots: Vec<Spot>,
    /// What else there is to know.
    pub note: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Something is missing from the configuration.
    pub lacks_config: bool,
}

/// A place in a text, and what to write beside it.
#[derive(Debug, Clone)]
pub struct Spot {
    path: String,
    text: String,
    span: Span,
    label: String,
}

/// A text that is no module: the configuration.
#[derive(Debug, Clone)]
pub struct Text {
    /// Where it is.
    pub path: String,
    /// What it says.
    pub text: String,
}

impl Text {
    fn spot(&self, span: Span, label: &str) -> Spot {
        Spot { path: self.path.clone(), text: self.text.clone(), span, label: label.into() }
    }
}

fn spot(sources: &Sources, site: Site, label: &str) -> Spot {
    let source = sources.get(site.source);
    Spot { path: source.name.clone(), text: source.text.clone(), span: site.span, label: label.into() }
}

impl Complaint {
    /// One that has no place.
    pub fn new(message: impl Into<String>) -> Complaint {
        Complaint {
            is_warning: false,
            message: message.into(),
            spots: Vec::new(),
            note: None,
            help: None,
            lacks_config: false,
        }
    }

    /// What is wrong with a configuration.
    pub fn of_config(config: &Text, error: &Diagnostic) -> Complaint {
        let related = error.related.iter().map(|(span, label)| config.spot(*span, label));
        let spots = std::iter::once(config.spot(error.span, &error.label)).chain(related).collect();
        Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
    }

    /// What is wrong with a file of settings.
    pub fn of_settings(error: &ReadError) -> Complaint {
        let ReadError::Parse { path, text, error: BadSettings { message, place: Some(place), .. } } = error else {
            return Complaint::new(error.to_string());
        };
        let settings = Text { path: path.display().to_string(), text: text.clone() };
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { start: offset(place.start), end: offset(place.end) };
        Complaint { spots: vec![settings.spot(span, "")], ..Complaint::new(message) }
    }

    /// What is wrong with modules.
    pub fn of_modules(errors: &Errors) -> Vec<Complaint> {
        let complaint = |problem: &tla::resolve::Problem| {
            let site = |span| Site { source: problem.source, span };
            let error = &problem.diagnostic;
            let mut spots = vec![spot(&errors.sources, site(error.span), &error.label)];
            spots.extend(error.related.iter().map(|(span, label)| spot(&errors.sources, site(*span), label)));
            spots.extend(problem.related.iter().map(|(site, label)| spot(&errors.sources, *site, label)));
            Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
        };
        errors.errors.iter().map(complaint).collect()
    }

    /// What keeps a module and its configuration from being a program.
    pub fn of_link(errors: &LinkErrors, config: &Text) -> Vec<Complaint> {
        let complaint = |error: &LinkError| {
            let mut spots: Vec<Spot> = place(&errors.sources, config, error.place).into_iter().collect();
            spots.extend(error.related.iter().map(|(site, label)| spot(&errors.sources, *site, label)));
            let lacks_config = error.place == Place::Missing;
            Complaint { spots, help: error.help.clone(), lacks_config, ..Complaint::new(&error.message) }
        };
        errors.errors.iter().map(complaint).collect()
    }

    /// What is odd about a program.
    pub fn of_warning(sources: &Sources, config: &Text, warning: &Warning) -> Complaint {
        let spots = place(sources, config, warning.place).into_iter().collect();
        Complaint { is_warning: true, spots, ..Complaint::new(&warning.message) }
    }

    /// So many of the calls that led to an error are shown.
    const SHOWN_CALLS: usize = 8;

    /// What could not be evaluated, and what led there.
    pub fn of_evaluation(program: &Program, error: &EvalError) -> Complaint {
        let sources = &program.module.sources;
        let mut sites: Vec<Site> = error.site.into_iter().collect();
        let mut spots: Vec<Spot> = sites.iter().map(|site| spot(sources, *site, "")).collect();
        // What a check starts from is called from nowhere, and stands where it is defined.
        let is_start = |site: &Site| program.module.definitions.iter().any(|definition| definition.site == *site);
        for (name, site) in error.calls.iter().filter(|(_, site)| !is_start(site)) {
            if !sites.contains(site) && spots.len() <= Complaint::SHOWN_CALLS {
                sites.push(*site);
                spots.push(spot(sources, *site, &format!("in `{name}`, called here")));
            }
        }
        Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
    }

    /// What a recording and a specification do not agree on.
    pub fn of_problem(sources: &Sources, problem: &validate::Problem) -> Complaint {
        let spots = problem.place.iter().map(|(site, label)| spot(sources, *site, label)).collect();
        Complaint { spots, help: problem.help.clone(), ..Complaint::new(&problem.message) }
    }

    /// A module that stands in a file of another name, which those who extend it would not find.
    pub fn of_file_name(program: &Program, stem: &str) -> Option<Complaint> {
        let (name, sources) = (&program.module.name, &program.module.sources);
        if name == stem {
            return None;
        }
        let (source, text) = sources.iter().next()?;
        let header = text.text.find("MODULE")?;
        let start = u32::try_from(header + text.text[header..].find(name.as_str())?).ok()?;
        let site = Site { source, span: Span { start, end: start + u32::try_from(name.len()).ok()? } };
        let message = format!("module `{name}` stands in a file of another name");
        let help = format!("TLC refuses it: name the module `{stem}`, or the file `{name}.tla`");
        let spots = vec![spot(sources, site, "")];
        Some(Complaint { is_warning: true, spots, help: Some(help), ..Complaint::new(message) })
    }

    /// For people, with colors.
    pub fn render(&self) -> String {
        self.rendered(Renderer::styled())
    }

    /// For people, without colors.
    pub fn plain(&self) -> String {
        self.rendered(Renderer::plain())
    }

    /// Messages and labels quote traces, which anything may have written.
    fn visible(&self) -> Complaint {
        let spot = |spot: &Spot| Spot { path: clean(&spot.path), label: clean(&spot.label), ..spot.clone() };
        Complaint {
            message: clean(&self.message),
            spots: self.spots.iter().map(spot).collect(),
            note: self.note.as_deref().map(clean),
            help: self.help.as_deref().map(clean),
            ..*self
        }
    }

    fn rendered(&self, renderer: Renderer) -> String {
        self.visible().drawn(renderer)
    }

    fn drawn(&self, renderer: Renderer) -> String {
        let level = if self.is_warning { Level::WARNING } else { Level::ERROR };
        let mut report = vec![self.shown(level)];
        if let Some(note) = &self.note {
            report.push(Group::with_title(Level::NOTE.secondary_title(note.as_str())));
        }
        if let Some(help) = &self.help {
            report.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
        }
        renderer.decor_style(DecorStyle::Ascii).render(&report)
    }

    fn shown<'a>(&'a self, level: Level<'a>) -> Group<'a> {
        let mut group = Group::with_title(level.primary_title(self.message.as_str()));
        let mut rest: &[Spot] = &self.spots;
        let mut is_first = true;
        // Neighbors in the same text share one piece of it.
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|spot| spot.path == first.path).count();
            let mut snippet = Snippet::source(first.text.as_str()).path(first.path.as_str());
            for spot in &rest[..same] {
                let kind = if is_first { AnnotationKind::Primary } else { AnnotationKind::Context };
                let label = (!spot.label.is_empty()).then_some(spot.label.as_str());
                snippet = snippet.annotation(kind.span(spot.range()).label(label));
                is_first = false;
            }
            group = group.element(snippet);
            rest = &rest[same..];
        }
        group
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        let mut spots = self.spots.iter().map(Spot::json);
        let place = spots.next();
        json!({
            "severity": if self.is_warning { "warning" } else { "error" },
            "message": self.message,
            "place": place,
            "related": spots.collect::<Vec<_>>(),
            "note": self.note,
            "help": self.help,
        })
    }
}

impl Spot {
    fn range(&self) -> Range<usize> {
        let end = self.text.len();
        (self.span.start as usize).min(end)..(self.span.end as usize).min(end)
    }

    fn json(&self) -> serde_json::Value {
        let (start, end) = (Position::of(&self.text, self.span.start), Position::of(&self.text, self.span.end));
        json!({
            "path": self.path,
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "label": self.label,
        })
    }
}

fn place(sources: &Sources, config: &Text, place: Place) -> Option<Spot> {
    match place {
        Place::Config(span) => Some(config.spot(span, "")),
        Place::Module(site) => Some(spot(sources, site, "")),
        Place::Missing => None,
    }
}
