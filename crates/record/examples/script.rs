//! Records the calls of a script, with a clock that the script sets. Every recorder writes the same bytes for the
//! same script.
//!
//! Usage: `script DIR < FILE`. One statement per line; values are separated by blanks; empty lines and lines that begin
//! with `#` are skipped.
//!
//! ```text
//! process NAME            start (or switch to) the process NAME
//! time N                  the clock is at N from now on
//! call ACTION v v         a call begins, with arguments by place
//! named ACTION a=v b=v    the same with names
//! done v v                the call returns, with results by place
//! done a=v                the same with names
//! as ACTION v v -- v      the call returns as ACTION, with these arguments, and results after `--`
//! failed                  the call returns, and had no effect
//! drop                    the outcome of the call is unknown
//! unknown                 the same, but it cannot take effect from now on
//! meta KEY v              a note about the call
//! refine_start            the call has done nothing so far
//! refine_end              the call has taken effect by now
//! close NAME              the process ends
//! ```
//!
//! ```text
//! v = 12 | -3 | 18446744073709551615 | true | false | nil | 1.5 | "text with \" and \\" | [v v] | {v v} | (k v k v)
//! ```
//!
//! Brackets are a tuple, braces a set, parentheses a function. An action is its name and the names of its arguments
//! and results; positional ones have empty names. The results of an action are known when it returns, but it is
//! defined when it is called; so the script is read ahead up to the outcome of the call. Unless that is `done`, it
//! has no results. A call that is still open when the script ends is unfinished, and processes end in the order in
//! which they began.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::{env, thread};

use omnilink_record::{Action, Encode, Encoded, Encoder, ManualClock, Pending, Process, Recorder};

fn main() -> io::Result<()> {
    let directory = env::args().nth(1).expect("usage: script DIR < FILE");
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let clock = ManualClock::new();
    let recorder = Recorder::with_clock(directory, clock.clone())?;
    play(&recorder, &clock, statements(&text));
    Ok(())
}

/// One statement of the script.
#[derive(Clone, Debug)]
enum Statement {
    Process(String),
    Time(u64),
    Call(&'static Action, Vec<Value>),
    Done(Vec<Value>),
    As(&'static Action, Vec<Value>, Vec<Value>),
    Failed,
    Drop,
    Unknown,
    Meta(String, Value),
    RefineStart,
    RefineEnd,
    Close(String),
}

#[derive(Clone, Debug)]
enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Large(u64),
    Float(f64),
    Str(String),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    Function(Vec<(Value, Value)>),
}

impl Encode for Value {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        match self {
            Value::Nil => encoder.nil(),
            Value::Bool(value) => encoder.bool(*value),
            Value::Int(value) => encoder.int(*value),
            Value::Large(value) => value.encode(encoder),
            Value::Float(value) => encoder.float(*value),
            Value::Str(value) => encoder.str(value),
            Value::Tuple(elements) => encoder.tuple(elements.iter()),
            Value::Set(elements) => encoder.set(elements.iter()),
            Value::Function(pairs) => encoder.function(pairs.iter().map(|(argument, result)| (argument, result))),
        }
    }
}

/// Runs each process in its own thread, as a program would, but only one statement at a time.
fn play(recorder: &Recorder, clock: &ManualClock, statements: Vec<Statement>) {
    thread::scope(|scope| {
        let mut threads: Vec<(String, Sender<Statement>, Receiver<()>)> = Vec::new();
        let mut current = String::new();
        for statement in statements {
            match statement {
                Statement::Time(time) => clock.set(time),
                Statement::Close(name) => {
                    let (_, statements, is_done) = threads.remove(place(&threads, &name).expect("the process began"));
                    drop(statements);
                    let _ = is_done.recv(); // Fails once the process has been dropped.
                }
                Statement::Process(name) => {
                    if place(&threads, &name).is_none() {
                        let process = recorder.process(&name).expect("a segment can be created");
                        let ((statements, inbox), (done, is_done)) = (channel(), channel());
                        scope.spawn(move || live(process, &inbox, &done));
                        threads.push((name.clone(), statements, is_done));
                    }
                    current = name;
                }
                other => {
                    let (_, statements, is_done) = &threads[place(&threads, &current).expect("a process has begun")];
                    statements.send(other).expect("the process lives");
                    is_done.recv().expect("the process did as it was told");
                }
            }
        }
        for (_, statements, is_done) in threads {
            drop(statements);
            let _ = is_done.recv();
        }
    });
}

fn place<A, B>(threads: &[(String, A, B)], name: &str) -> Option<usize> {
    threads.iter().position(|(known, ..)| known == name)
}

/// Runs the statements of one process until the channel closes. Then the process is dropped, and after it `done`.
fn live(mut process: Process, inbox: &Receiver<Statement>, done: &Sender<()>) {
    let mut next = inbox.recv().ok();
    while let Some(statement) = next.take() {
        if let Statement::Call(action, args) = statement {
            next = finish(process.call(action, args.as_slice()), inbox, done);
        } else {
            panic!("{statement:?} while no call is open");
        }
        if next.is_none() {
            next = inbox.recv().ok();
        }
    }
}

/// Runs the statements of one call until it ends. Returns a call that begins while this one is open.
fn finish(mut call: Pending<'_>, inbox: &Receiver<Statement>, done: &Sender<()>) -> Option<Statement> {
    let reply = || done.send(()).expect("the main thread waits");
    reply();
    while let Ok(statement) = inbox.recv() {
        match statement {
            Statement::Meta(key, value) => call.meta(&key, value),
            Statement::RefineStart => call.refine_start(),
            Statement::RefineEnd => call.refine_end(),
            over => {
                match over {
                    Statement::Done(results) => call.done(results.as_slice()),
                    Statement::As(action, args, results) => call.done_as(action, args.as_slice(), results.as_slice()),
                    Statement::Failed => call.failed(),
                    Statement::Drop => call.unknown(),
                    Statement::Unknown => call.unknown_by_now(),
                    next => return Some(next),
                }
                reply();
                return None;
            }
        }
        reply();
    }
    None
}

/// Actions by their shapes. They live as long as the program.
#[derive(Default)]
struct Actions(Vec<(Shape, &'static Action)>);

type Shape = (String, Vec<String>, Vec<String>);

impl Actions {
    fn get(&mut self, shape: Shape) -> &'static Action {
        if let Some((_, action)) = self.0.iter().find(|(known, _)| *known == shape) {
            return action;
        }
        let leak = |text: &String| -> &'static str { Box::leak(text.clone().into_boxed_str()) };
        let names = |names: &[String]| -> &'static [&'static str] {
            Box::leak(names.iter().map(leak).collect::<Vec<_>>().into_boxed_slice())
        };
        let action = Box::leak(Box::new(Action::new(leak(&shape.0), names(&shape.1), names(&shape.2))));
        self.0.push((shape, action));
        action
    }
}

/// Names and values; positional ones have an empty name.
type Fields = (Vec<String>, Vec<Value>);

fn statements(text: &str) -> Vec<Statement> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines: VecDeque<&str> = lines.collect();
    let (mut statements, mut actions, mut process) = (Vec::new(), Actions::default(), String::new());
    while let Some(line) = lines.pop_front() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (word, more) = rest.split_once(' ').unwrap_or((rest, ""));
        statements.push(match verb {
            "process" => {
                process = rest.to_owned();
                Statement::Process(process.clone())
            }
            "time" => Statement::Time(rest.parse().expect("a time is a number")),
            "call" | "named" => {
                let (names, args) = fields(more);
                let results = results_ahead(&process, lines.iter().copied());
                Statement::Call(actions.get((word.to_owned(), names, results)), args)
            }
            "done" => Statement::Done(fields(rest).1),
            "as" => {
                let (args, results) = more.split_once("--").unwrap_or((more, ""));
                let ((names, args), (result_names, results)) = (fields(args), fields(results));
                Statement::As(actions.get((word.to_owned(), names, result_names)), args, results)
            }
            "failed" => Statement::Failed,
            "drop" => Statement::Drop,
            "unknown" => Statement::Unknown,
            "meta" => Statement::Meta(word.to_owned(), fields(more).1.remove(0)),
            "refine_start" => Statement::RefineStart,
            "refine_end" => Statement::RefineEnd,
            "close" => Statement::Close(rest.to_owned()),
            _ => panic!("`{line}` is not a statement"),
        });
    }
    statements
}

/// The names of the results of the call of this process that was just read.
fn results_ahead<'a>(process: &str, lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut current = process;
    for line in lines {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "process" => current = rest,
            "done" if current == process => return fields(rest).0,
            "as" | "failed" | "drop" | "unknown" | "call" | "named" if current == process => break,
            "close" if rest == process => break,
            _ => {}
        }
    }
    Vec::new()
}

fn fields(text: &str) -> Fields {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_named = rest[word..].starts_with('=');
        names.push(if is_named { rest[..word].to_owned() } else { String::new() });
        let mut chars = rest[if is_named { word + 1 } else { 0 }..].chars().peekable();
        values.push(value(&mut chars));
        let left: usize = chars.map(char::len_utf8).sum();
        rest = rest[rest.len() - left..].trim_start();
    }
    (names, values)
}

fn value(chars: &mut Peekable<Chars<'_>>) -> Value {
    match chars.peek() {
        Some('"') => Value::Str(string(chars)),
        Some('[') => Value::Tuple(list(chars, ']')),
        Some('{') => Value::Set(list(chars, '}')),
        Some('(') => {
            let values = list(chars, ')');
            Value::Function(values.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
        }
        _ => {
            let mut word = String::new();
            while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"]})".contains(*c)) {
                word.push(c);
            }
            match word.as_str() {
                "nil" => Value::Nil,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                number if number.contains('.') => Value::Float(number.parse().expect("a number")),
                number => number.parse().map_or_else(
                    |_| Value::Large(number.parse().unwrap_or_else(|_| panic!("`{number}` is not a value"))),
                    Value::Int,
                ),
            }
        }
    }
}

fn list(chars: &mut Peekable<Chars<'_>>, close: char) -> Vec<Value> {
    chars.next();
    let mut values = Vec::new();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if chars.next_if_eq(&close).is_some() {
            return values;
        }
        assert!(chars.peek().is_some(), "a list ends with `{close}`");
        values.push(value(chars));
    }
}

fn string(chars: &mut Peekable<Chars<'_>>) -> String {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next().expect("a string ends with a quote") {
            '"' => return text,
            '\\' => text.extend(chars.next()),
            other => text.push(other),
        }
    }
}
