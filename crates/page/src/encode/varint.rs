//! Varints: seven bits per byte, lowest first, and a bit that marks whether more follow.

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Maps a signed number to an unsigned one that is small if the number is near 0.
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Appends the length of `bytes`, then `bytes`.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let check = |number: u64| {
            let mut out = Vec::new();
            put(&mut out, number);
            out
        };
        assert_eq!(check(0), [0]);
        assert_eq!(check(127), [127]);
        assert_eq!(check(128), [0x80, 1]);
        assert_eq!(check(u64::MAX), [[0xff; 9].as_slice(), &[1]].concat());
    }

    #[test]
    fn signs_alternate() {
        assert_eq!([0, -1, 1, -2, i64::MAX, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX - 1, u64::MAX]);
    }
}
