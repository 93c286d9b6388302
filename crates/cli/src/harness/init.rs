//! x
pub(crate) fn run(_: &super::args::InitArgs) -> crate::exit::Exit { crate::exit::Exit::Wrong }
