//! The text of `omnilink.toml` that `omnilink init` writes: a new file, or an existing one with the harness added.
//!
//! Settings of a specification that has no harness yet stay as they are, comments included: lines are added at the top,
//! below `[harness]` and at the end, and nowhere else. Each added text is returned, so that it can be removed again.

use omnilink_settings::Settings;

/// The keys of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commands {
    /// The lines below `[harness]`.
    pub(crate) harness: String,
    /// The section `[harness.controlled]`, or nothing.
    pub(crate) controlled: String,
}

/// The amount of runs.
pub(crate) const PROFILES: &str = r#"
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
"#;

/// The schema for editors, relative to the settings.
pub(crate) const SCHEMA_FILE: &str = "omnilink/settings.schema.json";

/// The first line of settings.
pub(crate) fn schema_line() -> String {
    format!("#:schema ./{SCHEMA_FILE}\n")
}

/// A new file. It has the settings of the specification, if there are some, without those of another harness.
pub(crate) fn new_settings(spec: &str, of_spec: &str, commands: &Commands) -> Result<String, String> {
    let text = without_harness(of_spec);
    let (text, _) = add_harness(&text, spec, commands)?;
    Ok(text)
}

/// Settings with a harness, and the texts that were added.
pub(crate) fn add_harness(text: &str, spec: &str, commands: &Commands) -> Result<(String, Vec<String>), String> {
    let wrong = |error: omnilink_settings::BadSettings| error.to_string();
    let before = Settings::parse(text).map_err(wrong)?;
    if !before.harness.run.is_empty() || !before.harness.build.is_empty() {
        return Err("it has a harness already: `build` and `run` in `[harness]`".to_owned());
    }
    let mut added = Vec::new();
    let mut top = String::new();
    if !text.starts_with("#:schema") {
        top += &schema_line();
    }
    match &before.spec {
        None => top += &format!("spec = {}\n", quoted(spec)),
        Some(named) if named == spec => {}
        Some(named) => return Err(format!("`spec` is `{named}`, and not `{spec}`")),
    }
    // The keys of the file follow.
    let is_separate = text.lines().next().is_some_and(|line| line.starts_with('['));
    if !top.is_empty() {
        top += if is_separate { "\n" } else { "" };
        added.push(top.clone());
    }
    let mut result = top;
    let mut is_added = false;
    for line in text.split_inclusive('\n') {
        result += line;
        if line.trim_end() == "[harness]" && !is_added {
            let lines = format!("{}{}", if line.ends_with('\n') { "" } else { "\n" }, commands.harness);
            result += &lines;
            added.push(lines);
            is_added = true;
        }
    }
    let mut end = if result.ends_with('\n') { String::new() } else { "\n".to_owned() };
    if !is_added {
        end += &format!("\n[harness]\n{}", commands.harness);
    }
    end += &commands.controlled;
    if before.profile.is_empty() {
        end += PROFILES;
    }
    if !end.is_empty() {
        result += &end;
        added.push(end);
    }
    let after = Settings::parse(&result).map_err(wrong)?;
    let is_whole = !after.harness.run.is_empty() && after.spec.as_deref() == Some(spec);
    if !is_whole || added.iter().any(|added| result.matches(added.as_str()).count() != 1) {
        return Err("the keys of a harness cannot be added".to_owned());
    }
    Ok((result, added))
}

/// Settings without `spec` and without the commands of a harness.
fn without_harness(text: &str) -> String {
    let (mut section, mut open, mut result) = (String::new(), 0, String::new());
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_value_continued = open > 0;
        if !is_value_continued && trimmed.starts_with('[') {
            section = trimmed.to_owned();
        }
        let key = trimmed.split('=').next().unwrap_or_default().trim();
        let is_left_out = is_value_continued
            || match &*section {
                "" => key == "spec" || trimmed.starts_with("#:schema"),
                "[harness]" => ["build", "run", "generated"].contains(&key),
                "[harness.controlled]" => true,
                _ => false,
            };
        match is_left_out {
            // A list may go on for several lines.
            true if section == "[harness]" => {
                open += trimmed.matches('[').count();
                open = open.saturating_sub(trimmed.matches(']').count());
            }
            true => {}
            false => result += line,
        }
    }
    result
}

/// A string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Commands {
        Commands { harness: "build = [\"make\"]\nrun = [\"./h\"]\n".into(), controlled: String::new() }
    }

    #[test]
    fn added_texts_are_all_that_changes() {
        let texts = [
            "",
            "nil = \"None\"",
            "# Mine.\n[constants]\nElems = [\"*.elem\"]\n",
            "[harness]\nunsupported = [\"Compact\"]\n\n[profile.default]\nruns = 1\n",
            "spec = \"Q.tla\"\n[harness.values]\n\"Enqueue.elem\" = \"fresh\"\n",
            "[harness]",
        ];
        for text in texts {
            let (mut result, added) = add_harness(text, "Q.tla", &commands()).unwrap();
            assert_eq!(Settings::parse(&result).unwrap().harness.run, ["./h"], "{result}");
            added.iter().for_each(|added| result = result.replacen(added.as_str(), "", 1));
            assert_eq!(result, text);
        }
        let wrong = |text: &str| add_harness(text, "Q.tla", &commands()).unwrap_err();
        assert!(wrong("spec = \"Other.tla\"").contains("`spec` is `Other.tla`"));
        assert!(wrong("nil = 3").contains("invalid type"));
    }

    #[test]
    fn settings_of_a_specification_are_taken_without_its_harness() {
        let text = "spec = \"old.tla\"\nnil = \"None\"\n[harness]\nbuild = [\n  \"x\",\n]\nrun = [\"y\"]\nunsupported = [\"A\"]\n\
                    [harness.controlled]\nrun = [\"z\"]\n[profile.ci]\nruns = 3\n";
        insta::assert_snapshot!(new_settings("../Q.tla", text, &commands()).unwrap(), @r#"
        #:schema ./omnilink/settings.schema.json
        spec = "../Q.tla"
        nil = "None"
        [harness]
        build = ["make"]
        run = ["./h"]
        unsupported = ["A"]
        [profile.ci]
        runs = 3
        "#);
    }
}
