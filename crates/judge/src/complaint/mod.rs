//! Errors and warnings about a specification, shown at their place: source lines and carets for people, positions for
//! programs.

#[cfg(feature = "tla")]
mod tla;

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use omnilink_report::clean;
use omnilink_settings::{BadSettings, ReadError};
use serde_json::json;

/// An error or a warning about a text.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// True if no action is needed.
    pub is_warning: bool,
    /// One sentence.
    pub message: String,
    /// The first is the place of the error; the others are related.
    pub spots: Vec<Spot>,
    /// Further information.
    pub note: Option<String>,
    /// The action to take.
    pub help: Option<String>,
    /// True if the configuration lacks something.
    pub lacks_config: bool,
}

/// A place in a text, and its label.
#[derive(Debug, Clone)]
pub struct Spot {
    path: String,
    text: String,
    range: Range<usize>,
    label: String,
}

/// The text of the configuration.
#[derive(Debug, Clone)]
pub struct Text {
    /// Its path.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl Text {
    fn spot(&self, range: Range<usize>, label: &str) -> Spot {
        Spot { path: self.path.clone(), text: self.text.clone(), range, label: label.into() }
    }
}

impl Complaint {
    /// Makes a complaint without a place.
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

    /// An error in a settings file.
    pub fn of_settings(error: &ReadError) -> Complaint {
        let ReadError::Parse { path, text, error: bad } = error else { return Complaint::new(error.to_string()) };
        let BadSettings { message, help, place: Some(place), .. } = &**bad else {
            return Complaint::new(error.to_string());
        };
        let settings = Text { path: path.display().to_string(), text: text.clone() };
        let spots = vec![settings.spot(place.start..place.end, "")];
        Complaint { spots, help: help.clone(), ..Complaint::new(message) }
    }

    /// The complaint as colored text.
    pub fn render(&self) -> String {
        self.rendered(Renderer::styled())
    }

    /// The complaint as text without colors.
    pub fn plain(&self) -> String {
        self.rendered(Renderer::plain())
    }

    /// Messages and labels quote traces, whose content is not trusted.
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
        // Neighboring spots in the same text share one snippet.
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

    /// The complaint for programs.
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
        self.range.start.min(end)..self.range.end.min(end)
    }

    fn json(&self) -> serde_json::Value {
        let [start, end] = [self.range.start, self.range.end].map(|at| omnilink_report::position(&self.text, at));
        json!({
            "path": self.path,
            "line": start.0,
            "column": start.1,
            "end_line": end.0,
            "end_column": end.1,
            "label": self.label,
        })
    }
}
