//! `omnilink completions` and `omnilink man`: scripts that shells accept, and a page for every command.

mod tool;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the command without errors, and returns its output.
fn output(args: &[&str]) -> String {
    let ran = tool::run(Path::new("."), args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

/// The command and all its subcommands, as lists of words, from their help texts.
fn commands() -> Vec<Vec<String>> {
    let (mut found, mut waiting) = (Vec::new(), vec![Vec::<String>::new()]);
    while let Some(words) = waiting.pop() {
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = output(&args);
        // No other lines are indented by two spaces and begin with a letter.
        let is_command = |line: &&str| line.starts_with(|first: char| first.is_ascii_lowercase());
        let lines = help.lines().filter_map(|line| line.strip_prefix("  ")).filter(is_command);
        let unlisted = help.split_once("Not listed: ").map_or("", |(_, names)| names).split([',', ' ', '\n']);
        let names = lines.filter_map(|line| line.split(' ').next()).chain(unlisted);
        for name in names.filter(|name| !name.is_empty() && *name != "help") {
            waiting.push(words.iter().cloned().chain([name.to_owned()]).collect());
        }
        found.push(words);
    }
    found
}

/// Completes the last of the words after the path of the script, as bash does when a user types a tab.
const COMPLETE: &str = r#"
. "$0"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_omnilink omnilink "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[*]}"
"#;

#[test]
fn bash_completes_commands_and_options() {
    let script = tool::directory("completions").join("omnilink.bash");
    fs::write(&script, output(&["completions", "bash"])).expect("a file for a test");
    let complete = |words: &[&str]| {
        let ran = Command::new("bash").args(["-c", COMPLETE]).arg(&script).args(words).output().expect("bash runs");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("completions are text")
    };
    insta::assert_snapshot!(complete(&["omnilink", "sp"]), @"spec");
    // Former names of commands are not offered.
    insta::assert_snapshot!(complete(&["omnilink", "ex"]), @"");
    insta::assert_snapshot!(complete(&["omnilink", "spec", "l"]), @"list levels");
    insta::assert_snapshot!(complete(&["omnilink", "check", "--max-"]), @"--max-memory --max-width");
    insta::assert_snapshot!(complete(&["omnilink", "completions", ""]), @"-h --color --help bash elvish fish powershell zsh");
}

#[test]
fn every_shell_knows_every_command() {
    let commands = commands();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(&["completions", shell]);
        for name in commands.iter().flatten() {
            assert!(script.contains(name.as_str()), "{shell}: {name}");
        }
    }
}

/// The requests that pages use. `man` ignores others, with the rest of their line.
const REQUESTS: [&str; 10] = [".TH", ".SH", ".PP", ".TP", ".IP", ".RS", ".RE", ".br", ".ie", ".el"];

#[test]
fn every_command_has_a_page() {
    let directory = tool::directory("man").join("man1");
    output(&["man", "--out", &directory.display().to_string()]);
    let pages = fs::read_dir(&directory).expect("a directory of pages").map(|entry| entry.expect("a page").path());
    let pages: BTreeSet<PathBuf> = pages.collect();
    let page = |words: &Vec<String>| {
        let name = ["omnilink"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        directory.join(format!("{name}.1"))
    };
    assert_eq!(pages, commands().iter().map(page).collect());
    for path in pages {
        let text = fs::read_to_string(&path).expect("a page is text");
        let name = path.file_stem().expect("a page has a name").to_string_lossy().into_owned();
        assert!(text.contains(&format!("\n.TH {name} 1")), "{}", path.display());
        assert!(text.contains("\n.SH NAME\n") && text.contains("\n.SH OPTIONS\n"), "{}", path.display());
        let mut requests = text.lines().filter(|line| line.starts_with(['.', '\'']));
        let unknown = requests.find(|line| !REQUESTS.contains(&line.split(' ').next().unwrap_or_default()));
        assert_eq!(unknown, None, "{}", path.display());
    }
}

#[test]
fn pages_need_a_directory() {
    let directory = tool::directory("man-wrong");
    fs::write(directory.join("file"), "").expect("a file for a test");
    insta::assert_snapshot!(tool::run(&directory, &["man", "--out", "file"]).shown(), @"
    error: file: cannot be created: File exists (os error 17)
    exit 2
    ");
}
