//! Translates command-line options to `judge` and `limits`.

use crate::args::{About, CheckArgs, Extra, Progress};
use crate::limits::Settings;

impl About {
    /// The options of a check.
    pub(crate) fn options(&self) -> omnilink_judge::CheckOptions {
        omnilink_judge::CheckOptions {
            config: self.config.clone(),
            includes: self.includes.clone(),
            settings: self.settings.clone(),
            level: self.level.given(),
            context: self.level.context.into(),
            order_by: self.order_by.clone(),
            max_memory: self.max_memory.as_u64(),
            print: |text| text.lines().for_each(|line| errln!("{}", omnilink_report::clean(line))),
            ..omnilink_judge::CheckOptions::default()
        }
    }
}

impl From<&About> for Settings {
    fn from(about: &About) -> Settings {
        Settings { timeout: about.timeout, max_memory: about.max_memory.as_u64(), progress: Progress::None }
    }
}

impl From<&CheckArgs> for omnilink_judge::CheckOptions {
    fn from(args: &CheckArgs) -> omnilink_judge::CheckOptions {
        omnilink_judge::CheckOptions {
            max_width: args.max_width,
            shortcuts: !args.no_shortcuts,
            exhaustive: args.exhaustive,
            jobs: args.jobs,
            assume: args.assume.assume.clone(),
            // Pages show it too.
            coverage: args.coverage || args.strict || args.reports.iter().any(Extra::is_page),
            ..args.about.options()
        }
    }
}

impl From<&CheckArgs> for Settings {
    fn from(args: &CheckArgs) -> Settings {
        Settings { timeout: args.about.timeout, max_memory: args.about.max_memory.as_u64(), progress: args.progress }
    }
}
