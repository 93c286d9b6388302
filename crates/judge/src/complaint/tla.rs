//! Complaints about TLA+: modules, configurations, programs, evaluations, and traces that do not fit them.

use omnilink_tla::error::EvalError;
use omnilink_tla::program::{LinkError, LinkErrors, Place, Program, Warning};
use omnilink_tla::resolve::Errors;
use omnilink_tla::source::{Site, Sources};
use omnilink_tla_syntax::{Diagnostic, Span};

use super::{Complaint, Spot, Text};

fn spot(sources: &Sources, site: Site, label: &str) -> Spot {
    let source = sources.get(site.source);
    Spot { path: source.name.clone(), text: source.text.clone(), range: range(site.span), label: label.into() }
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

impl Complaint {
    /// An error in a configuration.
    pub fn of_config(config: &Text, error: &Diagnostic) -> Complaint {
        let related = error.related.iter().map(|(span, label)| config.spot(range(*span), label));
        let spots = std::iter::once(config.spot(range(error.span), &error.label)).chain(related).collect();
        Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
    }

    /// Errors in modules.
    pub fn of_modules(errors: &Errors) -> Vec<Complaint> {
        let complaint = |problem: &omnilink_tla::resolve::Problem| {
            let site = |span| Site { source: problem.source, span };
            let error = &problem.diagnostic;
            let mut spots = vec![spot(&errors.sources, site(error.span), &error.label)];
            spots.extend(error.related.iter().map(|(span, label)| spot(&errors.sources, site(*span), label)));
            spots.extend(problem.related.iter().map(|(site, label)| spot(&errors.sources, *site, label)));
            Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
        };
        errors.errors.iter().map(complaint).collect()
    }

    /// Errors in linking a module and its configuration.
    pub fn of_link(errors: &LinkErrors, config: &Text) -> Vec<Complaint> {
        let complaint = |error: &LinkError| {
            let mut spots: Vec<Spot> = place(&errors.sources, config, error.place).into_iter().collect();
            spots.extend(error.related.iter().map(|(site, label)| spot(&errors.sources, *site, label)));
            let lacks_config = error.place == Place::Missing;
            Complaint { spots, help: error.help.clone(), lacks_config, ..Complaint::new(&error.message) }
        };
        errors.errors.iter().map(complaint).collect()
    }

    /// A warning about a program.
    pub fn of_warning(sources: &Sources, config: &Text, warning: &Warning) -> Complaint {
        let spots = place(sources, config, warning.place).into_iter().collect();
        Complaint { is_warning: true, spots, ..Complaint::new(&warning.message) }
    }

    /// The maximum number of calls shown that led to an error.
    const SHOWN_CALLS: usize = 8;

    /// An evaluation error, with the calls that led to it.
    pub fn of_evaluation(program: &Program, error: &EvalError) -> Complaint {
        let sources = &program.module.sources;
        let mut sites: Vec<Site> = error.site.into_iter().collect();
        let mut spots: Vec<Spot> = sites.iter().map(|site| spot(sources, *site, "")).collect();
        // The entry point of a check has no call site, only its definition.
        let is_start = |site: &Site| program.module.definitions.iter().any(|definition| definition.site == *site);
        for (name, site) in error.calls.iter().filter(|(_, site)| !is_start(site)) {
            if !sites.contains(site) && spots.len() <= Complaint::SHOWN_CALLS {
                sites.push(*site);
                spots.push(spot(sources, *site, &format!("in `{name}`, called here")));
            }
        }
        Complaint { spots, help: error.help.clone(), ..Complaint::new(&error.message) }
    }

    /// A mismatch between a trace or a log, its mapping and a specification.
    pub fn of_problem(sources: &Sources, problem: &omnilink_validate::Problem) -> Complaint {
        let spots = problem.place.iter().map(|(site, label)| spot(sources, *site, label)).collect();
        let (note, help) = (problem.note.clone(), problem.help.clone());
        Complaint { spots, note, help, ..Complaint::new(&problem.message) }
    }

    /// A module in a file with another name, where modules that extend it would not find it.
    pub fn of_file_name(program: &Program, stem: &str) -> Option<Complaint> {
        let (name, sources) = (&program.module.name, &program.module.sources);
        if name == stem {
            return None;
        }
        let (source, text) = sources.iter().next()?;
        let header = text.text.find("MODULE")?;
        let start = u32::try_from(header + text.text[header..].find(name.as_str())?).ok()?;
        let site = Site { source, span: Span { start, end: start + u32::try_from(name.len()).ok()? } };
        let message = format!("module `{name}` is in a file with another name");
        let help = format!("TLC rejects it: name the module `{stem}`, or the file `{name}.tla`");
        let spots = vec![spot(sources, site, "")];
        Some(Complaint { is_warning: true, spots, help: Some(help), ..Complaint::new(message) })
    }
}

fn place(sources: &Sources, config: &Text, place: Place) -> Option<Spot> {
    match place {
        Place::Config(span) => Some(config.spot(range(span), "")),
        Place::Module(site) => Some(spot(sources, site, "")),
        Place::Missing => None,
    }
}
