//! `omnilink log infer`: a first mapping of a log to a specification.

use omnilink_judge::input::InputError;

use crate::args::{InferArgs, LogCommand};
use crate::exit::Exit;
use crate::outcome::print_spec_error;
use crate::terminal::complain;

pub(crate) fn run(command: &LogCommand) -> Exit {
    let LogCommand::Infer(args) = command;
    infer(args)
}

fn infer(args: &InferArgs) -> Exit {
    match omnilink_judge::infer(&args.spec, &args.log, args.header) {
        Ok(text) => {
            out!("{text}");
            Exit::Accepted
        }
        Err(omnilink_judge::Failed::Input(error)) => complain(&args.log.display().to_string(), &error),
        Err(omnilink_judge::Failed::Stopped(stop)) => complain(&args.log.display().to_string(), &InputError::new(stop)),
        Err(failed) => print_spec_error(&failed),
    }
}
