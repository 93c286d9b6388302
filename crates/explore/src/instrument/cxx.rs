//! C and C++ compiler commands, changed to build a program that can be controlled.
//!
//! Compiling adds `-fsanitize=thread`. Linking puts the runtime first and must not have `-fsanitize=thread`, which
//! would link another library with the same functions. A command that does both becomes several: one for each source
//! file, and one that links the results.
//!
//! A command line is parsed only as far as this needs: which words are options, which options take the next word, and
//! which of the others are source files.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{COMPILERS, CannotInstrument};
use crate::runtime::Runtime;

/// The compiler's command-line dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// GCC's options.
    Gcc,
    /// Clang's options.
    Clang,
}

/// Programs that are put before a compiler on the command line.
const LAUNCHERS: [&str; 4] = ["ccache", "sccache", "distcc", "icecc"];

/// The number of words at the start of a command that name a compiler; `None` if it is not a compiler command.
pub fn compiler_words(command: &[OsString]) -> Option<usize> {
    let place = command.iter().position(|word| !LAUNCHERS.contains(&file_name(word)))?;
    is_compiler(&command[place]).then_some(place + 1)
}

/// Whether a program has a compiler's name: `g++`, `x86_64-linux-gnu-gcc-12`, `clang++-14` and so on.
fn is_compiler(program: &OsStr) -> bool {
    let name = file_name(program);
    let is_version = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == '.');
    let name = match name.rsplit_once('-') {
        Some((name, version)) if is_version(version) => name,
        _ => name,
    };
    COMPILERS.contains(&name.rsplit('-').next().unwrap_or_default())
}

impl Family {
    /// The family of a program with this name, links followed.
    pub fn of(program: &Path) -> Family {
        match file_name(program.as_os_str()).contains("clang") {
            true => Family::Clang,
            false => Family::Gcc,
        }
    }

    /// Added to compiler commands, before all other arguments, so that the user's options win.
    pub fn compile_flags(self) -> &'static [&'static str] {
        match self {
            // GCC warns about fences, although it does instrument them.
            Family::Gcc => &["-g", "-fsanitize=thread", "-Wno-tsan"],
            Family::Clang => &["-g", "-fsanitize=thread", "-Wno-unused-command-line-argument"],
        }
    }
}

/// Added to linker commands, before all other arguments: symbols are resolved in order.
pub fn link_flags(runtime: &Runtime) -> Vec<OsString> {
    let mut flags: Vec<OsString> = vec!["-Wl,--push-state,--no-as-needed".into()];
    flags.push(runtime.path().into());
    flags.extend(["-Wl,--pop-state", "-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
    flags.push(runtime.directory().into());
    flags
}

/// A compiler and how to call it.
#[derive(Debug, Clone)]
pub struct Compiler<'a> {
    /// The words that invoke it.
    pub words: &'a [OsString],
    /// Its dialect.
    pub family: Family,
}

impl Compiler<'_> {
    /// The commands to run instead of one with these arguments, in order. `between` is the directory for intermediate
    /// files.
    pub fn commands(
        &self,
        arguments: &[OsString],
        runtime: &Runtime,
        between: &Path,
    ) -> Result<Vec<Vec<OsString>>, CannotInstrument> {
        let arguments: Vec<Argument<'_>> = Argument::all(arguments);
        let has = |options: &[&str]| arguments.iter().any(|argument| argument.is_option(options));
        let has_inputs = arguments.iter().any(|argument| argument.is_input());
        let (compiles_only, links_partly) = (has(&["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"]), has(&["-r"]));
        if !has_inputs {
            // A query, such as for its version.
            return Ok(vec![self.command(arguments.iter())]);
        }
        if compiles_only {
            let mut command = self.words.to_vec();
            command.extend(self.family.compile_flags().iter().map(OsString::from));
            command.extend(arguments.iter().flat_map(|argument| argument.words.iter().cloned()));
            command.push(WITHOUT_LTO.into());
            return Ok(vec![command]);
        }
        if let Some(word) = ["-static", "-static-pie"].into_iter().find(|word| has(&[word])) {
            return Err(CannotInstrument::Static(word.into()));
        }
        let sources: Vec<usize> = (0..arguments.len()).filter(|&place| arguments[place].is_source()).collect();
        let object = |place: usize| {
            let source = Path::new(&arguments[place].words[0]).file_stem().unwrap_or(OsStr::new("input"));
            let mut name = OsString::from(format!("{place}-"));
            name.push(source);
            name.push(".o");
            between.join(name)
        };
        let mut commands = Vec::new();
        for &source in &sources {
            let mut command = self.words.to_vec();
            command.extend(self.family.compile_flags().iter().map(OsString::from));
            let options = arguments.iter().filter(|argument| !argument.is_input() && !argument.is_for_linking());
            command.extend(options.flat_map(|argument| argument.words.iter().cloned()));
            if let Some(language) = arguments[source].language {
                command.extend(["-x".into(), language.to_owned()]);
            }
            command.extend([OsString::from(WITHOUT_LTO), "-c".into(), arguments[source].words[0].clone(), "-o".into()]);
            command.push(object(source).into());
            commands.push(command);
        }
        let mut link = self.words.to_vec();
        if !links_partly {
            link.extend(link_flags(runtime));
        }
        for (place, argument) in arguments.iter().enumerate() {
            if sources.contains(&place) {
                link.push(object(place).into());
            } else if !argument.is_option(&["-fsanitize=thread", "-x"]) {
                link.extend_from_slice(argument.words);
            }
        }
        link.push(WITHOUT_LTO.into());
        commands.push(link);
        Ok(commands)
    }

    fn command<'b>(&self, arguments: impl Iterator<Item = &'b Argument<'b>>) -> Vec<OsString> {
        let arguments = arguments.flat_map(|argument| argument.words.iter().cloned());
        self.words.iter().cloned().chain(arguments).collect()
    }
}

/// Link-time optimization would compile at link time, without instrumentation.
const WITHOUT_LTO: &str = "-fno-lto";

/// An input, or an option with its value.
struct Argument<'a> {
    words: &'a [OsString],
    /// The language set for this input.
    language: Option<&'a OsStr>,
}

impl<'a> Argument<'a> {
    fn all(words: &'a [OsString]) -> Vec<Argument<'a>> {
        let (mut all, mut language, mut rest) = (Vec::new(), None, words);
        while let Some(first) = rest.first() {
            let count = if VALUED.iter().any(|option| first == option) { 2.min(rest.len()) } else { 1 };
            let (words, after) = rest.split_at(count);
            match (first.to_str(), words.get(1)) {
                (Some("-x"), Some(value)) => language = Some(value.as_os_str()).filter(|value| *value != "none"),
                (Some(first), None) if first.len() > 2 && first.starts_with("-x") => {
                    language = Some(OsStr::new(&first[2..])).filter(|value| *value != "none");
                }
                _ => {}
            }
            all.push(Argument { words, language });
            rest = after;
        }
        all
    }

    fn text(&self) -> &str {
        self.words[0].to_str().unwrap_or_default()
    }

    fn is_input(&self) -> bool {
        // A single dash is the standard input.
        self.words.len() == 1 && (!self.text().starts_with('-') || self.text() == "-")
    }

    fn is_option(&self, options: &[&str]) -> bool {
        options.contains(&self.text()) || (self.text().starts_with("-x") && options.contains(&"-x"))
    }

    fn is_source(&self) -> bool {
        const EXTENSIONS: [&str; 15] =
            ["c", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "i", "ii", "m", "mm", "s", "S", "sx"];
        let extension = Path::new(self.text()).extension().and_then(OsStr::to_str);
        self.is_input()
            && (self.language.is_some() || extension.is_some_and(|extension| EXTENSIONS.contains(&extension)))
    }

    /// Whether it only concerns linking, not the compilation of one source file.
    fn is_for_linking(&self) -> bool {
        const STARTS: [&str; 4] = ["-l", "-Wl,", "-x", "-o"];
        self.is_option(&["-Xlinker", "-z", "-T", "-u", "-e", "-shared", "-rdynamic", "-r"])
            || STARTS.iter().any(|start| self.text().starts_with(start))
    }
}

/// Options whose value is the next word.
const VALUED: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-G",
    "-A",
    "-F",
    "-arch",
    "-aux-info",
    "-b",
    "-dumpbase",
    "-dumpdir",
    "-framework",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-mllvm",
    "-MF",
    "-MQ",
    "-MT",
    "-target",
    "-wrapper",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "--param",
    "--sysroot",
    "--target",
];

fn file_name(word: &OsStr) -> &str {
    Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn check(command: &str) -> String {
        let command = words(command);
        let (compiler, arguments) = command.split_at(compiler_words(&command).unwrap());
        let compiler = Compiler { words: compiler, family: Family::of(Path::new(compiler.last().unwrap())) };
        match compiler.commands(arguments, &Runtime::at(Path::new("/r")), Path::new("/t")) {
            Ok(commands) => {
                let line = |command: &Vec<OsString>| command.join(OsStr::new(" ")).into_string().unwrap();
                commands.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn compilers_are_known_by_their_names() {
        let check = |command: &str| compiler_words(&words(command));
        assert_eq!(check("g++ x.cpp"), Some(1));
        assert_eq!(check("ccache /usr/bin/x86_64-linux-gnu-gcc-12 -c x.c"), Some(2));
        assert_eq!(check("clang++-14"), Some(1));
        for other in ["make", "cmake --build build", "ccache", "gcc-ar", "cargo build", ""] {
            assert_eq!(check(other), None, "{other}");
        }
    }

    #[test]
    fn commands_that_compile_are_instrumented() {
        insta::assert_snapshot!(check("g++ -O2 -c x.cpp -o x.o"), @"g++ -g -fsanitize=thread -Wno-tsan -O2 -c x.cpp -o x.o -fno-lto");
        insta::assert_snapshot!(check("ccache clang -c x.c"), @"ccache clang -g -fsanitize=thread -Wno-unused-command-line-argument -c x.c -fno-lto");
    }

    #[test]
    fn commands_that_link_have_the_runtime_first() {
        insta::assert_snapshot!(check("g++ -fsanitize=thread -flto x.o -o x -lpthread"), @"g++ -Wl,--push-state,--no-as-needed /r/libomnilink_sched.so -Wl,--pop-state -Xlinker -rpath -Xlinker /r -flto x.o -o x -lpthread -fno-lto");
        insta::assert_snapshot!(check("gcc -r a.o b.o -o c.o"), @"gcc -r a.o b.o -o c.o -fno-lto");
        insta::assert_snapshot!(check("gcc -static x.o"), @"`-static` is unsupported: the runtime is a shared library");
    }

    #[test]
    fn commands_that_do_both_are_split() {
        insta::assert_snapshot!(check("g++ -O2 -I include a.cpp lib/b.cc c.o -o out/x -pthread -l m -Wl,-z,now"), @"
        g++ -g -fsanitize=thread -Wno-tsan -O2 -I include -pthread -fno-lto -c a.cpp -o /t/2-a.o
        g++ -g -fsanitize=thread -Wno-tsan -O2 -I include -pthread -fno-lto -c lib/b.cc -o /t/3-b.o
        g++ -Wl,--push-state,--no-as-needed /r/libomnilink_sched.so -Wl,--pop-state -Xlinker -rpath -Xlinker /r -O2 -I include /t/2-a.o /t/3-b.o c.o -o out/x -pthread -l m -Wl,-z,now -fno-lto
        ");
        insta::assert_snapshot!(check("clang -x c one.txt -xnone two.o"), @"
        clang -g -fsanitize=thread -Wno-unused-command-line-argument -x c -fno-lto -c one.txt -o /t/1-one.o
        clang -Wl,--push-state,--no-as-needed /r/libomnilink_sched.so -Wl,--pop-state -Xlinker -rpath -Xlinker /r /t/1-one.o two.o -fno-lto
        ");
    }

    #[test]
    fn questions_are_left_alone() {
        assert_eq!(check("g++ --version"), "g++ --version");
        assert_eq!(check("gcc -print-file-name=libc.so -x c"), "gcc -print-file-name=libc.so -x c");
    }
}
