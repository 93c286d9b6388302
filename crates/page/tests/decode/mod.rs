//! Decodes parts like a page: written from the description of the format, and sharing no code with the encoder.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::GzDecoder;
use omnilink_page::Part;
use serde_json::Value;

/// A decoded operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
    /// The ranks of `start` and `end`.
    pub(crate) ranks: (u64, u64),
    pub(crate) shape: usize,
    pub(crate) values: Vec<String>,
}

/// The part of this name.
pub(crate) fn part(parts: &[Part], name: &str) -> Vec<u8> {
    let part = parts.iter().find(|part| part.name == name).unwrap_or_else(|| panic!("no part {name}"));
    let mut bytes = Vec::new();
    GzDecoder::new(&*part.bytes).read_to_end(&mut bytes).expect("parts are gzip");
    bytes
}

pub(crate) fn json(parts: &[Part], name: &str) -> Value {
    serde_json::from_slice(&part(parts, name)).expect("the part is JSON")
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.0[0];
            self.0 = &self.0[1..];
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = self.number() as usize;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }
}

fn unzigzag(number: u64) -> i64 {
    if number.is_multiple_of(2) { (number / 2) as i64 } else { -((number / 2) as i64) - 1 }
}

/// Messages: the sending and the receiving operation.
pub(crate) fn messages(parts: &[Part]) -> Vec<(u32, u32)> {
    if !parts.iter().any(|part| part.name == "messages") {
        return Vec::new();
    }
    let bytes = part(parts, "messages");
    let mut reader = Reader(&bytes);
    let mut receive = 0;
    let count = reader.number();
    let found = (0..count).map(|_| {
        receive += reader.number();
        let send = receive as i64 - unzigzag(reader.number());
        (send as u32, receive as u32)
    });
    let found = found.collect();
    assert!(reader.0.is_empty());
    found
}

/// Unlogged steps: the number of steps before each, and its action.
pub(crate) fn unlogged(parts: &[Part]) -> Vec<(u32, String)> {
    if !parts.iter().any(|part| part.name == "unlogged") {
        return Vec::new();
    }
    let bytes = part(parts, "unlogged");
    let mut reader = Reader(&bytes);
    let actions = texts(&mut reader);
    let mut before = 0;
    let count = reader.number();
    let found = (0..count).map(|_| {
        before += reader.number();
        (before as u32, actions[reader.number() as usize].clone())
    });
    let found = found.collect();
    assert!(reader.0.is_empty());
    found
}

/// Every operation.
pub(crate) fn operations(parts: &[Part]) -> Vec<Op> {
    let head = json(parts, "head");
    let timeline = &head["timeline"];
    let origin: u64 = timeline["origin"].as_str().expect("an origin").parse().expect("a number");
    let mut found = Vec::new();
    for (place, chunk) in timeline["chunks"].as_array().expect("chunks").iter().enumerate() {
        let bytes = part(parts, &format!("chunk-{place}"));
        let mut reader = Reader(&bytes);
        let count = reader.number();
        assert_eq!((chunk["first"].as_u64(), chunk["count"].as_u64()), (Some(found.len() as u64), Some(count)));
        let columns: Vec<&[u8]> = (0..9).map(|_| reader.bytes()).collect();
        assert!(reader.0.is_empty());
        let mut columns: Vec<Reader<'_>> = columns.into_iter().map(Reader).collect();
        let texts = texts(&mut columns[8]);
        let mut start = origin + chunk["times"][0].as_u64().expect("a time");
        let mut rank = chunk["ranks"][0].as_u64().expect("a rank");
        let (mut indices, mut numbers) = (HashMap::new(), HashMap::new());
        for _ in 0..count {
            start += columns[0].number();
            let end = columns[1].number().checked_sub(1).map(|took| start + took);
            rank += columns[2].number();
            let span = columns[3].number();
            let last = if end.is_some() { rank + span } else { timeline["ranks"].as_u64().expect("ranks") };
            let process = columns[4].number() as usize;
            let expected = indices.entry(process).or_insert(0);
            let index = *expected + unzigzag(columns[5].number());
            *expected = index + 1;
            let shape = columns[6].number() as usize;
            let width =
                ["args", "results", "meta"].map(|names| timeline["shapes"][shape][names].as_array().map(Vec::len));
            let width: usize = width.into_iter().flatten().sum();
            let values = (0..width).map(|slot| match columns[7].number() {
                text if text % 2 == 1 => texts[(text / 2) as usize].clone(),
                number => {
                    assert!(number < 1 << 53);
                    let before = numbers.entry((shape, slot)).or_insert(0);
                    *before += unzigzag(number / 2);
                    before.to_string()
                }
            });
            let values = values.collect();
            let name = format!("{}:{index}", timeline["processes"][process].as_str().expect("a process"));
            found.push(Op { name, start, end, ranks: (rank, last), shape, values });
        }
        assert!(columns.iter().all(|column| column.0.is_empty()));
    }
    found
}

fn texts(reader: &mut Reader<'_>) -> Vec<String> {
    let count = reader.number();
    (0..count).map(|_| String::from_utf8(reader.bytes().to_vec()).expect("texts are UTF-8")).collect()
}

/// Every step: the operation, and whether the step leaves it partway.
pub(crate) fn order(parts: &[Part]) -> Vec<(u32, bool)> {
    let head = json(parts, "head");
    let mut steps = Vec::new();
    for (place, piece) in head["timeline"]["orders"].as_array().expect("orders").iter().enumerate() {
        let bytes = part(parts, &format!("order-{place}"));
        let mut reader = Reader(&bytes);
        let count = reader.number();
        assert_eq!((piece["first"].as_u64(), piece["count"].as_u64()), (Some(steps.len() as u64), Some(count)));
        let mut op = 0;
        for _ in 0..count {
            let number = reader.number();
            op += unzigzag(number / 2);
            steps.push((op as u32, number % 2 == 1));
        }
        assert!(reader.0.is_empty());
    }
    steps
}

/// The values of every state, and those of the states of every ending.
pub(crate) fn states(parts: &[Part]) -> (Vec<Vec<String>>, Vec<Vec<Vec<String>>>) {
    let states = json(parts, "states");
    let lists = |value: &Value| value.as_array().expect("a list").clone();
    let last: Vec<String> = lists(&states["last"]).iter().map(|text| text.as_str().expect("text").to_owned()).collect();
    let mut all = Vec::new();
    if !lists(&states["ids"]).is_empty() {
        all.push(last.clone());
    }
    for splices in lists(&states["back"]).iter().rev() {
        all.push(spliced(all.last().expect("a state"), splices));
    }
    all.reverse();
    let ending = |ending: &Value| {
        let mut at = last.clone();
        let mut states = Vec::new();
        for splices in &lists(&ending["forth"]) {
            at = spliced(&at, splices);
            states.push(at.clone());
        }
        states
    };
    let endings = lists(&states["endings"]).iter().map(ending).collect();
    (all, endings)
}

fn spliced(state: &[String], splices: &Value) -> Vec<String> {
    let mut state = state.to_vec();
    for splice in splices.as_array().expect("splices") {
        let number = |place: usize| splice[place].as_u64().expect("a number") as usize;
        let units: Vec<u16> = state[number(0)].encode_utf16().collect();
        let insert: Vec<u16> = splice[3].as_str().expect("text").encode_utf16().collect();
        let spliced = [&units[..number(1)], &insert, &units[units.len() - number(2)..]].concat();
        state[number(0)] = String::from_utf16(&spliced).expect("no character was split");
    }
    state
}
