//! A scenario as a tree of values that know where they come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::error::InputError;

/// Where a value comes from; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// A preset.
    Preset,
    /// The scenario file, with the line.
    File(usize),
    /// The command line.
    Override,
}

/// A value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) layer: Layer,
}

/// A value; numbers stay as written, so nothing is rounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    /// An integer or a decimal number.
    Number(String),
    Flag(bool),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
    /// A date or time, which no key takes.
    Other(String),
}

impl Value {
    /// The value as in an error message.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Text(s) | Self::Number(s) | Self::Other(s) => s.clone(),
            Self::Flag(b) => b.to_string(),
            Self::List(_) => "[...]".to_owned(),
            Self::Table(_) => "{...}".to_owned(),
        }
    }
}

/// A document.
#[derive(Debug, Clone)]
pub(crate) struct Doc {
    /// The scenario file.
    pub(crate) file: PathBuf,
    pub(crate) root: BTreeMap<String, Node>,
}

impl Doc {
    /// Parses TOML text.
    pub(crate) fn parse(file: &Path, text: &str) -> Result<Self, InputError> {
        Ok(Self { file: file.to_owned(), root: parse_table(file, text, None)? })
    }

    /// Adds what is missing from a preset; never replaces anything but other presets' values.
    pub(crate) fn underlay(&mut self, text: &str) -> Result<(), InputError> {
        let preset = parse_table(Path::new("preset"), text, Some(Layer::Preset))?;
        underlay(&mut self.root, preset);
        Ok(())
    }

    /// Sets a dotted key. List entries are named by position or by their `name`.
    pub(crate) fn set(&mut self, key: &str, text: &str) -> Result<(), InputError> {
        let wrong = |message: String| InputError { key: key.to_owned(), found: text.to_owned(), message, ..InputError::default() };
        let node = parse_override(text);
        let parts: Vec<&str> = key.split('.').map(str::trim).collect();
        let Some((last, path)) = parts.split_last() else { return Err(wrong("is not a key".to_owned())) };
        if parts.iter().any(|p| p.is_empty()) {
            return Err(wrong("is not a dotted key, e.g. `switch.buffer`".to_owned()));
        }
        let mut table = &mut self.root;
        let mut rest = path.iter();
        while let Some(part) = rest.next() {
            let entry =
                table.entry((*part).to_owned()).or_insert_with(|| Node { value: Value::Table(BTreeMap::new()), layer: Layer::Override });
            table = match &mut entry.value {
                Value::Table(inner) => inner,
                Value::List(items) => {
                    let which = rest.next().ok_or_else(|| wrong("names a list; say which entry, e.g. `traffic.0.size`".to_owned()))?;
                    let at = find_entry(items, which)
                        .ok_or_else(|| wrong(format!("there is no `{which}` among the {} entries of `{part}`", items.len())))?;
                    match &mut items[at].value {
                        Value::Table(inner) => inner,
                        _ => return Err(wrong(format!("`{which}` of `{part}` has no keys"))),
                    }
                }
                _ => return Err(wrong(format!("`{part}` has no keys"))),
            };
        }
        table.insert((*last).to_owned(), node);
        Ok(())
    }

    /// An error about a value.
    pub(crate) fn error(&self, key: &str, node: Option<&Node>, message: impl Into<String>) -> InputError {
        let mut error = InputError { key: key.to_owned(), message: message.into(), ..InputError::default() };
        if let Some(node) = node {
            error.found = match &node.value {
                Value::List(_) | Value::Table(_) => String::new(),
                value => value.show(),
            };
            if let Layer::File(line) = node.layer {
                error.file.clone_from(&self.file);
                error.line = Some(line);
            }
            if node.layer == Layer::Preset {
                error.file.clone_from(&self.file);
            }
        } else {
            error.file.clone_from(&self.file);
        }
        error
    }
}

fn find_entry(items: &[Node], which: &str) -> Option<usize> {
    if let Ok(at) = which.parse::<usize>() {
        return (at < items.len()).then_some(at);
    }
    items.iter().position(|n| match &n.value {
        Value::Table(t) => matches!(t.get("name").map(|n| &n.value), Some(Value::Text(name)) if name == which),
        _ => false,
    })
}

fn underlay(upper: &mut BTreeMap<String, Node>, lower: BTreeMap<String, Node>) {
    for (key, node) in lower {
        match (upper.get_mut(&key).map(|n| &mut n.value), node.value) {
            (None, value) => {
                upper.insert(key, Node { value, layer: node.layer });
            }
            (Some(Value::Table(inner)), Value::Table(more)) => underlay(inner, more),
            _ => {}
        }
    }
}

fn parse_table(file: &Path, text: &str, layer: Option<Layer>) -> Result<BTreeMap<String, Node>, InputError> {
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
    let line_of = |offset: usize| starts.partition_point(|s| *s <= offset);
    let table = DeTable::parse(text).map_err(|e| InputError {
        file: file.to_owned(),
        line: e.span().map(|s| line_of(s.start)),
        message: format!("is not valid TOML: {}", e.message().trim()),
        ..InputError::default()
    })?;
    Ok(convert_table(table.get_ref(), &|offset| layer.unwrap_or_else(|| Layer::File(line_of(offset)))))
}

fn convert_table(table: &DeTable<'_>, layer: &dyn Fn(usize) -> Layer) -> BTreeMap<String, Node> {
    table
        .iter()
        .map(|(key, value)| {
            let mut node = convert(value.get_ref(), value.span().start, layer);
            node.layer = layer(key.span().start);
            (key.get_ref().to_string(), node)
        })
        .collect()
}

fn convert(value: &DeValue<'_>, start: usize, layer: &dyn Fn(usize) -> Layer) -> Node {
    let value = match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) if i.radix() == 10 => Value::Number(i.as_str().to_owned()),
        DeValue::Integer(i) => match u64::from_str_radix(i.as_str(), i.radix()) {
            Ok(number) => Value::Number(number.to_string()),
            Err(_) => Value::Other(i.to_string()),
        },
        DeValue::Float(f) => Value::Number(f.as_str().to_owned()),
        DeValue::Boolean(b) => Value::Flag(*b),
        DeValue::Datetime(d) => Value::Other(d.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|v| convert(v.get_ref(), v.span().start, layer)).collect()),
        DeValue::Table(inner) => Value::Table(convert_table(inner, layer)),
    };
    Node { value, layer: layer(start) }
}

/// The value of an override: TOML if it is, else text.
fn parse_override(text: &str) -> Node {
    let layer = |_: usize| Layer::Override;
    match DeValue::parse(text.trim()) {
        Ok(value) if !matches!(value.get_ref(), DeValue::Datetime(_)) => convert(value.get_ref(), 0, &layer),
        _ => Node { value: Value::Text(text.trim().to_owned()), layer: Layer::Override },
    }
}

/// The candidate that `word` is most likely a misspelling of.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (edits(&word, c), c))
        .filter(|(d, c)| *d <= 1 + c.len().max(word.len()) / 4 || (word.len() > 2 && (c.contains(word.as_str()) || word.contains(c))))
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edit distance with transpositions, of the first 64 characters.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_layers() {
        let mut doc =
            Doc::parse(Path::new("s.toml"), "[switch]\nbuffer = \"1 MB\"\n\n[[class]]\nname = \"data\"\necn = true\n").expect("valid");
        doc.underlay("[switch]\nbuffer = \"2 MB\"\nalpha = 0.5\n").expect("valid");
        doc.set("class.data.priority", "3").expect("exists");
        doc.set("switch.reserve", "4 KB").expect("is text");
        let Value::Table(switch) = &doc.root["switch"].value else { panic!("a table") };
        assert_eq!(switch["buffer"], Node { value: Value::Text("1 MB".into()), layer: Layer::File(2) });
        assert_eq!(switch["alpha"].layer, Layer::Preset);
        assert_eq!(switch["reserve"], Node { value: Value::Text("4 KB".into()), layer: Layer::Override });
        let Value::List(classes) = &doc.root["class"].value else { panic!("a list") };
        let Value::Table(class) = &classes[0].value else { panic!("a table") };
        assert_eq!(class["priority"].value, Value::Number("3".into()));
        assert_eq!(class["ecn"].layer, Layer::File(6));
        assert!(doc.set("class.x.priority", "3").is_err());
        assert!(doc.set("class.1.priority", "3").is_err());
        assert!(doc.set("class", "3").is_ok());
        assert!(doc.set("class.priority.x", "3").is_err());
        assert!(doc.set("..", "3").is_err());
    }

    #[test]
    fn syntax_errors_have_lines() {
        let error = Doc::parse(Path::new("s.toml"), "a = 1\nb = = 2\n").expect_err("bad");
        assert_eq!(error.line, Some(2));
    }

    #[test]
    fn misspellings() {
        let keys = ["buffer", "reserve", "headroom", "alpha"];
        assert_eq!(did_you_mean("bufer", keys), Some("buffer"));
        assert_eq!(did_you_mean("haedroom", keys), Some("headroom"));
        assert_eq!(did_you_mean("zzz", keys), None);
    }
}
