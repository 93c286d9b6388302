//! `omnilink view`: serves the page on this machine, where assumptions can be checked and expressions evaluated.
//!
//! One thread serves; another checks, see `worker`. The address is printed before the check, and requests wait until
//! the first check is over. If that fails, there is nothing to serve, and the command ends like `check` does.

use std::convert::Infallible;
use std::io::Write;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use ::omnilink_report::{Verdict, headline};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use omnilink_judge::InputError;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::http::Door;
use super::subject::{Subject, find, settings};
use super::worker::{First, Worker};
use crate::args::ViewArgs;
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::outcome::{print_failure, print_spec_error};
use crate::terminal::complain;

/// The polling interval for interrupts.
const TICK: Duration = Duration::from_millis(100);

/// The time after which a silent client is disconnected.
const SILENCE: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &ViewArgs) -> Exit {
    limits::catch_interrupts();
    let subject = match find(&args.subject) {
        Ok(Subject::Store(store)) => {
            let help = format!("`omnilink report {}` writes a page about all of them", store.directory().display());
            let message = "expected one run, found a directory of runs".into();
            return complain("what to look at", &InputError { message, help: Some(help) });
        }
        Ok(subject) => subject,
        Err(exit) => return exit,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let serving = runtime.and_then(|runtime| tokio::task::LocalSet::new().block_on(&runtime, serve(args, subject)));
    serving.unwrap_or_else(|error| complain("the server", &InputError::new(error)))
}

async fn serve(args: &ViewArgs, subject: Subject) -> std::io::Result<Exit> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
    let door = Rc::new(Door::new(listener.local_addr()?.port(), token()?));
    outln!("{}", door.url());
    std::io::stdout().flush()?;
    let label = match &subject {
        Subject::Recording(recording) => recording.label.clone(),
        Subject::Report(_) | Subject::Store(_) => String::new(),
    };
    let assume = args.subject.options.assume.assume.clone();
    let (worker, first) = Worker::start(subject, settings(&args.subject), args.subject.look(), assume);
    let worker = Rc::new(worker);
    let limits = Limits::around(&settings(&args.subject), &args.subject.label());
    tokio::task::spawn_local(welcome(listener, door.clone(), worker.clone()));
    let exit = match until_interrupted(first).await {
        Some(first) => begun(args, &door, &label, first),
        None => None,
    };
    drop(limits);
    if exit.is_none() {
        until_interrupted(std::future::pending::<()>()).await;
    }
    worker.stop();
    Ok(exit.unwrap_or(Exit::Accepted))
}

/// Waits for a future, or for an interrupt.
async fn until_interrupted<F: Future>(future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    while !limits::is_interrupted() {
        if let Ok(output) = tokio::time::timeout(TICK, &mut future).await {
            return Some(output);
        }
    }
    None
}

/// Accepts clients.
async fn welcome(listener: TcpListener, door: Rc<Door>, worker: Rc<Worker>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::task::spawn_local(converse(stream, door.clone(), worker.clone()))),
            // A client that disconnects before it is accepted is not a reason to end; too many of them are a reason to
            // wait.
            Err(_) => tokio::time::sleep(TICK).await,
        }
    }
}

/// After the first check: returns how to end, if there is nothing to serve.
fn begun(args: &ViewArgs, door: &Door, label: &str, found: Result<First, oneshot::error::RecvError>) -> Option<Exit> {
    match found {
        Ok(Ok(report)) => {
            out!("{}", headline(&report, true));
            // Given up before the history was read, so that there is nothing to show.
            if matches!(report.verdict, Verdict::Inconclusive { .. }) && report.history.operations.is_none() {
                return Some(Exit::Inconclusive);
            }
            if !args.no_open && has_display() && open::that_detached(door.url()).is_err() {
                errln!("no browser could be opened: open the address above");
            }
            errln!("stop with Ctrl-C");
            None
        }
        Ok(Err(omnilink_judge::Failed::Spec(complaints))) if label.is_empty() => {
            Some(print_spec_error(&omnilink_judge::Failed::Spec(complaints)))
        }
        Ok(Err(failed)) => Some(print_failure(&failed, label)),
        // The thread has panicked, and has printed why.
        Err(_) => Some(Exit::Wrong),
    }
}

async fn converse(stream: tokio::net::TcpStream, door: Rc<Door>, worker: Rc<Worker>) {
    let service = service_fn(|request| {
        let (door, worker) = (door.clone(), worker.clone());
        async move { Ok::<_, Infallible>(door.answer(&worker, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(SILENCE);
    // Errors of a client are ignored.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// A random token of 128 bits.
fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// True if there is a display for a browser.
fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| is_set(name))
}
