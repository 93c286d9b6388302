//! A report that was read can be shown in every form, and written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::{Detail, Report};

fuzz_target!(|text: &str| {
    if let Ok(report) = Report::from_json(text) {
        let _ = report::text(&report, Detail::Full, true);
        let reports = [report];
        let _ = (report::markdown(&reports), report::github(&reports), report::junit(&reports), report::sarif(&reports));
        assert!(Report::from_json(&reports[0].to_json()).is_ok(), "what is written can be read");
    }
});
