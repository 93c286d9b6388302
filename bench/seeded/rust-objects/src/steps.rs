//! Random operations of the objects, recorded as their specifications name them.

use omnilink_record::drive::Client;
use omnilink_record::object::Describe;
use omnilink_record::{Action, Values};

use crate::objects::{Aba, Bank, Buffer, Counter, Queue, Register, Ring, Seqlock, Stack};

static ENQUEUE: Action = Action::new("enqueue", &["value"], &["ok"]);
static DEQUEUE: Action = Action::new("dequeue", &[], &["value"]);
static LEN: Action = Action::new("len", &[], &["count"]);
static PUSH: Action = Action::new("push", &["value"], &["ok"]);
static POP: Action = Action::new("pop", &[], &["value"]);
static PUT: Action = Action::new("Put", &["value"], &[]);
static TAKE: Action = Action::new("Take", &[], &["value"]);
static WRITE: Action = Action::new("write", &["value"], &[]);
static READ: Action = Action::new("read", &[], &["value"]);
static TRANSFER: Action = Action::new("transfer", &["from", "to", "amount"], &["ok"]);
static ADD: Action = Action::new("add", &["delta"], &["value"]);

/// An object that can do random operations.
pub trait Step: Describe + Sync {
    /// Makes one random operation, and records it.
    fn step(&self, client: &mut Client);
}

impl Step for Queue {
    fn step(&self, client: &mut Client) {
        either(client, (&ENQUEUE, |value| (self.enqueue(value),)), (&DEQUEUE, || (self.dequeue(),)));
    }
}

impl Step for Ring {
    fn step(&self, client: &mut Client) {
        if client.draw().below(3) == 0 {
            let call = client.call(&LEN, ());
            call.done((self.len(),));
        } else {
            either(client, (&ENQUEUE, |value| (self.enqueue(value),)), (&DEQUEUE, || (self.dequeue(),)));
        }
    }
}

impl Step for Aba {
    fn step(&self, client: &mut Client) {
        either(client, (&PUSH, |value| (self.push(value),)), (&POP, || (self.pop(),)));
    }
}

impl Step for Stack {
    fn step(&self, client: &mut Client) {
        either(client, (&PUSH, |value| (self.push(value),)), (&POP, || (self.pop(),)));
    }
}

impl Step for Buffer {
    fn step(&self, client: &mut Client) {
        either(client, (&PUT, |value| self.put(value)), (&TAKE, || (self.take(),)));
    }
}

impl Step for Register {
    fn step(&self, client: &mut Client) {
        either(client, (&WRITE, |value| self.write(value)), (&READ, || (self.read(),)));
    }
}

impl Step for Seqlock {
    fn step(&self, client: &mut Client) {
        either(client, (&WRITE, |value| self.write(value)), (&READ, || (self.read(),)));
    }
}

impl Step for Bank {
    fn step(&self, client: &mut Client) {
        let from = client.draw().below(2) as usize;
        let call = client.call(&TRANSFER, (from, 1 - from, 1));
        call.done((self.transfer(from, 1 - from),));
    }
}

impl Step for Counter {
    fn step(&self, client: &mut Client) {
        let call = client.call(&ADD, (1,));
        call.done((self.add(1),));
    }
}

/// Makes one of two operations: the first one has a value that no other operation has, the second one no arguments.
fn either<A: Values, B: Values>(
    client: &mut Client,
    (first, with_value): (&'static Action, impl FnOnce(i64) -> A),
    (second, without): (&'static Action, impl FnOnce() -> B),
) {
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(first, (value,));
        call.done(with_value(value));
    } else {
        let call = client.call(second, ());
        call.done(without());
    }
}
