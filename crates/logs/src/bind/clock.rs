//! The place of an event in the order: its times, clocks and messages.

use omnilink_history::format::json::Json;
use omnilink_validate::Problem;

use super::{Binder, Context, Event, Raw, find, text_of};
use crate::order::{self, Clock, EventOrder, Kinds};
use crate::path::Path;
use crate::problem::Failure;

impl<'m> Binder<'m, '_> {
    pub(super) fn clock(&mut self, raw: &Raw<'_>, context: &Context) -> Result<Clock, Failure> {
        let settings = &self.mapping.settings.order;
        let mut clock = Clock { process: raw.process, file: raw.line.file, ..Clock::default() };
        let lacks = |text: &str, binder: &Self| {
            Problem::new(format!("{} has no time or clock at `{text}`", binder.place(raw.line)))
        };
        let number = |text: &omnilink_settings::log::Text| {
            let json = Path::parse(&text.text).and_then(|path| find(&path, raw.root, raw.line));
            json.and_then(order::time)
        };
        if let Some(text) = &settings.time {
            let time = number(text).ok_or_else(|| lacks(&text.text, self))?;
            let off = match &settings.uncertainty {
                None => 0,
                Some(off) => match off.text.parse::<f64>() {
                    Ok(number) => (number * order::FINE as f64).round() as i128,
                    Err(_) => number(off).ok_or_else(|| lacks(&off.text, self))?,
                },
            };
            clock.interval = Some((time - off, time + off));
        }
        if let (Some(earliest), Some(latest)) = (&settings.earliest, &settings.latest) {
            let (first, last) = (number(earliest), number(latest));
            let first = first.ok_or_else(|| lacks(&earliest.text, self))?;
            let last = last.ok_or_else(|| lacks(&latest.text, self))?;
            if last < first {
                let message = format!("{}: the latest time is before the earliest", self.place(raw.line));
                return Err(Problem::new(message).into());
            }
            clock.interval = Some((first, last));
        }
        if let Some(text) = &settings.vector {
            let path = Path::parse(&text.text);
            let json = path.as_ref().and_then(|path| find(path, raw.root, raw.line));
            let Some(Json::Object(counts)) = json else { return Err(lacks(&text.text, self).into()) };
            let ignored = |name: &str| {
                let field = path.as_ref().map(|path| path.field(name));
                self.mapping.settings.ignore.iter().any(|text| Path::parse(text) == field)
            };
            let (mut vector, mut missing) = (Vec::new(), Vec::new());
            for (name, count) in counts {
                let Json::Number(omnilink_history::Value::Int(count)) = count else { continue };
                match self.processes.iter().position(|known| known == name) {
                    Some(process) => vector.push((process, *count)),
                    // A process without events orders nothing.
                    None if *count > 0 && !self.missing.contains(name) && !ignored(name) => missing.push(name.clone()),
                    None => {}
                }
            }
            clock.vector = Some(vector);
            self.missing.append(&mut missing);
        }
        if let Some(text) = &settings.lamport {
            let json = Path::parse(&text.text).and_then(|path| find(&path, raw.root, raw.line));
            let Some(Json::Number(omnilink_history::Value::Int(number))) = json else {
                return Err(lacks(&text.text, self).into());
            };
            clock.lamport = Some(*number);
        }
        let key_at = |text: &Option<omnilink_settings::log::Text>| {
            let path = text.as_ref().and_then(|text| Path::parse(&text.text));
            path.and_then(|path| find(&path, raw.root, raw.line)).map(text_of)
        };
        (clock.sends, clock.receives) = (key_at(&settings.send), key_at(&settings.receive));
        if let Some(messages) = &settings.messages
            && let Some(key) = &self.mapping.key
        {
            let is =
                |names: &omnilink_settings::log::Names| raw.name.as_deref().is_some_and(|name| names.contains(name));
            let (sends, receives) = (is(&messages.send), is(&messages.receive));
            if sends || receives {
                let value = self.source(key, context, raw, &[])?;
                let key = value.display(&self.program.module.strings).to_string();
                clock.sends = sends.then(|| key.clone());
                clock.receives = receives.then_some(key);
            }
        }
        Ok(clock)
    }

    /// The order of the events.
    pub(super) fn order(&self, events: &[Event], clocks: &[Clock]) -> Result<EventOrder, Failure> {
        let settings = &self.mapping.settings.order;
        let is_total = *settings == omnilink_settings::log::Order::default();
        if is_total && self.files.len() > 1 {
            let help = "for example `order = { time = \"ts\" }`, or the path of a vector clock".to_owned();
            return Err(Problem::new("several files need an `order` in `[log]`").help(help).into());
        }
        let files = self.files;
        let name = |event: usize| {
            let event = &events[event];
            format!("{} line {}", files[event.file].name, event.line)
        };
        let kinds = Kinds { is_total, offsets: settings.offsets };
        Ok(EventOrder::new(clocks, self.processes.len(), kinds, &name)?)
    }
}
