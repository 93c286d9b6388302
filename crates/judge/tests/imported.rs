//! A specification that was received from elsewhere sees nothing of this machine.

use std::path::Path;

use omnilink_judge::{Case, CheckOptions, Failed, Judge, Recording, Unlimited};

/// The result of one operation if its action needs this to be true.
fn check(directory: &Path, needs: &str, settings: &str, is_foreign: bool) -> String {
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("a file");
    let text = format!(
        "---- MODULE Spy ----\nEXTENDS Integers, Sequences, Json, IOUtils\nVARIABLE x\nInit == x = 0\n\
         Add(n) == x' = x + n /\\ {needs}\nNext == \\E n \\in 0..5 : Add(n)\n====\n"
    );
    write("Spy.tla", &text);
    write("Spy.cfg", "INIT Init\nNEXT Next\n");
    write("omnilink.toml", settings);
    write("t.jsonl", "{\"process\": 0, \"action\": \"Add\", \"args\": [1], \"start\": 1, \"end\": 2}\n");
    let told = |failed: Failed| match failed {
        Failed::Spec(complaints) => complaints[0].message.clone(),
        other => format!("{other:?}"),
    };
    let spec = directory.join("Spy.tla").display().to_string();
    let judge = match Judge::new(&spec, CheckOptions { is_foreign, ..CheckOptions::default() }) {
        Ok(judge) => judge,
        Err(failed) => return told(failed),
    };
    let path = directory.join("t.jsonl");
    let report = judge.report(&mut Case {
        recording: &Recording::at(&path, None),
        label: "t",
        witness: None,
        limits: &Unlimited,
    });
    report.map_or_else(told, |report| report.verdict.word().to_owned())
}

/// The results of the same specification as the user's own and as an imported one.
fn both(directory: &Path, needs: &str, settings: &str) -> (String, String) {
    let hide = |text: String| text.replace(&directory.display().to_string(), "HERE");
    (hide(check(directory, needs, settings, false)), hide(check(directory, needs, settings, true)))
}

#[test]
fn files_are_not_read() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("secret.json"), "[1, 2]").expect("a file");
    let secret = directory.path().join("secret.json");
    let (own, imported) = both(directory.path(), &format!("Len(JsonDeserialize(\"{}\")) = 2", secret.display()), "");
    assert_eq!(own, "accepted");
    insta::assert_snapshot!(imported, @"T0:0 Add(1): cannot read `HERE/secret.json`: file access is disabled for imported specifications");
}

#[test]
fn the_environment_is_empty() {
    let directory = tempfile::tempdir().expect("a directory");
    let (own, imported) = both(directory.path(), "DOMAIN IOEnv # {}", "");
    assert_eq!((own.as_str(), imported.as_str()), ("accepted", "rejected"));
}

#[test]
fn the_companion_is_beside_the_specification() {
    let directory = tempfile::tempdir().expect("a directory");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let companion = elsewhere.path().join("Other.tla");
    std::fs::write(&companion, "---- MODULE Other ----\nEXTENDS Spy\n====\n").expect("a file");
    let settings = format!("companion = \"{}\"\n", companion.display());
    let imported = check(directory.path(), "TRUE", &settings, true);
    let expected =
        format!("the settings name the companion `{}`, which is not beside the specification", companion.display());
    assert_eq!(imported, expected);
}
