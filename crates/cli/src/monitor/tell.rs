//! Tells alerts: to a file or standard output, as pages, and to a webhook.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::omnilink_monitor::Alert;
use omnilink_judge::InputError;
use omnilink_report::visible_json;
use omnilink_suggest::counted;

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::files::{page, write_page};
use crate::limits;
use crate::terminal::complain;

/// Where alerts go.
pub(super) struct Teller {
    file: Option<(PathBuf, File)>,
    pages: Option<PathBuf>,
    webhook: Option<(SyncSender<String>, JoinHandle<u64>)>,
    unsent: u64,
}

/// The most alerts that wait for a webhook.
const MOST_WAITING: usize = 1_000;

/// The first and the last pause before a request is repeated, and how often it is.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LAST_PAUSE: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 10;

impl Teller {
    /// `told` alerts were told before the state was stored: later ones in the file are told again. `None` keeps all.
    pub(super) fn new(args: &MonitorArgs, told: Option<u64>) -> Result<Teller, Exit> {
        if let Some(url) = args.webhook.as_ref().filter(|url| !url.starts_with("http://")) {
            let message = format!("`{url}` does not begin with `http://`");
            let help = Some("a proxy on this machine can send alerts on over TLS".to_owned());
            return Err(complain("--webhook", &InputError { message, help }));
        }
        let file = match &args.alerts {
            Some(path) => Some((path.clone(), open(path, told).map_err(|error| wrong(path, error))?)),
            None => None,
        };
        if let Some(directory) = &args.pages {
            fs::create_dir_all(directory).map_err(|error| wrong(directory, error))?;
        }
        let webhook = args.webhook.clone().map(|url| {
            let (sender, alerts) = sync_channel(MOST_WAITING);
            (sender, std::thread::spawn(move || send(&url, &alerts)))
        });
        Ok(Teller { file, pages: args.pages.clone(), webhook, unsent: 0 })
    }

    pub(super) fn tell(&mut self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), Exit> {
        for alert in alerts {
            let mut json = alert.to_json();
            if let Some(partition) = partition {
                json["partition"] = partition.into();
            }
            if let (Some(directory), Some(report)) = (&self.pages, &alert.report) {
                let of_partition = partition.map_or(String::new(), |partition| format!("{partition}-"));
                let path = directory.join(format!("alert-{of_partition}{}.html", alert.number));
                write_page(&path, &page(report, None, None, None)).map_err(|error| wrong(&path, error.message))?;
                json["page"] = path.display().to_string().into();
            }
            let json = json.to_string();
            match &mut self.file {
                Some((path, file)) => writeln!(file, "{json}").map_err(|error| wrong(path, error))?,
                None => outln!("{}", visible_json(&json)),
            }
            if let Some((sender, _)) = &self.webhook
                && let Err(TrySendError::Full(_)) = sender.try_send(json)
            {
                self.unsent += 1;
            }
        }
        if let Some((path, file)) = &mut self.file {
            file.flush().map_err(|error| wrong(path, error))?;
        }
        Ok(())
    }

    /// Waits until the webhook has been told, and says what it was not told.
    pub(super) fn finish(self) {
        let failed = self.webhook.map(|(sender, thread)| {
            drop(sender);
            thread.join().unwrap_or(0)
        });
        let unsent = self.unsent + failed.unwrap_or(0);
        if unsent > 0 {
            errln!("{} could not be sent to the webhook", counted(unsent, "alert"));
        }
    }
}

/// Opens the file, without the alerts that are going to be told again.
fn open(path: &Path, told: Option<u64>) -> io::Result<File> {
    if path.exists() && !path.metadata()?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let Some(told) = told else { return OpenOptions::new().create(true).append(true).open(path) };
    let mut kept = Vec::new();
    if path.exists() {
        for line in BufReader::new(File::open(path)?).lines() {
            let line = line?;
            let number = serde_json::from_str::<serde_json::Value>(&line).ok().and_then(|json| json["number"].as_u64());
            if number.is_some_and(|number| number <= told) {
                kept.push(line + "\n");
            }
        }
    }
    fs::write(path, kept.concat())?;
    OpenOptions::new().append(true).open(path)
}

/// Waits, but not after an interrupt.
fn wait(pause: Duration) {
    let began = Instant::now();
    while began.elapsed() < pause && !limits::is_interrupted() {
        std::thread::sleep(FIRST_PAUSE.min(pause));
    }
}

/// Sends alerts until there are no more; returns the number of those that could not be sent.
fn send(url: &str, alerts: &Receiver<String>) -> u64 {
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(5))).build();
    let agent = ureq::Agent::new_with_config(config);
    let mut failed = 0;
    for alert in alerts {
        let mut pause = FIRST_PAUSE;
        let is_sent = (0..ATTEMPTS).any(|attempt| {
            if attempt > 0 {
                wait(pause);
                pause = (pause * 2).min(LAST_PAUSE);
            }
            // An interrupt leaves one attempt for each.
            if attempt > 0 && limits::is_interrupted() {
                return false;
            }
            agent.post(url).header("content-type", "application/json").send(&alert).is_ok()
        });
        failed += u64::from(!is_sent);
    }
    failed
}
