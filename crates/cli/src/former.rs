//! The former names of commands: each calls the code of its present name.

use crate::args::{ExportCommand, FormerCommand, InferArgs, LogCommand, WitnessCommand};
use crate::exit::Exit;
use crate::inspection::export::Form;
use crate::{harness, inspection, log, spec, verification};

pub(crate) fn run(command: FormerCommand) -> Exit {
    match command {
        FormerCommand::Explain(mut args) => {
            args.full = true;
            verification::check(*args)
        }
        FormerCommand::Export(ExportCommand::Tlc(args)) => verification::export::run(&args),
        FormerCommand::Export(ExportCommand::Perfetto(args)) => inspection::export::run(Form::Perfetto, &args),
        FormerCommand::Export(ExportCommand::Itf(args)) => inspection::export::run(Form::Itf, &args),
        FormerCommand::Export(ExportCommand::Dot(args)) => inspection::export::run(Form::Dot, &args),
        FormerCommand::Confirm(args) => verification::confirm::run(&args),
        FormerCommand::Witness(WitnessCommand::Verify(args)) => verification::witness::run(&args),
        FormerCommand::Gen(args) => harness::generate::run(&args),
        FormerCommand::Log(LogCommand::Infer(InferArgs { spec, log, header })) => log::infer(&spec, &log, header),
        FormerCommand::Levels => spec::list::levels(),
        FormerCommand::Specs { name } => spec::list::run(name.as_deref()),
    }
}
