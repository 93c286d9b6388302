//! What every renderer makes of every sample.

use omnilink_report::*;

use crate::samples;

/// Compares what a renderer makes of every sample with what was looked at before.
fn check(renderer: &str, render: impl Fn(&Report) -> String) {
    for (name, report) in samples::all() {
        insta::assert_snapshot!(format!("{renderer}__{name}"), render(&report));
    }
}

#[test]
fn brief_text() {
    check("brief", |report| text(report, Detail::Brief, false));
}

#[test]
fn markdown_of_one() {
    check("markdown", |report| markdown(std::slice::from_ref(report), &[]));
}

#[test]
fn annotations() {
    check("github", |report| github(std::slice::from_ref(report), &[]));
}

#[test]
fn all_at_once() {
    let reports = [samples::accepted(), samples::inconclusive(), samples::words(), samples::hostile()];
    insta::assert_snapshot!("junit", junit(&reports, &[]));
    insta::assert_snapshot!("sarif", sarif(&reports, &[]));
    insta::assert_snapshot!("markdown", markdown(&reports[..2], &[]));
    insta::assert_snapshot!(summary(&reports, &[]), @"4 histories: 1 accepted, 2 rejected, 1 inconclusive");
    insta::assert_snapshot!(summary(&reports[..1], &[]), @"");
}

#[test]
fn fingerprints_stay() {
    let fingerprint = |report: Report| {
        let log: serde_json::Value = serde_json::from_str(&sarif(&[report], &[])).unwrap();
        log.pointer("/runs/0/results/0/partialFingerprints").unwrap().clone()
    };
    let queue = fingerprint(samples::queue());
    assert_eq!(queue, fingerprint(samples::hostile()), "values and the end of the line are others");
    assert_eq!(queue, fingerprint(samples::moved(samples::queue(), 7)), "the lines are others");
    assert_ne!(queue, fingerprint(samples::evaluation_error()), "the reason is another");
}

#[test]
fn what_it_took() {
    insta::assert_snapshot!(stats(&samples::inconclusive()), @r#"
    run.jsonl: searched whole in 1.2 s
      returned         41 operations
      evaluations      412,345 (329,876/s)
      configurations   105,210 distinct of 250,000 reached (57.9 % coalesced)
      widest           12,345 configurations at once when T2:1 Enqueue(2) returned
      in flight there  T0:1 Enqueue(0), T1:1 Enqueue(1), T2:1 Enqueue(2), T3:1 Enqueue(3), T4:1 Enqueue(4) and 4 others
    "#);
}

#[test]
fn colors_change_nothing_else() {
    for (name, report) in samples::all() {
        let colored = text(&report, Detail::Full, true);
        let mut plain = String::new();
        let mut rest = colored.as_str();
        while let Some((before, escape)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = escape.split_once('m').unwrap().1;
        }
        plain.push_str(rest);
        assert_eq!(plain, text(&report, Detail::Full, false), "{name}");
        assert_ne!(plain, colored, "{name}");
    }
}

#[test]
fn only_visible_characters() {
    let report = samples::hostile();
    let reports = std::slice::from_ref(&report);
    let texts = [
        text(&report, Detail::Full, false),
        stats(&report),
        markdown(reports, &[]),
        github(reports, &[]),
        junit(reports, &[]),
    ];
    for text in texts {
        let hidden = text.chars().find(|&c| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert_eq!(hidden, None, "in {text}");
    }
    assert_eq!(github(reports, &[]).lines().count(), 1);
}

#[test]
fn tables_fit() {
    let text = text(&samples::hostile(), Detail::Full, false);
    let table = text.lines().skip_while(|line| !line.starts_with("    ---")).take_while(|line| !line.is_empty());
    assert!(table.clone().count() > 1);
    assert_eq!(table.filter(|line| line.chars().count() > 120).count(), 0);
}

#[test]
fn a_terminal_of_80_columns_wraps_nothing() {
    for (name, report) in samples::all() {
        for detail in [Detail::Brief, Detail::Full] {
            let text = text_within(&report, detail, false, 80);
            // A word cannot be wrapped, and the first line is the name of a file. Text of the specification stays.
            let ours = text.lines().skip(1).filter(|line| !line.contains(" | ") && !line.contains("-->"));
            let wide: Vec<&str> = ours.filter(|line| line.chars().count() > 80 && line.trim().contains(' ')).collect();
            assert!(name == "hostile" || wide.is_empty(), "{name}: {wide:#?}");
        }
    }
}

#[test]
fn headlines() {
    let shown = samples::all().into_iter().filter_map(|(name, report)| {
        let rejection = report.rejection()?;
        Some(format!("{name}: {} {}", rejection.sentence, rejection.details).trim_end().to_owned())
    });
    insta::assert_snapshot!(shown.filter(|line| !line.starts_with("hostile")).collect::<Vec<_>>().join("\n"));
}

/// The sentence about an operation that is disabled in its only state because an expression has this value.
fn disabled(change: impl Fn(&mut Operation), condition: &str, expression: &str, value: &str) -> String {
    let mut report = samples::queue();
    change(&mut report.operations[4]);
    let Verdict::Rejected(rejection) = &mut report.verdict else { panic!("a rejection") };
    let Evidence::Stuck(stuck) = &mut rejection.evidence else { panic!("a state") };
    let field = |name: &str| Field { name: name.into(), value: "...".into() };
    stuck.states = vec![State { id: "a1".into(), variables: ["missed", "written"].map(field).to_vec() }];
    stuck.interpretations.clear();
    stuck.reasons.truncate(1);
    stuck.reasons[0].states = vec![0];
    let Why::Guard(guard) = &mut stuck.reasons[0].why else { panic!("a guard") };
    guard.conjuncts.truncate(1);
    let values = vec![Evaluated { text: expression.into(), values: vec![Some(value.into())] }];
    let conjunct = &mut guard.conjuncts[0];
    (conjunct.text, conjunct.outcomes, conjunct.values) = (condition.into(), vec![Outcome::False], values);
    report.with_headline().rejection().expect("a rejection").sentence.clone()
}

#[test]
fn only_a_place_is_found_empty() {
    let empty = |action: &str, condition: &str, place: &str| {
        let renamed = |op: &mut Operation| op.action = action.into();
        disabled(renamed, condition, place, r#"{"x"}"#)
    };
    insta::assert_snapshot!(
        empty("DequeueEmpty", r"missed[elem] = {}", "missed[elem]"),
        @r#"T0 found `missed[49600]` empty while it was {"x"}"#
    );
    // The operation does not report that something is empty.
    insta::assert_snapshot!(
        empty("Commit", r"missed[elem] = {}", "missed[elem]"),
        @r#"no order allows T0's `Commit 49600`: `missed[49600]` is {"x"}, not empty"#
    );
    // The operation knows nothing of an expression that the specification computes from several places.
    insta::assert_snapshot!(
        empty("DequeueEmpty", r"missed[elem] \cap written[elem] = {}", r"missed[elem] \cap written[elem]"),
        @r#"no order allows T0's `DequeueEmpty 49600`: "x" is in both `missed[49600]` and `written[49600]`"#
    );
}

#[test]
fn full_text() {
    check("full", |report| text(report, Detail::Full, false));
}

#[test]
fn a_history_that_could_not_be_checked_is_in_every_report() {
    let problem = |message: &str| Problem { message: message.into(), help: Some("look at `a\u{1b}b`".into()) };
    let unchecked = [Unchecked {
        history: "ba|d.jsonl".into(),
        spec: "queue".into(),
        problems: vec![problem("line 3 says \u{202e}nothing\n::error::x"), problem("and more")],
    }];
    let reports = [samples::accepted()];
    insta::assert_snapshot!("junit_unchecked", junit(&reports, &unchecked));
    insta::assert_snapshot!("sarif_unchecked", sarif(&reports, &unchecked));
    insta::assert_snapshot!("markdown_unchecked", markdown(&reports, &unchecked));
    insta::assert_snapshot!("github_unchecked", github(&reports, &unchecked));
    insta::assert_snapshot!(summary(&reports, &unchecked), @"2 histories: 1 accepted, 1 not checked");
    insta::assert_snapshot!(summary(&[], &unchecked), @"");
}
