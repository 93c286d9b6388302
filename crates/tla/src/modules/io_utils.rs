//! `IOUtils`: reading files that TLC wrote, and the environment. Running programs and writing files are unsupported.
//!
//! TLC writes a value as a kind byte followed by its parts. A value written before is written as the number of the
//! earlier one: compound values are numbered when they begin, strings when they end.

use std::io::Read;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Native;
use super::args::{Args, int_of, unsupported};
use crate::datum::LIMIT;
use crate::error::{ErrorKind, EvalError};
use crate::strings::{Str, Strings};
use crate::value::{Set, Value};

pub(super) const NATIVES: &[Native] = &[
    unsupported!("IOUtils", "IOSerialize", &[0, 0, 0]),
    Native::new("IOUtils", "IODeserialize", &[0, 0], |host, args| {
        let args = Args::new("IODeserialize", args);
        let (path, is_compressed) = (args.text(host, 0)?, args.bool(host, 1)?);
        let bytes = host.world().read(&path).map_err(|error| unreadable(&path, &error))?;
        let value = decode(&bytes, is_compressed, host.strings()).map_err(|error| unreadable(&path, &error))?;
        Ok(value.into())
    }),
    unsupported!("IOUtils", "Serialize", &[0, 0, 0]),
    unsupported!("IOUtils", "Deserialize", &[0, 0]),
    unsupported!("IOUtils", "IOExec", &[0]),
    unsupported!("IOUtils", "IOEnvExec", &[0, 0]),
    unsupported!("IOUtils", "IOExecTemplate", &[0, 0]),
    unsupported!("IOUtils", "IOEnvExecTemplate", &[0, 0, 0]),
    Native::new("IOUtils", "IOEnv", &[], |host, _| {
        let environment = host.world().environment();
        let strings = host.strings();
        let fields = environment.iter().map(|(name, value)| (strings.str(name), Value::Str(strings.str(value))));
        Ok(Value::record(fields.collect()).into())
    }),
    Native::new("IOUtils", "atoi", &[0], |host, args| {
        let args = Args::new("atoi", args);
        match args.text(host, 0)?.parse::<i32>() {
            Ok(value) => int_of(i64::from(value)),
            Err(_) => Err(args.wrong(host, 0, "an integer in quotes")),
        }
    }),
    Native::new("IOUtils", "zeroPadN", &[0, 0], |host, args| {
        let args = Args::new("zeroPadN", args);
        let (number, width) = (args.int(host, 0)?.to_string(), args.int(host, 1)?);
        let width = usize::try_from(width.min(1 << 16)).unwrap_or(0);
        let padded = format!("{}{number}", "0".repeat(width.saturating_sub(number.len())));
        Ok(Value::Str(host.strings().str(&padded)).into())
    }),
];

fn unreadable(path: &str, error: &str) -> Box<EvalError> {
    EvalError::new(ErrorKind::WrongKind, format!("cannot read `{path}`: {error}"))
}

type Decoded<T> = Result<T, String>;

/// Reads one value, which must be the whole input.
fn decode(bytes: &[u8], is_compressed: bool, strings: &Strings) -> Decoded<Value> {
    let mut inflated = Vec::new();
    let bytes = if is_compressed {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut inflated).map_err(|error| error.to_string())?;
        &inflated
    } else {
        bytes
    };
    let mut decoder = Decoder { bytes, at: 0, depth: 0, strings, known: HashMap::default(), numbered: Vec::new() };
    let value = decoder.value()?;
    if decoder.at < bytes.len() {
        return Err(format!("{} bytes follow the value", bytes.len() - decoder.at));
    }
    Ok(value)
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    strings: &'a Strings,
    /// Strings read so far, so that equal ones share their text.
    known: HashMap<&'a str, Str, FxBuildHasher>,
    /// Values that may be referred to; `None` while they are being read.
    numbered: Vec<Option<Value>>,
}

/// The maximum nesting of values.
const DEPTH: usize = 1000;

impl<'a> Decoder<'a> {
    fn value(&mut self) -> Decoded<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("values nest more than {DEPTH} levels deep"));
        }
        let kind = self.byte()?;
        let value = match kind {
            0 => Value::Bool(self.byte()? != 0),
            1 => Value::Int(i64::from(self.int()?)),
            3 => self.string()?,
            4 => self.numbered(|decoder| {
                let len = decoder.int()?.unsigned_abs() as usize;
                let mut fields = Vec::with_capacity(decoder.room(len));
                for _ in 0..len {
                    let Value::Str(name) = decoder.name()? else { return Err("a field has no name".to_owned()) };
                    fields.push((name, decoder.value()?));
                }
                Ok(Value::record(fields))
            })?,
            5 => self.numbered(|decoder| {
                let len = decoder.int()?.unsigned_abs() as usize;
                let elements = decoder.row(len)?;
                Value::set(elements).map_err(|error| error.message)
            })?,
            7 => self.numbered(|decoder| {
                let len = decoder.natural()?;
                Ok(Value::seq(decoder.row(len)?))
            })?,
            9 => self.numbered(Decoder::function)?,
            23 => Value::Set(self.interval()?),
            26 => self.earlier()?,
            21 => return Err("model values cannot be read".to_owned()),
            kind => return Err(format!("unrecognized value kind {kind}")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn function(&mut self) -> Decoded<Value> {
        let len = self.natural()?;
        if self.byte()? == 0 {
            let domain = self.interval()?;
            if domain.len() != len {
                return Err("a function has different numbers of arguments and values".to_owned());
            }
            return Ok(Value::function(domain, self.row(len)?));
        }
        let mut pairs = Vec::with_capacity(self.room(len));
        for _ in 0..len {
            pairs.push((self.value()?, self.value()?));
        }
        Value::pairs(pairs).map_err(|error| error.message)
    }

    /// Numbers a value when it begins.
    fn numbered(&mut self, read: impl FnOnce(&mut Decoder<'a>) -> Decoded<Value>) -> Decoded<Value> {
        let number = self.numbered.len();
        self.numbered.push(None);
        let value = read(self)?;
        self.numbered[number] = Some(value.clone());
        Ok(value)
    }

    fn earlier(&mut self) -> Decoded<Value> {
        let number = self.natural()?;
        let value = self.numbered.get(number).cloned().flatten();
        value.ok_or_else(|| format!("reference to unknown value number {number}"))
    }

    /// The name of a field, which may refer to an earlier one.
    fn name(&mut self) -> Decoded<Value> {
        if self.byte()? == 26 { self.earlier() } else { self.string() }
    }

    fn string(&mut self) -> Decoded<Value> {
        // The string's numbers in the table of the TLC that wrote it.
        self.take(8)?;
        let len = self.int()?;
        let len = usize::try_from(len).map_err(|_| format!("a string has the length {len}"))?;
        let text = std::str::from_utf8(self.take(len)?).map_err(|error| error.to_string())?;
        let strings = self.strings;
        let string = Value::Str(self.known.entry(text).or_insert_with(|| strings.str(text)).clone());
        self.numbered.push(Some(string.clone()));
        Ok(string)
    }

    fn interval(&mut self) -> Decoded<Arc<Set>> {
        let (low, high) = (self.int()?, self.int()?);
        if high >= low && u128::from(high.abs_diff(low)) > LIMIT {
            return Err(format!("the set {low}..{high} is too large"));
        }
        Ok(Set::interval(i64::from(low), i64::from(high)))
    }

    fn row(&mut self, len: usize) -> Decoded<Vec<Value>> {
        let mut row = Vec::with_capacity(self.room(len));
        for _ in 0..len {
            row.push(self.value()?);
        }
        Ok(row)
    }

    /// The capacity to reserve: at most as many values as the rest of the input can hold.
    fn room(&self, len: usize) -> usize {
        len.min(self.bytes.len() - self.at)
    }

    fn take(&mut self, len: usize) -> Decoded<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let taken = taken.ok_or_else(|| "the value ends too early".to_owned())?;
        self.at += len;
        Ok(taken)
    }

    fn byte(&mut self) -> Decoded<u8> {
        Ok(self.take(1)?[0])
    }

    fn int(&mut self) -> Decoded<i32> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes(bytes.try_into().expect("four bytes were taken")))
    }

    /// A number in two bytes if they suffice, otherwise its negative in four.
    fn natural(&mut self) -> Decoded<usize> {
        let bytes = self.take(2)?;
        let short = i16::from_be_bytes(bytes.try_into().expect("two bytes were taken"));
        if let Ok(short) = usize::try_from(short) {
            return Ok(short);
        }
        self.at -= 2;
        Ok(self.int()?.unsigned_abs() as usize)
    }
}
