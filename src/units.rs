//! Quantities as people write them, read exactly: decimal text with a unit becomes a whole number of a base unit.
//!
//! Nothing here goes through floating point, so `0.1 us` is 100,000 ps and never 99,999.

use std::fmt::Write as _;

/// One, as a share: shares are whole multiples of 10^-15.
pub const SHARE_ONE: u64 = 1_000_000_000_000_000;

/// What a quantity measures, and so which units it takes and in what it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Durations and instants, counted in picoseconds.
    Time,
    /// Sizes, counted in bytes.
    Bytes,
    /// Link and flow rates, counted in kb/s.
    Rate,
    /// Cable lengths, counted in millimetres.
    Length,
    /// Plain fractions, counted in 10^-15: `0.25`, `25 %` or `1/4`.
    Share,
    /// Plain whole numbers.
    Count,
}

impl Unit {
    /// Units by name, with their size in base units as a fraction (numerator, denominator); the largest last.
    #[must_use]
    pub fn names(self) -> &'static [(&'static str, u64, u64)] {
        match self {
            Self::Time => &[("ps", 1, 1), ("ns", 1000, 1), ("us", 1_000_000, 1), ("ms", 1_000_000_000, 1), ("s", 1_000_000_000_000, 1)],
            Self::Bytes => &[
                ("B", 1, 1),
                ("KB", 1000, 1),
                ("KiB", 1024, 1),
                ("MB", 1_000_000, 1),
                ("MiB", 1_048_576, 1),
                ("GB", 1_000_000_000, 1),
                ("GiB", 1_073_741_824, 1),
                ("TB", 1_000_000_000_000, 1),
                ("TiB", 1_099_511_627_776, 1),
            ],
            Self::Rate => &[("bps", 1, 1000), ("Kbps", 1, 1), ("Mbps", 1000, 1), ("Gbps", 1_000_000, 1), ("Tbps", 1_000_000_000, 1)],
            Self::Length => &[("mm", 1, 1), ("cm", 10, 1), ("m", 1000, 1), ("km", 1_000_000, 1)],
            Self::Share | Self::Count => &[],
        }
    }

    /// A correct example, for error messages.
    #[must_use]
    pub fn example(self) -> &'static str {
        match self {
            Self::Time => "\"55 us\"",
            Self::Bytes => "\"32 MiB\"",
            Self::Rate => "\"400 Gbps\"",
            Self::Length => "\"5 m\"",
            Self::Share => "0.25 or \"25 %\" or \"1/4\"",
            Self::Count => "8",
        }
    }

    /// Name of the dimension.
    #[must_use]
    pub fn dimension(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Bytes => "a size",
            Self::Rate => "a rate",
            Self::Length => "a length",
            Self::Share => "a fraction",
            Self::Count => "a whole number",
        }
    }

    /// Reads a quantity.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        match self {
            Self::Share => parse_share(text),
            Self::Count => parse_count(text),
            _ => self.parse_with_unit(text),
        }
    }

    fn parse_with_unit(self, text: &str) -> Result<u64, String> {
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim());
        if unit.is_empty() {
            return Err(format!("is {} and needs a unit, e.g. {}; units: {}", self.dimension(), self.example(), self.unit_list()));
        }
        let (num, den) = self.find_unit(unit).ok_or_else(|| {
            format!("`{unit}` is not a unit of {}; write e.g. {}; units: {}", self.dimension(), self.example(), self.unit_list())
        })?;
        let (digits, scale) =
            decimal(number).ok_or_else(|| format!("`{number}` is not a decimal number; write e.g. {}", self.example()))?;
        let top = digits.checked_mul(u128::from(num)).ok_or("is too large")?;
        let bottom = scale.checked_mul(u128::from(den)).ok_or("has too many decimals")?;
        if !top.is_multiple_of(bottom) {
            let base = if self == Self::Rate { "Kbps" } else { self.names()[0].0 };
            return Err(format!("is not a whole number of {base}, the resolution of {} here", self.dimension()));
        }
        u64::try_from(top / bottom).map_err(|_| "is too large".to_owned())
    }

    fn find_unit(self, unit: &str) -> Option<(u64, u64)> {
        let canonical = match (self, unit) {
            (Self::Time, "µs" | "μs") => "us",
            (Self::Bytes, "byte" | "bytes") => "B",
            (Self::Bytes, "kB") => "KB",
            (Self::Rate, "b/s" | "bit/s") => "bps",
            (Self::Rate, "kbps" | "kb/s" | "Kb/s" | "kbit/s") => "Kbps",
            (Self::Rate, "Mb/s" | "Mbit/s") => "Mbps",
            (Self::Rate, "Gb/s" | "Gbit/s") => "Gbps",
            (Self::Rate, "Tb/s" | "Tbit/s") => "Tbps",
            (_, other) => other,
        };
        self.names().iter().find(|n| n.0 == canonical).map(|n| (n.1, n.2))
    }

    /// Names of the units, separated by blanks.
    #[must_use]
    pub fn unit_list(self) -> String {
        self.names().iter().map(|n| n.0).collect::<Vec<_>>().join(" ")
    }

    /// Writes a quantity exactly, in the unit that needs the fewest characters (the larger one of two).
    #[must_use]
    pub fn format(self, value: u64) -> String {
        if self == Self::Count {
            return value.to_string();
        }
        if self == Self::Share {
            return decimal_text(u128::from(value), u128::from(SHARE_ONE));
        }
        let mut best = String::new();
        for &(name, num, den) in self.names() {
            let whole = u128::from(value) * u128::from(den);
            if den == 1 && value != 0 && whole < u128::from(num) {
                continue;
            }
            let text = decimal_text(whole, u128::from(num));
            let exact = !text.ends_with('~');
            let text = format!("{text} {name}");
            if exact && (best.is_empty() || text.len() <= best.len()) && !(self == Self::Rate && den != 1 && value != 0) {
                best = text;
            }
            if value == 0 {
                break;
            }
        }
        best
    }
}

/// Digits as an integer, and the power of ten they are divided by.
fn decimal(text: &str) -> Option<(u128, u128)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && part.is_empty() || whole.starts_with('_') {
        return None;
    }
    let (mut digits, mut scale) = (0_u128, 1_u128);
    for (c, after_point) in whole.chars().map(|c| (c, false)).chain(part.chars().map(|c| (c, true))) {
        if c == '_' {
            continue;
        }
        digits = digits.checked_mul(10)?.checked_add(u128::from(c.to_digit(10)?))?;
        if after_point {
            scale = scale.checked_mul(10)?;
        }
    }
    (digits < 1 << 100 && scale < 1 << 80).then_some((digits, scale))
}

/// `10^exponent`, and the mantissa text before it.
fn exponent(text: &str) -> Option<(&str, i32)> {
    match text.split_once(['e', 'E']) {
        None => Some((text, 0)),
        Some((mantissa, e)) => Some((mantissa, e.parse().ok().filter(|e: &i32| e.abs() <= 18)?)),
    }
}

fn parse_share(text: &str) -> Result<u64, String> {
    let bad = || format!("is not a fraction; write e.g. {}", Unit::Share.example());
    let (body, percent) = text.strip_suffix('%').map_or((text, 1), |t| (t.trim_end(), 100));
    let (num, den) = match body.split_once('/') {
        Some((a, b)) => (decimal(a.trim()).ok_or_else(bad)?, decimal(b.trim()).ok_or_else(bad)?),
        None => {
            let (mantissa, e) = exponent(body).ok_or_else(bad)?;
            let (digits, scale) = decimal(mantissa).ok_or_else(bad)?;
            let power = 10_u128.pow(e.unsigned_abs());
            if e < 0 { ((digits, scale), (power, 1)) } else { ((digits.checked_mul(power).ok_or_else(bad)?, scale), (1, 1)) }
        }
    };
    let top = num.0.checked_mul(den.1).ok_or_else(bad)?;
    let bottom = num.1.checked_mul(den.0).and_then(|b| b.checked_mul(percent)).ok_or_else(bad)?;
    if bottom == 0 {
        return Err(bad());
    }
    let (whole, rest) = (top / bottom, top % bottom);
    let mut value = whole.checked_mul(u128::from(SHARE_ONE)).ok_or_else(|| "is too large".to_owned())?;
    let (mut rest, mut place) = (rest, u128::from(SHARE_ONE) / 10);
    while rest > 0 && place > 0 {
        rest = rest.checked_mul(10).ok_or_else(bad)?;
        value += rest / bottom * place;
        rest %= bottom;
        place /= 10;
    }
    u64::try_from(value).map_err(|_| "is too large".to_owned())
}

fn parse_count(text: &str) -> Result<u64, String> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    let bad = || format!("is not a whole number; write e.g. {}", Unit::Count.example());
    if plain.is_empty() || !plain.chars().all(|c| c.is_ascii_digit()) {
        return Err(bad());
    }
    plain.parse().map_err(|_| "is too large".to_owned())
}

/// `top / bottom` as decimal text; ends with `~` if more than 18 decimals would be needed.
fn decimal_text(top: u128, bottom: u128) -> String {
    let mut text = (top / bottom).to_string();
    let mut rest = top % bottom;
    if rest > 0 {
        text.push('.');
    }
    let mut places = 0;
    while rest > 0 {
        if places == 18 {
            text.push('~');
            break;
        }
        rest *= 10;
        let _ = write!(text, "{}", rest / bottom);
        rest %= bottom;
        places += 1;
    }
    text
}

/// A share in units of `2^-bits`, rounded down; `None` if it does not fit 32 bits.
#[must_use]
pub fn share_bits(share: u64, bits: u32) -> Option<u32> {
    u32::try_from((u128::from(share) << bits) / u128::from(SHARE_ONE)).ok()
}

/// A share in units of `2^-32`, with 1 and more as the largest value below 1.
#[must_use]
pub fn share_q32(share: u64) -> u32 {
    share_bits(share, 32).unwrap_or(u32::MAX)
}

/// Propagation delay of a cable (ps), at 5 ns a metre: fibre and copper alike within 1 %.
#[must_use]
pub fn propagation_ps(length_mm: u64) -> u64 {
    length_mm.saturating_mul(5)
}

/// Bytes that a rate delivers in a time, rounded up.
#[must_use]
pub fn bytes_in(rate_kbps: u64, time_ps: u64) -> u64 {
    let bits = u128::from(rate_kbps) * u128::from(time_ps);
    u64::try_from(bits.div_ceil(8_000_000_000)).unwrap_or(u64::MAX)
}

/// Time of one byte at a rate (2^-16 ps), rounded down; `None` if it does not fit 32 bits or the rate is 0.
#[must_use]
pub fn byte_time_q16(rate_kbps: u64) -> Option<u32> {
    (8 * 65_536 * 1_000_000_000_u64).checked_div(rate_kbps).and_then(|t| u32::try_from(t).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        let cases = [
            (Unit::Rate, "400 Gbps", 400_000_000),
            (Unit::Rate, "400Gb/s", 400_000_000),
            (Unit::Rate, "1.6 Tbps", 1_600_000_000),
            (Unit::Rate, "20Mb/s", 20_000),
            (Unit::Rate, "25000 bps", 25),
            (Unit::Time, "55 us", 55_000_000),
            (Unit::Time, "1.5us", 1_500_000),
            (Unit::Time, "0.1 us", 100_000),
            (Unit::Time, "4.294967296 s", 4_294_967_296_000),
            (Unit::Bytes, "32 MiB", 33_554_432),
            (Unit::Bytes, "4 KB", 4000),
            (Unit::Bytes, "0.5 KiB", 512),
            (Unit::Length, "5 m", 5000),
            (Unit::Share, "0.25", SHARE_ONE / 4),
            (Unit::Share, "1/256", 3_906_250_000_000),
            (Unit::Share, "20 %", SHARE_ONE / 5),
            (Unit::Share, "1e-4", SHARE_ONE / 10_000),
            (Unit::Count, "1_000", 1000),
        ];
        for (unit, text, value) in cases {
            assert_eq!(unit.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_exact_or_has_no_unit() {
        for (unit, text, part) in [
            (Unit::Time, "55", "needs a unit, e.g. \"55 us\""),
            (Unit::Time, "0.5 ps", "whole number of ps"),
            (Unit::Rate, "400 GB", "not a unit"),
            (Unit::Bytes, "1.2.3 KB", "not a decimal"),
            (Unit::Bytes, "-4 KB", "not a unit"),
            (Unit::Count, "1.5", "not a whole number"),
            (Unit::Count, "99999999999999999999", "too large"),
            (Unit::Share, "1/0", "not a fraction"),
            (Unit::Time, "99999999999 s", "too large"),
        ] {
            let message = unit.parse(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn writes_short_exact_text() {
        assert_eq!(Unit::Time.format(1_500_000), "1.5 us");
        assert_eq!(Unit::Time.format(0), "0 ps");
        assert_eq!(Unit::Bytes.format(33_554_432), "32 MiB");
        assert_eq!(Unit::Bytes.format(1500), "1.5 KB");
        assert_eq!(Unit::Bytes.format(1001), "1001 B");
        assert_eq!(Unit::Rate.format(400_000_000), "400 Gbps");
        assert_eq!(Unit::Share.format(3_906_250_000_000), "0.00390625");
    }

    #[test]
    fn conversions() {
        assert_eq!(share_q32(SHARE_ONE / 256), 1 << 24);
        assert_eq!(share_q32(SHARE_ONE), u32::MAX);
        assert_eq!(share_bits(SHARE_ONE / 8, 7), Some(16));
        assert_eq!(byte_time_q16(400_000_000), Some(20 << 16));
        assert_eq!(propagation_ps(5000), 25_000);
        assert_eq!(bytes_in(100_000_000, 1_000_000), 12_500);
    }

    proptest! {
        #[test]
        fn text_never_panics(text in ".{0,40}") {
            for unit in [Unit::Time, Unit::Bytes, Unit::Rate, Unit::Length, Unit::Share, Unit::Count] {
                let _ = unit.parse(&text);
            }
        }

        #[test]
        fn written_text_reads_back(value in any::<u64>(), which in 0..6_usize) {
            let unit = [Unit::Time, Unit::Bytes, Unit::Rate, Unit::Length, Unit::Share, Unit::Count][which];
            prop_assert_eq!(unit.parse(&unit.format(value)), Ok(value));
        }
    }
}
