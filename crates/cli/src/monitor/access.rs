//! Addresses on which the monitor answers, as the arguments say: they are on the loopback interface unless the user says
//! otherwise.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use omnilink_judge::InputError;
use omnilink_report::clean;
use omnilink_watch::{Access, WatchError};

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::terminal::complain;

/// The token and the certificate in the files of the arguments.
pub(super) fn read(args: &MonitorArgs) -> Result<Access, Exit> {
    let read = |path: &std::path::PathBuf| std::fs::read(path).map_err(|error| wrong(path, error));
    let token = match &args.token_file {
        None => None,
        Some(path) => {
            let token = String::from_utf8(read(path)?).map_err(|error| wrong(path, error))?;
            if token.trim().is_empty() {
                return Err(wrong(path, "the file has no token"));
            }
            Some(token.trim().to_owned())
        }
    };
    let tls = match (&args.tls_certificate, &args.tls_key) {
        (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
        _ => None,
    };
    Ok(Access { token, tls, ..Access::default() })
}

/// Lets the address of an option answer, and prints it.
pub(super) fn listen(
    args: &MonitorArgs,
    option: &'static str,
    address: SocketAddr,
    access: &Access,
    serve: impl FnOnce(&Access) -> Result<SocketAddr, WatchError>,
) -> Result<(), Exit> {
    if !address.ip().is_loopback() && !args.remote {
        let message = format!("{address} can be reached by other machines");
        let help = Some("name an address of this machine such as `127.0.0.1:9464`, or add `--remote`".to_owned());
        return Err(complain(option, &InputError { message, help }));
    }
    let on_refusal = Arc::new(move |status: u16, why: &str| print_refusal(option, status, why));
    let bound = serve(&Access { on_refusal, ..access.clone() });
    let bound = bound.map_err(|error| complain(option, &InputError::new(error)))?;
    let scheme = if access.tls.is_some() { "https" } else { "http" };
    errln!("{scheme}://{bound}/");
    Ok(())
}

/// Prints why a request was refused, unless the last line was the same: a client may repeat it for ever.
fn print_refusal(option: &str, status: u16, why: &str) {
    static LAST: Mutex<String> = Mutex::new(String::new());
    let line = format!("{option}: refused a request: {status}: {}", clean(why));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last != line {
        errln!("{line}");
        *last = line;
    }
}
