//! Writes alerts: to a file or standard output, and as pages.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use omnilink_monitor::Alert;
use omnilink_report::visible_json;
use omnilink_watch::WatchError;

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::files::{page, write_page};

/// Where alerts go.
pub(super) struct Teller {
    file: Option<(PathBuf, File)>,
    pages: Option<PathBuf>,
}

impl Teller {
    /// `told` alerts were written before the state was stored: later ones in the file are written again. `None` keeps all.
    pub(super) fn new(args: &MonitorArgs, told: Option<u64>) -> Result<Teller, Exit> {
        let file = match &args.alerts {
            Some(path) => Some((path.clone(), open(path, told).map_err(|error| wrong(path, error))?)),
            None => None,
        };
        if let Some(directory) = &args.pages {
            fs::create_dir_all(directory).map_err(|error| wrong(directory, error))?;
        }
        Ok(Teller { file, pages: args.pages.clone() })
    }

    pub(super) fn tell(&mut self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError> {
        for alert in alerts {
            let mut json = alert.to_json();
            if let Some(partition) = partition {
                json["partition"] = partition.into();
            }
            if let (Some(directory), Some(report)) = (&self.pages, &alert.report) {
                let path = directory.join(page_name(partition, alert.number));
                write_page(&path, &page(report, None, None, None))
                    .map_err(|error| WatchError::at(&path, error.message))?;
                json["page"] = path.display().to_string().into();
            }
            let json = json.to_string();
            match &mut self.file {
                Some((path, file)) => writeln!(file, "{json}").map_err(|error| WatchError::at(path, error))?,
                None => outln!("{}", visible_json(&json)),
            }
        }
        if let Some((path, file)) = &mut self.file {
            file.flush().map_err(|error| WatchError::at(path, error))?;
        }
        Ok(())
    }
}

/// The file name of the page about an alert.
pub(super) fn page_name(partition: Option<u32>, number: u64) -> String {
    let of_partition = partition.map_or(String::new(), |partition| format!("{partition}-"));
    format!("alert-{of_partition}{number}.html")
}

/// Opens the file, without the alerts that are going to be written again.
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
