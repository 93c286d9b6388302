//! `omnilink spec simulate`: random behaviors of a specification, or a few that cover it.

use indicatif::HumanCount;
use omnilink_judge::{Complaint, limit, quoted};
use omnilink_suggest::{counted, plural};
use omnilink_tla::program::Program;
use omnilink_tla::reach::{Choose, Cover, Limit, Simulated, Stats, Verdict, Visited, WalkPlan, cover, simulate};
use serde_json::json;

use super::behavior::{Calls, Files};
use super::visit::{Found, Visit, Way, visit};
use super::{check, refuse};
use crate::args::{ChooseBy, CoverBy, SpecSimulateArgs, StatesArgs};
use crate::exit::Exit;
use crate::limits::Limits;

const WAY: Way = Way { schema: "omnilink.spec-simulate/1", passed: "passed" };

pub(crate) fn run(args: &SpecSimulateArgs) -> Exit {
    let until: Vec<&str> = args.until.as_deref().into_iter().collect();
    let calls = match Calls::of(args) {
        Ok(calls) => calls,
        Err(complaints) => return refuse(WAY.schema, &complaints, args.states.located.format),
    };
    visit(WAY, &args.states, &until, |given| {
        let files = Files::new(args, given.program, calls.as_ref())?;
        match args.cover {
            None => walk(args, files, given),
            Some(parts) => cover_all(args, files, parts, given),
        }
    })
}

/// Makes random walks.
fn walk(args: &SpecSimulateArgs, mut files: Files<'_>, given: &Visit<'_>) -> Result<Found, Complaint> {
    let plan = WalkPlan {
        first: args.walk.unwrap_or(0),
        walks: args.walk.map_or(args.walks, |_| 1),
        depth: args.depth,
        seed: args.seed,
        choose: match args.choose {
            ChooseBy::Successor => Choose::Successor,
            ChooseBy::Action => Choose::Action,
        },
        until: given.expressions.first().copied(),
    };
    let mut watch = |visited: &Visited| watch_walks(args, given.limits, visited);
    let mut keep = |number: u64, behavior: &[_]| files.keep(&format!("walk-{number:06}"), behavior);
    let Simulated { verdict, walk, visited } = simulate(given.program, &plan, (given.worlds)(), &mut watch, &mut keep);
    let written = files.finish(&verdict)?;
    let unused = unused(given.program, &visited);
    let stats = json!({
        "seed": args.seed,
        "walk": walk,
        "walks": visited.walks,
        "steps": visited.steps,
        "generated": visited.generated,
        "states": visited.states,
        "transitions": visited.transitions,
        "new_steps": visited.share_of_new_steps(),
        "counted_in_part": visited.is_counted_in_part,
        "actions": visited.actions,
        "actions_not_taken": unused,
        "files": written,
    });
    let is_stopped = matches!(verdict, Verdict::Stopped { .. });
    let repeat = walk.filter(|_| !is_stopped).map(|number| again(args, number));
    let (depth, seed, goal) = (args.depth, args.seed, args.until.clone());
    Ok(Found {
        verdict,
        generated: visited.generated,
        distinct: visited.states,
        counts: Box::new(move |elapsed| {
            let mut lines = vec![format!(
                "{} of at most {} from seed {seed}: {}, {} generated{}",
                number(visited.walks, "walk"),
                counted(depth as u64, "step"),
                number(visited.steps, "step"),
                number(visited.generated, "state"),
                check::rate(visited.generated, elapsed),
            )];
            lines.push(reached(&visited));
            if let Some(goal) = &goal {
                lines.push(format!("`{goal}` became true in {}", counted(visited.at_goal, "walk")));
            }
            if !unused.is_empty() {
                lines.push(format!("never taken: {}", unused.join(", ")));
            }
            lines.extend(written.iter().cloned());
            lines.extend(repeat.iter().map(|command| format!("repeat this walk: {command}")));
            lines
        }),
        stats,
    })
}

/// A number with its noun: `1,033 transitions`.
fn number(count: u64, noun: &str) -> String {
    format!("{} {}", HumanCount(count), plural(count, noun))
}

/// The visited part of the specification: `412 states and 1,033 transitions; 12 % of further steps would be new`.
fn reached(visited: &Visited) -> String {
    let least = if visited.is_counted_in_part { "at least " } else { "" };
    format!(
        "visited {least}{} and {}; about {:.1} % of further steps would be new",
        number(visited.states, "state"),
        number(visited.transitions, "transition"),
        visited.share_of_new_steps() * 100.0,
    )
}

/// The actions of the next-state relation that no walk took.
fn unused(program: &Program, visited: &Visited) -> Vec<String> {
    let mut unused: Vec<String> = Vec::new();
    for action in &program.actions {
        if !visited.actions.contains_key(&action.name) && !unused.contains(&action.name) {
            unused.push(action.name.clone());
        }
    }
    unused
}

/// The command that makes one walk again.
fn again(args: &SpecSimulateArgs, number: u64) -> String {
    let StatesArgs { deadlock, skip_properties, skip_liveness, located, .. } = &args.states;
    let mut command = format!("omnilink spec simulate {}{}", quoted(located.file.display()), located.around.again());
    let mut add = |option: &str, is_given: bool, value: String| {
        if is_given {
            command += &format!(" {option}{}{value}", if value.is_empty() { "" } else { " " });
        }
    };
    add("--deadlock", deadlock.is_some(), deadlock.unwrap_or_default().to_string());
    add("--skip-properties", *skip_properties, String::new());
    add("--skip-liveness", *skip_liveness, String::new());
    add("--seed", true, args.seed.to_string());
    add("--choose", args.choose == ChooseBy::Action, "action".to_owned());
    add("--until", args.until.is_some(), args.until.as_ref().map(quoted).unwrap_or_default());
    add("--depth", true, args.depth.to_string());
    add("--walk", true, number.to_string());
    command
}

fn watch_walks(args: &SpecSimulateArgs, limits: &Limits, visited: &Visited) -> Option<Limit> {
    if args.states.max_states.is_some_and(|most| visited.states >= most) {
        return Some(Limit::States);
    }
    let progress = |seconds: f64| {
        let rate = HumanCount((visited.generated as f64 / seconds) as u64);
        format!(
            "{} walks, {} states generated, {rate} per second, {} visited",
            HumanCount(visited.walks),
            HumanCount(visited.generated),
            HumanCount(visited.states)
        )
    };
    limits.stop(progress).map(limit)
}

/// Makes a set of behaviors that covers the specification.
fn cover_all(
    args: &SpecSimulateArgs,
    mut files: Files<'_>,
    parts: CoverBy,
    given: &Visit<'_>,
) -> Result<Found, Complaint> {
    let (kind, noun) = match parts {
        CoverBy::Actions => (Cover::Actions, "action"),
        CoverBy::States => (Cover::States, "state"),
        CoverBy::Transitions => (Cover::Transitions, "transition"),
    };
    let mut watch = |stats: &Stats| check::watch(&args.states, given.limits, stats);
    let mut keep = |number: u64, behavior: &[_]| files.keep(&format!("behavior-{number:06}"), behavior);
    let covered = cover(given.program, kind, args.depth, given.worlds, &mut watch, &mut keep);
    let written = files.finish(&covered.verdict)?;
    let holds = matches!(covered.verdict, Verdict::Holds { .. });
    let stats = json!({
        "generated": covered.stats.generated,
        "distinct": covered.stats.distinct,
        "depth": covered.stats.depth,
        "covered": holds.then_some(json!({ "kind": noun, "count": covered.parts })),
        "behaviors": covered.behaviors,
        "steps": covered.steps,
        "files": written,
    });
    let (stats_of, behaviors, taken, count) = (covered.stats, covered.behaviors, covered.steps, covered.parts);
    Ok(Found {
        verdict: covered.verdict,
        generated: stats_of.generated,
        distinct: stats_of.distinct,
        counts: Box::new(move |elapsed| {
            let mut lines = vec![format!(
                "{} distinct {}, depth {}{}",
                HumanCount(stats_of.distinct),
                plural(stats_of.distinct, "state"),
                stats_of.depth,
                check::rate(stats_of.generated, elapsed),
            )];
            if holds {
                lines.push(format!(
                    "{} with {} cover all {}",
                    counted(behaviors, "behavior"),
                    number(taken, "step"),
                    number(count, noun),
                ));
            }
            lines.extend(written.iter().cloned());
            lines
        }),
        stats,
    })
}
