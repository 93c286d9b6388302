//! Inputs made from seeds: blindly, but the same in every run, and enough to meet what a reader must survive.

use std::fs;
use std::panic;
use std::path::Path;

use fastrand::Rng;

/// How many inputs are made for each target.
const INPUTS: usize = 2000;

/// The longest of them.
const LONGEST: usize = 4096;

/// What numbers and names are replaced with.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1e999",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "null",
    "{}",
    "[",
    "\"",
    "\\u0000",
    "\u{e9}",
    "\u{1f600}",
    "\u{202e}",
];

/// Tries a target with its seeds and with what is made of them. Fails with the input if the target panics.
pub(crate) fn try_out(name: &str, target: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let files = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = files.map(|file| file.expect("a file of the directory").path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect();
    assert!(!seeds.is_empty(), "the target has no seeds");
    let mut rng = Rng::with_seed(1);
    let made = (0..INPUTS).map(|_| mutate(&mut rng, &seeds));
    for input in seeds.iter().cloned().chain(made) {
        if panic::catch_unwind(|| target(&input)).is_err() {
            panic!("`{name}` fails with b\"{}\"", input.escape_ascii());
        }
    }
}

/// A seed with a few changes.
fn mutate(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = rng.choice(seeds).expect("there are seeds").clone();
    for _ in 0..rng.usize(1..=4) {
        let at = rng.usize(..=bytes.len());
        let end = (at + rng.usize(..=32)).min(bytes.len());
        match rng.u8(..7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.splice(at..at, rng.choice(TOKENS).expect("there are tokens").bytes()).for_each(drop),
            3 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part).for_each(drop);
            }
            4 => {
                let other = rng.choice(seeds).expect("there are seeds");
                let from = rng.usize(..=other.len());
                let part = &other[from..(from + 64).min(other.len())];
                bytes.splice(at..end, part.iter().copied()).for_each(drop);
            }
            5 => {
                // A number, if there is one from here on.
                let is_digit = |byte: &u8| byte.is_ascii_digit();
                let start = bytes[at..].iter().position(is_digit).map_or(at, |skip| at + skip);
                let end =
                    bytes[start..].iter().position(|byte| !is_digit(byte)).map_or(bytes.len(), |size| start + size);
                bytes.splice(start..end, rng.choice(TOKENS).expect("there are tokens").bytes()).for_each(drop);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if rng.bool() { *byte ^ (1 << rng.u8(..8)) } else { rng.u8(..) };
                }
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}
