//! JUnit XML, for test dashboards: a suite for each specification, a test case for each history.
//!
//! A rejected history is a failure, and so is a run that crashed, got stuck or had a data race. An inconclusive one is an `error`: nothing was found to be wrong with it. So is one
//! that could not be checked, and one without operations: nothing was checked.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use crate::data::{Report, Unchecked, Verdict};
use crate::finding::Finding;
use crate::text::{Detail, UNCHECKED, problems, text, verdict_style};
use crate::wording::clean;

/// All histories as one JUnit document.
pub fn junit(reports: &[Report], unchecked: &[Unchecked]) -> String {
    let mut suites: Vec<TestSuite> = Vec::new();
    let checked = reports.iter().map(|report| (&report.spec.name, case(report)));
    for (spec, case) in checked.chain(unchecked.iter().map(|history| (&history.spec, unchecked_case(history)))) {
        let name = clean(spec);
        let index = suites.iter().position(|suite| suite.name.as_str() == name).unwrap_or_else(|| {
            suites.push(TestSuite::new(name.as_str()));
            suites.len() - 1
        });
        suites[index].add_test_case(case);
    }
    let mut document = quick_junit::Report::new("omnilink");
    document.add_test_suites(suites);
    document.to_string().expect("writing XML to memory succeeds")
}

fn case(report: &Report) -> TestCase {
    let is_empty = report.history.operations == Some(0) && !report.has_failed();
    let mut status = match report.verdict {
        _ if report.has_failed() => TestCaseStatus::non_success(NonSuccessKind::Failure),
        _ if is_empty => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Accepted => TestCaseStatus::success(),
        Verdict::Rejected(_) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Inconclusive { .. } => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let word = verdict_style(report).1;
    if is_empty {
        status.set_type(word).set_message("nothing to check: the history has no operation");
    } else if let Some(finding) = Finding::new(report) {
        status.set_type(word).set_message(finding.title).set_description(text(report, Detail::Brief, false));
    }
    let mut case = TestCase::new(clean(&report.history.name), status);
    case.set_classname(clean(&report.spec.name));
    case.set_time(Duration::try_from_secs_f64(report.stats.seconds).unwrap_or_default());
    let operations = report.history.operations.unwrap_or(report.stats.returned);
    let facts = [
        ("verdict", word.to_owned()),
        ("operations", operations.to_string()),
        ("processes", report.history.processes.to_string()),
        ("method", clean(&report.stats.method)),
        ("configurations", report.stats.distinct.to_string()),
    ];
    for (name, value) in facts {
        case.add_property(Property::new(name, value));
    }
    case
}

fn unchecked_case(unchecked: &Unchecked) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let first = unchecked.problems.first().map(|problem| clean(&problem.message)).unwrap_or_default();
    status.set_type(UNCHECKED).set_message(first).set_description(problems(unchecked));
    let mut case = TestCase::new(clean(&unchecked.history), status);
    case.set_classname(clean(&unchecked.spec));
    case.add_property(Property::new("verdict", UNCHECKED));
    case
}
