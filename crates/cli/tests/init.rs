//! `omnilink init` for a specification of the user: in projects of each build system and in new ones, and its removal.
//!
//! A Cargo and a CMake project are built and fuzzed every time. What is generated for the specifications of the examples
//! is in `harness.rs`.

mod tool;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A stack, with a configuration for TLC.
const STACK: [(&str, &str); 2] = [
    (
        "specs/Stack.tla",
        "---- MODULE Stack ----
EXTENDS Integers, Sequences
CONSTANT Elems
VARIABLE stack
Init == stack = <<>>
Push(elem) == stack' = <<elem>> \\o stack
Pop(elem) == stack # <<>> /\\ elem = Head(stack) /\\ stack' = Tail(stack)
PopEmpty == stack = <<>> /\\ UNCHANGED stack
Next == PopEmpty \\/ \\E elem \\in Elems : Push(elem) \\/ Pop(elem)
====
",
    ),
    ("specs/Stack.cfg", "CONSTANT Elems = {1, 2, 3}\nINIT Init\nNEXT Next\n"),
];

const CARGO: [(&str, &str); 2] = [
    ("Cargo.toml", "[package]\nname = \"stack\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n"),
    (
        "src/lib.rs",
        "use std::sync::Mutex;

#[derive(Default)]
pub struct Stack(Mutex<Vec<i64>>);

impl Stack {
    pub fn push(&self, elem: i64) {
        self.0.lock().unwrap().push(elem);
    }
    pub fn pop(&self) -> Option<i64> {
        self.0.lock().unwrap().pop()
    }
    /// Two threads may take the same element.
    pub fn pop_racy(&self) -> Option<i64> {
        let elem = self.0.lock().unwrap().last().copied()?;
        self.0.lock().unwrap().pop();
        Some(elem)
    }
}
",
    ),
];

const CMAKE: [(&str, &str); 4] = [
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.14)\nproject(stack CXX)\nadd_library(stack src/stack.cpp)\n\
         target_include_directories(stack PUBLIC include)\ntarget_compile_features(stack PUBLIC cxx_std_17)\n",
    ),
    (
        "include/stack.hpp",
        "#pragma once\n#include <mutex>\n#include <optional>\n#include <vector>\nstruct Stack {\n  std::mutex lock;\n  \
         std::vector<long> elems;\n  void push(long elem);\n  std::optional<long> pop();\n};\n",
    ),
    (
        "src/stack.cpp",
        "#include \"stack.hpp\"\nvoid Stack::push(long elem) {\n  std::lock_guard<std::mutex> guard(lock);\n  \
         elems.push_back(elem);\n}\nstd::optional<long> Stack::pop() {\n  std::lock_guard<std::mutex> guard(lock);\n  \
         if (elems.empty()) return std::nullopt;\n  long elem = elems.back();\n  elems.pop_back();\n  return elem;\n}\n",
    ),
    (".gitignore", "/build"),
];

/// A directory with these files.
fn project(name: &str, files: &[&[(&str, &str)]]) -> PathBuf {
    let directory = tool::directory(&format!("adopt-{name}"));
    for (path, text) in files.iter().copied().flatten() {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory for a test");
        fs::write(path, text).expect("a file for a test");
    }
    directory
}

/// All files below a directory, but for those of builds.
fn files(directory: &Path) -> BTreeMap<PathBuf, String> {
    fn collect(directory: &Path, root: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => collect(&path, root, found),
                false => {
                    let name = path.strip_prefix(root).expect("a path below the directory").to_owned();
                    found.insert(name, fs::read_to_string(&path).unwrap_or_default());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(directory, directory, &mut found);
    found
}

/// Replaces texts in a file.
fn edit(path: &Path, replaced: &[(&str, &str)]) {
    let mut text = fs::read_to_string(path).expect("a file to edit");
    for (from, to) in replaced {
        assert!(text.contains(from), "`{from}` in {text}");
        text = text.replace(from, to);
    }
    fs::write(path, text).expect("a file to edit");
}

/// Runs the command, which must end with this code.
fn run(directory: &Path, args: &str, code: i32) -> String {
    let ran = tool::run(directory, &args.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, code, "{args}: {}", ran.shown());
    ran.shown()
}

#[test]
fn a_crate_gets_a_harness_and_loses_it_again() {
    let directory = project("cargo", &[&CARGO, &STACK]);
    let before = files(&directory);
    insta::assert_snapshot!(run(&directory, "init --spec specs/Stack.tla", 0), @"
    created omnilink.toml
    created omnilink/src/operations.rs: generated, do not edit
    created omnilink/src/main.rs: to fill in (pop, push)
    created omnilink/settings.schema.json
    created omnilink/.gitignore
    created omnilink/Cargo.toml
    created omnilink/record/: the recorder, 12 files
    created omnilink/init.json: the list of all this, for `omnilink init --undo`

    Stack.tla has 2 calls with 3 outcomes.
    The values of `Push.elem` repeat, which hides some failures: the end of omnilink.toml says how to draw each once.
    1. Fill in the functions in omnilink/src/main.rs that say `todo`: one call of your system each.
    2. `omnilink fuzz` builds the harness, runs it, and checks every run.
    exit 0
    ");
    insta::assert_snapshot!(run(&directory, "fuzz --runs 2", 2), @"
    error: omnilink/src/main.rs: fill in the functions `pop`, `push`, which still say `todo`
     |
    help: each makes one call of your system and returns its result; a call that the system does not have goes into `unsupported` of `[harness]`
    exit 2
    ");
    // The crate builds as before, and the harness builds before anything is filled in.
    for manifest in ["Cargo.toml", "omnilink/Cargo.toml"] {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--offline", "--quiet", "--manifest-path", manifest]).current_dir(&directory);
        assert!(cargo.status().expect("cargo runs").success(), "{manifest}");
    }
    let _ = fs::remove_dir_all(directory.join("target"));
    let _ = fs::remove_file(directory.join("Cargo.lock"));
    let main = directory.join("omnilink/src/main.rs");
    let written = fs::read_to_string(&main).expect("a file to fill in");
    let filled = [
        ("struct Subject;", "#[derive(Default)]\nstruct Subject(stack::Stack);"),
        ("&Subject)", "&Subject::default())"),
        ("_elem: i64", "elem: i64"),
        ("operations::todo(\"push\")", "self.0.push(elem)"),
        ("operations::todo(\"pop\")", "self.0.pop().map_or(Pop::Empty, |elem| Pop::Done { elem })"),
    ];
    edit(&main, &filled);
    assert!(run(&directory, "fuzz --runs 10 --seed 1", 0).contains("10 accepted"));
    edit(&main, &[("self.0.pop()", "self.0.pop_racy()")]);
    assert!(run(&directory, "fuzz --runs 500 --seed 1", 1).contains("rejected"));
    insta::assert_snapshot!(run(&directory, "init --undo", 2), @"
    error: edited since `omnilink init`, so nothing was removed: omnilink/src/main.rs
     |
    help: `omnilink init --undo --keep-edited` keeps these and removes the others
    exit 2
    ");
    fs::write(&main, written).expect("the file as it was");
    run(&directory, "init --undo", 0);
    fs::remove_dir_all(directory.join("target")).expect("kept runs");
    assert_eq!(files(&directory), before);
    assert!(!directory.join("omnilink").exists());
}

#[test]
fn a_harness_that_is_out_of_date_is_noticed() {
    let directory = project("stale", &[&STACK]);
    run(&directory, "init --spec specs/Stack.tla --lang cpp", 0);
    let operations = directory.join("operations.hpp");
    let written = fs::read_to_string(&operations).expect("a generated file");
    edit(&directory.join("main.cpp"), &[("operations::todo", "todo")]);
    // Values are those of a file that is ours: it is written again. The build fails, because nothing is filled in.
    edit(&directory.join("omnilink.toml"), &[("[harness]\n", "[harness]\nvalues = { \"Push.elem\" = [1, 3] }\n")]);
    let shown = run(&directory, "fuzz --runs 1", 2);
    assert!(shown.contains("wrote operations.hpp again: weights or values changed"), "{shown}");
    assert_ne!(fs::read_to_string(&operations).expect("a generated file"), written);
    let shown = run(&directory, "fuzz --runs 1", 2);
    assert!(!shown.contains("again"), "{shown}");
    // Calls concern the file of the user.
    edit(&directory.join("specs/Stack.tla"), &[("PopEmpty", "Nothing")]);
    insta::assert_snapshot!(run(&directory, "fuzz --runs 1", 2), @"
    error: operations.hpp is out of date with Stack.tla
     |
    note: added: call Nothing: Nothing(); removed: call Pop: PopEmpty()
    help: `omnilink init --update` writes it again; the compiler then names the functions to change
    exit 2
    ");
    assert!(run(&directory, "fuzz --runs 1 --no-build", 2).contains("omit `--no-build`"));
    // A line that is not part of a call makes no difference.
    edit(&directory.join("specs/Stack.tla"), &[("Nothing", "PopEmpty"), ("VARIABLE", "\n\n\\* Elements.\nVARIABLE")]);
    assert!(run(&directory, "fuzz --runs 1", 2).contains("the build failed"));
}

#[test]
fn a_cmake_project_is_linked() {
    if Command::new("cmake").arg("--version").output().is_err() {
        return;
    }
    let directory = project("cmake", &[&CMAKE, &STACK]);
    let before = files(&directory);
    insta::assert_snapshot!(run(&directory, "init --spec specs/Stack.tla", 0), @"
    created omnilink.toml
    created omnilink/operations.hpp: generated, do not edit
    created omnilink/main.cpp: to fill in (pop, push)
    created omnilink/settings.schema.json
    created omnilink/.gitignore
    created omnilink/CMakeLists.txt
    created omnilink/include/omnilink/: the recorder, 9 files
    changed .gitignore: 3 lines added
    created omnilink/init.json: the list of all this, for `omnilink init --undo`

    Stack.tla has 2 calls with 3 outcomes.
    The values of `Push.elem` repeat, which hides some failures: the end of omnilink.toml says how to draw each once.
    The harness links stack: omnilink/CMakeLists.txt.
    1. Fill in the functions in omnilink/main.cpp that say `todo`: each makes one call of your system.
    2. `omnilink fuzz` builds the harness, runs it, and checks every run.
    exit 0
    ");
    let filled = [
        ("#include \"operations.hpp\"", "#include \"operations.hpp\"\n#include <stack.hpp>"),
        ("  struct Session {};", "  Stack stack;\n  struct Session {};"),
        ("std::int64_t /*elem*/", "std::int64_t elem"),
        ("operations::todo(\"push\");", "stack.push(elem);"),
        (
            "operations::todo(\"pop\");",
            "if (auto elem = stack.pop()) return operations::PopDone{*elem};\n    return operations::PopEmpty{};",
        ),
    ];
    let main = directory.join("omnilink/main.cpp");
    let written = fs::read_to_string(&main).expect("a file to fill in");
    edit(&main, &filled);
    let shown = run(&directory, "fuzz --runs 5 --seed 1", 0);
    assert!(shown.contains("built for control") && shown.contains("5 accepted"), "{shown}");
    fs::write(&main, written).expect("the file as it was");
    run(&directory, "init --undo", 0);
    fs::remove_dir_all(directory.join("target/omnilink")).expect("scratch files");
    assert_eq!(files(&directory), before);
}

#[test]
fn other_projects_have_a_command_of_the_compiler() {
    for (file, text) in [("Makefile", "all:\n"), ("meson.build", "project('stack', 'cpp')\n")] {
        let directory = project("make", &[&[(file, text)], &STACK]);
        let before = files(&directory);
        let shown = run(&directory, "init --spec specs/Stack.tla", 0);
        assert!(shown.contains("created omnilink/main.cpp: to fill in (pop, push)"), "{shown}");
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Iomnilink/include", "omnilink/main.cpp"]);
        assert!(command.current_dir(&directory).status().expect("a compiler").success());
        run(&directory, "init --undo", 0);
        assert_eq!(files(&directory), before);
    }
}

#[test]
fn a_new_project_is_made_around_a_specification() {
    let directory = project("new", &[&STACK]);
    insta::assert_snapshot!(run(&directory, "init --spec specs/Stack.tla", 2), @"
    error: . has no Cargo, CMake, Meson or Make project
     |
    help: name the language of a new one: `--lang rust` or `--lang cpp`
    exit 2
    ");
    insta::assert_snapshot!(run(&directory, "init new --spec specs/Stack.tla --lang rust", 0), @"
    created omnilink.toml
    created src/operations.rs: generated, do not edit
    created src/main.rs: to fill in (pop, push)
    created omnilink/settings.schema.json
    created Cargo.toml
    created .gitignore
    created omnilink/record/: the recorder, 12 files
    created omnilink/init.json: the list of all this, for `omnilink init --undo`

    Stack.tla has 2 calls with 3 outcomes.
    The values of `Push.elem` repeat, which hides some failures: the end of omnilink.toml says how to draw each once.
    1. Fill in the functions in src/main.rs that say `todo`: one call of your system each.
    2. `cd new && omnilink fuzz` builds the harness, runs it, and checks every run.
    exit 0
    ");
    insta::assert_snapshot!(fs::read_to_string(directory.join("new/omnilink.toml")).expect("settings"), @r#"
    #:schema ./omnilink/settings.schema.json
    spec = "../specs/Stack.tla"

    [harness]
    build = ["cargo", "build", "--release", "--quiet", "--target-dir", "target"]
    run = ["target/release/harness"]

    # `omnilink fuzz` runs this much.
    [profile.default]
    time = "10s"
    threads = "2..4"
    operations = "50..200"
    perturb = ["none", "yield", "nap", "pin", "crowd"]
    timeout = "10s"

    # `omnilink fuzz --profile ci`: more of the same.
    [profile.ci]
    time = "3m"

    # Stack.cfg gives `Elems` few values, so those of `Push.elem` repeat: one that was removed and added again looks the
    # same (ABA). With these lines, `Elems` has the values of the run instead, and no value is drawn twice.
    # [constants]
    # Elems = ["Push.elem", "Pop.elem"]
    "#);
    insta::assert_snapshot!(run(&directory, "init new --spec specs/Stack.tla", 2), @"
    error: new/omnilink.toml: it has a harness already: `build` and `run` in `[harness]`
     |
    help: `omnilink init --update` writes an existing harness again; `omnilink init --undo` removes one of `init`
    exit 2
    ");
    insta::assert_snapshot!(run(&directory, "init elsewhere --undo", 2), @"
    error: elsewhere/omnilink/init.json: No such file or directory (os error 2)
     |
    help: `omnilink init` lists there what it wrote; without the list, nothing is removed
    exit 2
    ");
}

#[test]
fn settings_that_exist_are_added_to() {
    let own: &[(&str, &str)] = &[("omnilink.toml", "# Mine.\n[constants]\nElems = [\"*.elem\"]\n"), ("Makefile", "")];
    let directory = project("settings", &[own, &STACK]);
    let before = files(&directory);
    let shown = run(&directory, "init --spec specs/Stack.tla", 0);
    assert!(shown.contains("changed omnilink.toml: "), "{shown}");
    // The history says what elements there are, so each is drawn once.
    let operations = fs::read_to_string(directory.join("omnilink/operations.hpp")).expect("a generated file");
    assert!(operations.contains("random.fresh()"), "{operations}");
    // An edit elsewhere in the file stays.
    edit(&directory.join("omnilink.toml"), &[("# Mine.\n", "# Ours.\n")]);
    run(&directory, "init --undo", 0);
    edit(&directory.join("omnilink.toml"), &[("# Ours.\n", "# Mine.\n")]);
    assert_eq!(files(&directory), before);
}

#[test]
fn a_workspace_of_all_directories_is_left_alone() {
    let root: &[(&str, &str)] = &[("Cargo.toml", "[workspace]\nmembers = [\"*\"]\nresolver = \"2\"\n")];
    let member: &[(&str, &str)] = &[
        ("stack/Cargo.toml", "[package]\nname = \"stack\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("stack/src/lib.rs", ""),
    ];
    // All directories of this workspace are packages.
    let directory = project("workspace", &[root, member]);
    let spec = project("workspace-spec", &[&STACK]);
    let spec = spec.join("specs/Stack.tla").display().to_string();
    let shown = run(&directory, &format!("init --spec {spec}"), 0);
    assert!(shown.contains("changed Cargo.toml: 1 line added"), "{shown}");
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--offline", "--no-deps", "--format-version", "1"]).current_dir(&directory);
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run(&directory, "init --undo", 0);
    assert_eq!(fs::read_to_string(directory.join("Cargo.toml")).expect("a manifest"), root[0].1);
}

#[test]
fn missing_constants_are_named_with_the_lines_to_write() {
    let directory = project("constants", &[&STACK, &[("Makefile", "")]]);
    fs::remove_file(directory.join("specs/Stack.cfg")).expect("a configuration");
    insta::assert_snapshot!(run(&directory, "init --spec specs/Stack.tla", 2), @r#"
    error: the constant `Elems` has no value: no `specs/Stack.cfg` found
     --> specs/Stack.tla:3:10
      |
    3 | CONSTANT Elems
      |          ^^^^^ declared here
      |
    note: its values can be those of each history: `Elems = ["Push.elem", "Pop.elem"]` under `[constants]` in omnilink.toml
    help: it is used as a set: add a line such as `CONSTANT Elems = {e1, e2}` to specs/Stack.cfg
    exit 2
    "#);
    assert!(!directory.join("omnilink").exists() && !directory.join("omnilink.toml").exists());
    // Either way works.
    let settings = "[constants]\nElems = [\"Push.elem\", \"Pop.elem\"]\n";
    fs::write(directory.join("omnilink.toml"), settings).expect("settings");
    run(&directory, "init --spec specs/Stack.tla", 0);
    run(&directory, "init --undo", 0);
    assert_eq!(fs::read_to_string(directory.join("omnilink.toml")).expect("settings"), settings);
    fs::remove_file(directory.join("omnilink.toml")).expect("settings");
    fs::write(directory.join("specs/Stack.cfg"), "CONSTANT Elems = {e1, e2}\n").expect("a configuration");
    run(&directory, "init --spec specs/Stack.tla", 0);
}

#[test]
fn the_schema_of_the_settings_is_the_one_that_a_project_has() {
    let directory = project("schema", &[&STACK]);
    run(&directory, "init --spec specs/Stack.tla --lang cpp", 0);
    let ran = tool::run(&directory, &["schema"]);
    let written = fs::read_to_string(directory.join("omnilink/settings.schema.json")).expect("a schema");
    assert_eq!(ran.stdout, written);
    assert!(written.contains("\"title\": \"Settings of OmniLink\""));
    assert!(tool::run(&directory, &["schema", "report"]).stdout.contains("\"title\": \"A report of OmniLink\""));
}
