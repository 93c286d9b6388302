//! Numbers as traces write them, each read exactly or rejected.
//!
//! A literal for a whole number is that integer, in any notation: `4`, `4.0` and `4e0` are one value. Any other
//! literal is the nearest double, provided that this double, written with as many digits, is the literal again.
//! Otherwise two different literals could become equal, so the literal is rejected.

use thiserror::Error;

use crate::Value;

/// Why a text cannot be read as a number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadNumber {
    /// It does not have the syntax of a number.
    #[error("`{0}` is not a number")]
    Malformed(String),
    /// No double is near enough.
    #[error("`{0}` has more digits than a double holds")]
    TooPrecise(String),
    /// Its exponent is unreasonably large.
    #[error("`{0}` has more than {MAX_EXPANDED} digits before its point")]
    TooLarge(String),
}

/// The maximum number of digits that an exponent may add up to. A double has at most 309 before its point.
const MAX_EXPANDED: usize = 400;

/// The maximum number of significant digits of a double.
const MAX_DIGITS: usize = 767;

/// Reads `-12`, `0.5` or `1e-7`.
pub(crate) fn parse(text: &str) -> Result<Value, BadNumber> {
    // Most numbers are short and plain, and there are millions of them.
    if text.len() < 19
        && text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(integer) = text.parse()
    {
        return Ok(Value::Int(integer));
    }
    let [malformed, too_precise, too_large] =
        [BadNumber::Malformed, BadNumber::TooPrecise, BadNumber::TooLarge].map(|why| move || why(text.to_owned()));
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |unsigned| ("-", unsigned));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let are_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !are_digits(whole) || !are_digits(fraction) || !are_digits(exponent_digits) {
        return Err(malformed());
    }
    let digits = format!("{whole}{}", fraction.trim_end_matches('0'));
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Ok(Value::Int(0));
    }
    // The number of digits before the point once the exponent has moved it. No text is long enough to overflow this.
    let exponent: i128 = match exponent.parse() {
        Ok(exponent) => exponent,
        Err(_) if exponent.starts_with('-') => return Err(too_precise()),
        Err(_) => return Err(too_large()),
    };
    let before = whole.len() as i128 + exponent;
    let is_plain = unsigned.len() == whole.len();
    if before >= digits.trim_end_matches('0').len() as i128 {
        let before = usize::try_from(before).ok().filter(|before| is_plain || *before <= MAX_EXPANDED + digits.len());
        let zeros = before.ok_or_else(too_large)? - digits.trim_end_matches('0').len();
        let integer = format!("{sign}{}{}", digits.trim_end_matches('0'), "0".repeat(zeros));
        return Ok(Value::integer(&integer).expect("a sign and digits"));
    }
    let number: f64 = text.parse().map_err(|_| malformed())?;
    let is_written_as = |written: String| {
        let mantissa = written.split('e').next().unwrap_or_default().replace('.', "");
        mantissa.trim_end_matches('0') == significant
    };
    // Of two equally near texts, one printer takes the even one and another the shortest unambiguous one.
    let as_long = || format!("{:.*e}", significant.len() - 1, number.abs());
    let is_same =
        significant.len() <= MAX_DIGITS && (is_written_as(format!("{:e}", number.abs())) || is_written_as(as_long()));
    if !is_same {
        return Err(too_precise());
    }
    Value::number(number).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        parse(text).map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
    }

    #[test]
    fn whole_numbers_are_integers_in_any_notation() {
        for text in ["400", "400.0", "4e2", "4.00E+2", "40000e-2", "0400"] {
            assert_eq!(check(text), "Int(400)", "{text}");
        }
        assert_eq!(check("-0.0"), "Int(0)");
        assert_eq!(check("0e999999999999999999999999"), "Int(0)");
        assert_eq!(check("9223372036854775807"), "Int(9223372036854775807)");
        assert_eq!(check("-9223372036854775808"), "Int(-9223372036854775808)");
        assert_eq!(check("18446744073709551615"), r#"Big(Big("18446744073709551615"))"#);
        assert_eq!(check("-1e20"), r#"Big(Big("-100000000000000000000"))"#);
        assert_eq!(check("1.00000000000000000001e20"), r#"Big(Big("100000000000000000001"))"#);
        let long = "7".repeat(5000);
        assert_eq!(check(&long), format!("Big(Big({long:?}))"));
    }

    #[test]
    fn other_numbers_are_doubles_that_print_as_they_were_written() {
        for text in [
            "0.1",
            "1.5",
            "-2.75",
            "5e-324",
            "0.10000000000000000555",
            "123456789.12345678",
            "1e-7",
            "1442388911783469.3",
        ] {
            let Ok(Value::Float(float)) = parse(text) else { panic!("{text}: {}", check(text)) };
            assert_eq!(float.get(), text.parse::<f64>().unwrap(), "{text}");
        }
    }

    #[test]
    fn inexact_numbers_are_rejected() {
        assert_eq!(check("0.12345678901234567890"), "`0.12345678901234567890` has more digits than a double holds");
        assert_eq!(check("18446744073709551615.5"), "`18446744073709551615.5` has more digits than a double holds");
        assert_eq!(check("1e-999"), "`1e-999` has more digits than a double holds");
        let tiny = "1e-99999999999999999999999999999999999999999";
        assert_eq!(check(tiny), format!("`{tiny}` has more digits than a double holds"));
        assert_eq!(check("1e999"), "`1e999` has more than 400 digits before its point");
        assert_eq!(
            check("1e99999999999999999999999999999999999999999"),
            "`1e99999999999999999999999999999999999999999` has more than 400 digits before its point"
        );
        for text in ["", "-", "1.", ".5", "1e", "1e+", "--1", "+1", "1.5.5", "0x10", "1e5e5", "inf", "NaN", "1_000"] {
            assert_eq!(check(text), format!("`{text}` is not a number"), "{text}");
        }
    }
}
