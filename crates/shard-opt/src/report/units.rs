//! Numbers with units, as people read and write them.

/// Bytes: `0 B`, `512 B`, `1.5 KiB`, `28 GiB`.
pub fn bytes(count: u64) -> String {
    scaled(count as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Seconds: `0 s`, `850 ns`, `12.3 µs`, `1.50 ms`, `2.00 s`.
pub fn seconds(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return if value.is_infinite() { "∞ s".to_owned() } else { "0 s".to_owned() };
    }
    if value >= 1.0 {
        return format!("{} s", short(value));
    }
    scaled(value * 1e9, 1000.0, &["ns", "µs", "ms", "s"])
}

/// Floating-point operations: `12 FLOP`, `3.40 GFLOP`.
pub fn flops(count: f64) -> String {
    scaled(count, 1000.0, &["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"])
}

/// A share of a whole: `34%`, `<1%`.
pub fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 || !whole.is_finite() || part.is_nan() {
        return "-".to_owned();
    }
    let percent = 100.0 * part / whole;
    if percent > 0.0 && percent < 0.5 { "<1%".to_owned() } else { format!("{percent:.0}%") }
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // What would be shown as a whole step is shown in the next unit.
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let number =
        if unit == 0 || value.fract() == 0.0 { format!("{value:.0}") } else { short(value) };
    format!("{number} {}", units[unit])
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// Reads a number of bytes: `1024`, `10MB`, `28GiB`, `1.5 KiB`.
///
/// # Errors
/// What was expected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no size; write a number with a unit, such as 28GiB");
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let factor = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    Ok((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1 KiB");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.00 MiB");
        assert_eq!(bytes(u64::MAX), "16 EiB");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(1.23e-5), "12.3 µs");
        assert_eq!(seconds(2.5e-10), "0 ns");
        assert_eq!(seconds(90.0), "90.0 s");
        assert_eq!(seconds(f64::INFINITY), "∞ s");
        assert_eq!(flops(1.5e9), "1.50 GFLOP");
        assert_eq!(share(1.0, 3.0), "33%");
        assert_eq!(share(1.0, 1000.0), "<1%");
        assert_eq!(share(1.0, 0.0), "-");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_bytes("28GiB"), Ok(28 << 30));
        assert_eq!(parse_bytes("1.5 KiB"), Ok(1536));
        assert_eq!(parse_bytes("10MB"), Ok(10_000_000));
        assert_eq!(parse_bytes("7"), Ok(7));
        assert!(parse_bytes("much").is_err());
        assert!(parse_bytes("1 parsec").is_err());
    }
}
