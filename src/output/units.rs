//! Quantities for people: three or four digits and a unit. Files never use these.

/// A time in picoseconds, such as `1.234 ms`.
#[must_use]
pub fn time(ps: u64) -> String {
    scaled(ps, &["ps", "ns", "us", "ms", "s"])
}

/// A size in bytes with decimal prefixes, such as `1.500 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    scaled(bytes, &["B", "KB", "MB", "GB", "TB", "PB"])
}

/// A rate in kilobits per second, such as `98.40 Gb/s`.
#[must_use]
pub fn rate(kbps: u64) -> String {
    scaled(kbps, &["kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s"])
}

/// A count with decimal prefixes, such as `12.30 M`; whole up to 9999.
#[must_use]
pub fn count(n: u64) -> String {
    if n < 10_000 {
        return n.to_string();
    }
    scaled(n, &["", "k", "M", "G", "T", "P"])
}

/// A count with commas between thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with commas and its noun; the plural is formed by `s`, after a hiss by `es`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    let ending = match noun {
        _ if n == 1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(n))
}

/// Millionths as percent with two decimals.
#[must_use]
pub fn percent(millionths: u64) -> String {
    let hundredths = (millionths + 50) / 100;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// Millionths as a factor with three decimals.
#[must_use]
pub fn factor(millionths: u64) -> String {
    let thousandths = (millionths + 500) / 1000;
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

/// Four digits and the unit that needs no more than three before the point.
fn scaled(value: u64, units: &[&str]) -> String {
    if value < 1000 {
        return format!("{value} {}", units[0]).trim_end().to_string();
    }
    let (mut scale, mut unit) = (1_u64, 0);
    while value / scale >= 1000 && unit + 1 < units.len() {
        scale *= 1000;
        unit += 1;
    }
    let whole = value / scale;
    let decimals = match whole {
        0..=9 => 3,
        10..=99 => 2,
        100..=999 => 1,
        _ => 0,
    };
    let fraction = value % scale / (scale / 1000) / 10_u64.pow(3 - decimals);
    let width = usize::try_from(decimals).unwrap_or(0);
    if width == 0 {
        return format!("{whole} {}", units[unit]);
    }
    format!("{whole}.{fraction:0width$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_need_at_most_three_digits_before_the_point() {
        let expected = [
            (0, "0 ps"),
            (999, "999 ps"),
            (1_000, "1.000 ns"),
            (12_345, "12.34 ns"),
            (999_999, "999.9 ns"),
            (1_500_000_000, "1.500 ms"),
            (7_200_000_000_000_000, "7200 s"),
        ];
        for (ps, text) in expected {
            assert_eq!(time(ps), text);
        }
        assert_eq!(size(1_500_000), "1.500 MB");
        assert_eq!(rate(400_000_000), "400.0 Gb/s");
    }

    #[test]
    fn counts_are_whole_while_they_are_short() {
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(12_300_000), "12.30 M");
        assert_eq!(counted(1, "switch"), "1 switch");
        assert_eq!(counted(1_000, "switch"), "1,000 switches");
        assert_eq!(counted(0, "flow"), "0 flows");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn ratios_are_rounded() {
        assert_eq!(percent(411_360), "41.14 %");
        assert_eq!(percent(1_000_000), "100.00 %");
        assert_eq!(factor(1_250_499), "1.250");
    }
}
