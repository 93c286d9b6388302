//! Readers of text that is not a history. Bytes that are not text are no input for them.

use omnilink_report::{Detail, Report};
use omnilink_schedule::Schedule;
use omnilink_tla::config;
use omnilink_tla::strings::Strings;
use omnilink_tla_syntax::Span;

/// A report that was read can be shown in every form, and written and read again.
pub(crate) fn report_json(bytes: &[u8]) {
    let Ok(Ok(report)) = str::from_utf8(bytes).map(Report::from_json) else { return };
    let _ = omnilink_report::text(&report, Detail::Full, true);
    let reports = [report];
    let _ = (
        omnilink_report::markdown(&reports, &[]),
        omnilink_report::github(&reports, &[]),
        omnilink_report::junit(&reports, &[]),
        omnilink_report::sarif(&reports, &[]),
    );
    assert!(Report::from_json(&reports[0].to_json()).is_ok(), "what is written can be read");
}

/// A schedule is read or refused, and one that is read is written as it is read.
pub(crate) fn schedule(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    // Counts that stand for millions of decisions take memory, and tell nothing that small ones do not.
    if text.split(['*', '\n', ' ']).any(|number| number.len() > 4 && number.bytes().all(|byte| byte.is_ascii_digit())) {
        return;
    }
    if let Ok(schedule) = text.parse::<Schedule>() {
        assert_eq!(schedule.to_string().parse::<Schedule>().expect("it was written"), schedule);
    }
}

/// Serial runs are read or refused, and those that are read are written as they are read.
pub(crate) fn lineup(bytes: &[u8]) {
    let Ok(Ok(observations)) = str::from_utf8(bytes).map(str::parse::<omnilink_lineup::Observations>) else { return };
    let written = observations.to_string();
    let again: omnilink_lineup::Observations = written.parse().expect("it was written");
    assert_eq!(again.to_string(), written);
    assert_eq!(again.difference(&observations), None);
    assert_eq!((again.full(), again.stuck()), (observations.full(), observations.stuck()));
    assert_eq!(observations.is_complete(), observations.missing(1).is_empty());
}

/// Settings are read or refused.
pub(crate) fn settings(bytes: &[u8]) {
    let _ = str::from_utf8(bytes).map(omnilink_settings::Settings::parse);
}

/// A configuration is read or has errors, and all of them stand inside it.
pub(crate) fn tla_config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Err(errors) = config::parse(text, &mut Strings::default()) {
        assert!(!errors.is_empty());
        for error in &errors {
            let is_inside = |span: &Span| is_inside(text, *span);
            assert!(is_inside(&error.span) && error.related.iter().all(|(span, _)| is_inside(span)), "{error:?}");
        }
    }
}

/// A module parses or has errors, and all of them stand inside it.
pub(crate) fn tla_syntax(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let parse = omnilink_tla_syntax::parse(text);
    assert!(parse.module.is_some() || !parse.errors.is_empty());
    for error in &parse.errors {
        let is_inside = |span: &Span| is_inside(text, *span);
        assert!(is_inside(&error.span) && error.related.iter().all(|(span, _)| is_inside(span)), "{error:?}");
    }
}

/// Whether this part of a text begins and ends between its characters.
pub(crate) fn is_inside(text: &str, span: Span) -> bool {
    span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some()
}
