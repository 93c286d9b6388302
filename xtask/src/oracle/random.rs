//! Random expressions and specs, evaluated by TLC and by our engine.
//!
//! All choices follow from the seed. Expressions run in batches: a batch costs TLC a second and our engine almost
//! nothing. A spec needs a TLC run of its own. Printed values are compared after [`canonical`]; for errors, the
//! comparison is only whether there is one. A set whose elements cannot be compared is an error for our engine when it
//! is built, and for TLC when it is sorted, which may be never; such differences are counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use fastrand::Rng;
use omnilink_testkit::tla;

use super::canonical::canonical;
use super::compare::Difference;
use super::engine::Engine;
use super::expressions::{Batch, MODULES};
use super::tlc::Tlc;
use super::{Options, conclude, jobs, specs};
use crate::workspace::Workspace;

/// How many expressions are asked at once.
const BATCH: usize = 2000;

/// Asks TLC, and our engine unless it is to be left out, and compares.
pub(super) fn run(workspace: &Workspace, tlc: &Tlc, count: usize, options: &Options) -> Result<()> {
    let engine = if options.without_engine { None } else { Some(Engine::build(workspace)?) };
    println!("seed {}", options.seed);
    let mut rng = Rng::with_seed(options.seed);
    let mut differences = expressions(tlc, engine.as_ref(), &mut rng, count, options)?;
    differences.extend(whole_specs(tlc, engine.as_ref(), &mut rng, count / 100, options)?);
    conclude(&differences)
}

fn expressions(
    tlc: &Tlc,
    engine: Option<&Engine>,
    rng: &mut Rng,
    count: usize,
    options: &Options,
) -> Result<Vec<Difference>> {
    let cases: Vec<String> = (0..count).map(|_| tla::expression(rng)).collect();
    let directory = tlc.scratch("random")?;
    let batches: Vec<_> = cases.chunks(BATCH).enumerate().collect();
    let start = Instant::now();
    let answers = jobs::each(options.jobs, &batches, |(index, expressions)| {
        let batch = Batch { name: format!("Random{index}"), prelude: tla::PRELUDE, expressions };
        let answers = batch.ask(tlc, &directory)?;
        ensure!(answers.iter().any(Option::is_some), "TLC has no value for any expression of batch {index}");
        Ok(answers)
    })?;
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    let failed = answers.iter().filter(|answer| answer.is_none()).count();
    let rate = count as f64 / start.elapsed().as_secs_f64();
    println!("TLC: {count} expressions, {failed} of them fail, {rate:.0} a second");
    let Some(engine) = engine else { return Ok(Vec::new()) };
    let module = format!("---- MODULE Prelude ----\nEXTENDS {MODULES}\n{}====\n", tla::PRELUDE);
    fs::write(directory.join("Prelude.tla"), module)?;
    let lines: String = cases.iter().map(|case| format!("ToString({case})\n")).collect();
    fs::write(directory.join("cases.txt"), lines)?;
    let start = Instant::now();
    let ours = engine.evaluate(&directory.join("Prelude.tla"), &directory.join("cases.txt"))?;
    println!("omnilink: {:.0} expressions a second", count as f64 / start.elapsed().as_secs_f64());
    ensure!(ours.len() == cases.len(), "omnilink answered {} of {} expressions", ours.len(), cases.len());
    let (mut differences, mut stricter) = (Vec::new(), 0);
    for (case, (theirs, ours)) in cases.iter().zip(answers.iter().zip(&ours)) {
        if theirs.is_some() && ours.as_ref().is_err_and(|message| message.starts_with("cannot compare")) {
            stricter += 1;
            continue;
        }
        let show = |answer: Option<&String>| answer.map_or_else(|| "ERR".to_owned(), |value| canonical(value));
        let (theirs, ours) = (show(theirs.as_ref()), show(ours.as_ref().ok()));
        differences.extend(Difference::between(case, ("TLC", &theirs), ("omnilink", &ours)));
    }
    println!("explained: {stricter} sets of elements that cannot be compared, which TLC did not have to sort");
    // They come of mistakes that the generator makes on purpose, and rarely.
    ensure!(stricter * 500 <= count, "omnilink compares too much");
    Ok(differences)
}

fn whole_specs(
    tlc: &Tlc,
    engine: Option<&Engine>,
    rng: &mut Rng,
    count: usize,
    options: &Options,
) -> Result<Vec<Difference>> {
    let source = tlc.scratch("random-specs")?;
    for index in 0..count {
        let name = format!("Spec{index}");
        let spec = tla::spec(rng, &name);
        fs::write(source.join(&name).with_extension("tla"), spec.module)?;
        fs::write(source.join(&name).with_extension("cfg"), spec.config)?;
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let directory = tlc.scratch("random-specs-for-tlc")?;
    let names = specs::prepare(&source, &directory)?;
    let start = Instant::now();
    let answers = jobs::each(options.jobs, &names, |name| specs::check(tlc, &directory, &source, name))?;
    let rate = count as f64 / start.elapsed().as_secs_f64();
    let mut outcomes = BTreeMap::<&str, usize>::new();
    for answer in &answers {
        *outcomes.entry(&answer.outcome).or_default() += 1;
    }
    let outcomes: Vec<_> = outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    println!("TLC: {count} specs ({}), {rate:.1} a second", outcomes.join(", "));
    let Some(engine) = engine else { return Ok(Vec::new()) };
    let ours = jobs::each(options.jobs, &names, |name| check(engine, &source, name))?;
    let compared = names.iter().zip(answers.iter().zip(&ours)).filter_map(|(name, (theirs, ours))| {
        Difference::between(name, ("TLC", &theirs.summary()), ("omnilink", &ours.summary()))
    });
    Ok(compared.collect())
}

fn check(engine: &Engine, directory: &Path, name: &str) -> Result<specs::Answer> {
    let module = directory.join(name).with_extension("tla");
    engine.check(&module, &module.with_extension("cfg"))
}
