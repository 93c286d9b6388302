//! `omnilink view`: the page served on this machine, where assumptions can be checked and expressions evaluated.
//!
//! One thread serves; another checks, see `worker`. The address is printed before anything is checked, and questions wait
//! until the first check is over. If that fails, there is nothing to serve, and the command ends like `check` does.

use std::convert::Infallible;
use std::io::Write;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use ::report::{Verdict, headline};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use judge::InputError;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::http::Door;
use super::subject::{Subject, find, settings};
use super::worker::{First, Worker};
use crate::args::ViewArgs;
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::tell::{tell, tell_about_spec};
use crate::terminal::complain;

/// Between two looks at whether somebody has interrupted the command.
const TICK: Duration = Duration::from_millis(100);

/// A client that says nothing for so long is not waited for.
const SILENCE: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &ViewArgs) -> Exit {
    limits::catch_interrupts();
    let subject = match find(&args.subject) {
        Ok(Subject::Store(store)) => {
            let help = format!("`omnilink report {}` writes a page about all of them", store.directory().display());
            let message = "one run can be looked at, and this is a directory of runs".into();
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
    let assume = args.subject.assume.assume.clone();
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

/// Waits for something, and for somebody to interrupt the command.
async fn until_interrupted<F: Future>(future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    while !limits::is_interrupted() {
        if let Ok(output) = tokio::time::timeout(TICK, &mut future).await {
            return Some(output);
        }
    }
    None
}

/// Lets clients in.
async fn welcome(listener: TcpListener, door: Rc<Door>, worker: Rc<Worker>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::task::spawn_local(converse(stream, door.clone(), worker.clone()))),
            // A client that is gone before it was let in is no reason to end; too many of them are one to wait.
            Err(_) => tokio::time::sleep(TICK).await,
        }
    }
}

/// What to do once the first check is over: how to end, if that is all.
fn begun(args: &ViewArgs, door: &Door, label: &str, found: Result<First, oneshot::error::RecvError>) -> Option<Exit> {
    match found {
        Ok(Ok(report)) => {
            out!("{}", headline(&report, true));
            // Given up before the history was there, so that there is nothing to look at.
            if matches!(report.verdict, Verdict::Inconclusive { .. }) && report.history.operations.is_none() {
                return Some(Exit::Inconclusive);
            }
            if !args.no_open && has_display() && open::that_detached(door.url()).is_err() {
                errln!("no browser could be opened: go to the address above");
            }
            errln!("ends with Ctrl-C");
            None
        }
        Ok(Err(judge::Failed::Spec(complaints))) if label.is_empty() => {
            Some(tell_about_spec(&judge::Failed::Spec(complaints)))
        }
        Ok(Err(failed)) => Some(tell(&failed, label)),
        // The thread has panicked, and has said why.
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
    // Whatever a client did wrong is its own business.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// 128 bits that nobody can guess.
fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// True if there is a screen that a browser could open on.
fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| is_set(name))
}
