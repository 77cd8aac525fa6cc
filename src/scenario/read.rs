//! Typed access to a document by the key table; what is read is recorded, so that what is not can be reported.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::error::InputError;
use crate::scenario::doc::{Doc, Layer, Node, Value, did_you_mean};
use crate::scenario::keys::{self, Key, Kind, SECTIONS, Section};
use crate::units::Unit;

/// Reads a document.
pub(crate) struct Reader<'a> {
    pub(crate) doc: &'a Doc,
    used: RefCell<BTreeSet<String>>,
    settings: RefCell<serde_json::Map<String, Json>>,
    assumed: RefCell<BTreeSet<String>>,
}

/// One table of a document, or the defaults of a missing one.
#[derive(Clone)]
pub(crate) struct Sec<'a> {
    reader: &'a Reader<'a>,
    prefix: String,
    section: &'static Section,
    table: Option<&'a BTreeMap<String, Node>>,
}

/// A quantity, or one of the words allowed in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    Is(u64),
    Word(&'static str),
}

impl Amount {
    /// The quantity, `None` for a word.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Self::Is(v) => Some(v),
            Self::Word(_) => None,
        }
    }
}

impl<'a> Reader<'a> {
    /// Checks the names of all sections and keys.
    pub(crate) fn new(doc: &'a Doc) -> Result<Self, InputError> {
        for (name, node) in &doc.root {
            let Some(section) = SECTIONS.iter().find(|s| s.name == name) else {
                let names: Vec<&str> = SECTIONS.iter().map(|s| s.name).collect();
                return Err(doc.error(name, Some(node), unknown("section", name, &names)));
            };
            check_section(doc, section, name, node)?;
        }
        Ok(Self { doc, used: RefCell::default(), settings: RefCell::default(), assumed: RefCell::default() })
    }

    /// A `[section]`.
    pub(crate) fn section(&'a self, name: &'static str) -> Sec<'a> {
        let table = self.doc.root.get(name).and_then(|n| if let Value::Table(t) = &n.value { Some(t) } else { None });
        Sec { reader: self, prefix: name.to_owned(), section: keys::section(name).unwrap_or(&SECTIONS[0]), table }
    }

    /// All tables of a `[[section]]`.
    pub(crate) fn list(&'a self, name: &'static str) -> Vec<Sec<'a>> {
        let Some(Node { value: Value::List(items), .. }) = self.doc.root.get(name) else { return Vec::new() };
        self.tables(name.to_owned(), name, items)
    }

    fn tables(&'a self, prefix: String, section: &'static str, items: &'a [Node]) -> Vec<Sec<'a>> {
        let table = |(i, n): (usize, &'a Node)| Sec {
            reader: self,
            prefix: format!("{prefix}.{i}"),
            section: keys::section(section).unwrap_or(&SECTIONS[0]),
            table: if let Value::Table(t) = &n.value { Some(t) } else { None },
        };
        items.iter().enumerate().map(table).collect()
    }

    /// Everything that was read, as text with units.
    pub(crate) fn settings(&self) -> serde_json::Map<String, Json> {
        self.settings.borrow().clone()
    }

    /// Keys left to a default that is an assumption of this project.
    pub(crate) fn assumed(&self) -> Vec<String> {
        self.assumed.borrow().iter().cloned().collect()
    }

    /// Keys of the file or the command line that nothing has read, with an error about each.
    pub(crate) fn unused(&self) -> Vec<(Layer, InputError)> {
        let mut unused = Vec::new();
        for (name, node) in &self.doc.root {
            self.collect_unused(name, node, &mut unused);
        }
        unused
    }

    fn collect_unused(&self, path: &str, node: &Node, unused: &mut Vec<(Layer, InputError)>) {
        match &node.value {
            _ if self.used.borrow().contains(path) => {}
            Value::Table(table) => table.iter().for_each(|(k, n)| self.collect_unused(&format!("{path}.{k}"), n, unused)),
            Value::List(items) if items.iter().all(|n| matches!(n.value, Value::Table(_))) => {
                items.iter().enumerate().for_each(|(i, n)| self.collect_unused(&format!("{path}.{i}"), n, unused));
            }
            _ if node.layer == Layer::Preset => {}
            _ => unused.push((node.layer, self.doc.error(path, Some(node), "has no effect with the other settings; remove it"))),
        }
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("is not a {what}; did you mean `{near}`?"),
        None => format!("is not a {what}; allowed are {}", known.join(", ")),
    }
}

fn check_section(doc: &Doc, section: &Section, path: &str, node: &Node) -> Result<(), InputError> {
    match (&node.value, section.list) {
        (Value::Table(table), false) => check_keys(doc, section, path, table),
        (Value::List(items), true) => {
            for (i, item) in items.iter().enumerate() {
                let path = format!("{path}.{i}");
                match &item.value {
                    Value::Table(table) => check_keys(doc, section, &path, table)?,
                    _ => return Err(doc.error(&path, Some(item), "must be a table of keys")),
                }
            }
            Ok(())
        }
        (_, false) => Err(doc.error(path, Some(node), format!("must be a section, `[{path}]`"))),
        (_, true) => Err(doc.error(path, Some(node), format!("must be a list of sections, `[[{path}]]`"))),
    }
}

fn check_keys(doc: &Doc, section: &Section, path: &str, table: &BTreeMap<String, Node>) -> Result<(), InputError> {
    for (name, node) in table {
        let path = format!("{path}.{name}");
        let Some(key) = section.keys.iter().find(|k| k.name == name) else {
            let names: Vec<&str> = section.keys.iter().map(|k| k.name).collect();
            return Err(doc.error(&path, Some(node), unknown("key", name, &names)));
        };
        if let Kind::Tables(inner) = key.kind
            && let Some(inner) = keys::section(inner)
        {
            check_section(doc, inner, &path, node)?;
        }
    }
    Ok(())
}

impl<'a> Sec<'a> {
    fn key(&self, name: &str) -> &'static Key {
        self.section.keys.iter().find(|k| k.name == name).unwrap_or(&self.section.keys[0])
    }

    /// Dotted name of a key here.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    fn node(&self, name: &str) -> Option<&'a Node> {
        let path = self.path(name);
        let node = self.table.and_then(|t| t.get(name));
        if node.is_none() && self.key(name).source.contains("[A]") {
            self.reader.assumed.borrow_mut().insert(path.clone());
        }
        self.reader.used.borrow_mut().insert(path);
        node
    }

    fn record(&self, name: &str, value: Json) {
        self.reader.settings.borrow_mut().insert(self.path(name), value);
    }

    /// True if the key is set, be it by a preset.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.is_some_and(|t| t.contains_key(name))
    }

    /// The scenario file.
    pub(crate) fn file(&self) -> &'a std::path::Path {
        &self.reader.doc.file
    }

    /// An error about a key.
    pub(crate) fn error(&self, name: &str, message: impl Into<String>) -> InputError {
        self.reader.doc.error(&self.path(name), self.table.and_then(|t| t.get(name)), message)
    }

    fn missing(&self, name: &str) -> InputError {
        let mut error = self.error(name, format!("is missing; {}", allowed(self.key(name))));
        error.line = Some(self.line()).filter(|l| *l > 0);
        error
    }

    /// A quantity or a word.
    pub(crate) fn amount(&self, name: &'static str) -> Result<Amount, InputError> {
        self.amount_if_set(name)?.ok_or_else(|| self.missing(name))
    }

    fn amount_if_set(&self, name: &'static str) -> Result<Option<Amount>, InputError> {
        let key = self.key(name);
        let node = self.node(name);
        let text = match node.map(|n| &n.value) {
            Some(Value::Text(t) | Value::Number(t)) => t.as_str(),
            Some(_) => return Err(self.error(name, allowed(key))),
            None if key.default.is_empty() => return Ok(None),
            None => key.default,
        };
        let amount = parse_amount(key, text).map_err(|m| self.error(name, m))?;
        let Kind::Quantity { unit, .. } = key.kind else { return Ok(Some(amount)) };
        self.record(
            name,
            match amount {
                Amount::Word(w) => Json::from(w),
                Amount::Is(v) if unit == Unit::Count => Json::from(v),
                Amount::Is(v) => Json::from(unit.format(v)),
            },
        );
        Ok(Some(amount))
    }

    /// A quantity of a key that takes no words.
    pub(crate) fn num(&self, name: &'static str) -> Result<u64, InputError> {
        Ok(self.amount(name)?.number().unwrap_or(0))
    }

    /// A quantity of at most 32 bits.
    pub(crate) fn short(&self, name: &'static str) -> Result<u32, InputError> {
        u32::try_from(self.num(name)?).map_err(|_| self.error(name, "does not fit 32 bits"))
    }

    /// A quantity, or `None` for any word.
    pub(crate) fn num_or_word(&self, name: &'static str) -> Result<Option<u64>, InputError> {
        Ok(self.amount(name)?.number())
    }

    /// A quantity, if set.
    pub(crate) fn num_if_set(&self, name: &'static str) -> Result<Option<u64>, InputError> {
        Ok(self.amount_if_set(name)?.and_then(Amount::number))
    }

    /// A flag.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, InputError> {
        let value = match self.node(name).map(|n| &n.value) {
            Some(Value::Flag(b)) => *b,
            Some(_) => return Err(self.error(name, "must be true or false")),
            None => match self.key(name).default {
                "" => return Err(self.missing(name)),
                text => text == "true",
            },
        };
        self.record(name, Json::from(value));
        Ok(value)
    }

    /// One of some words.
    pub(crate) fn word(&self, name: &'static str) -> Result<&'static str, InputError> {
        self.word_if_set(name)?.ok_or_else(|| self.missing(name))
    }

    /// One of some words, if set.
    pub(crate) fn word_if_set(&self, name: &'static str) -> Result<Option<&'static str>, InputError> {
        let key = self.key(name);
        let Kind::Word(words) = key.kind else { return Ok(None) };
        let text = match self.node(name).map(|n| &n.value) {
            Some(Value::Text(t)) => t.as_str(),
            Some(_) => return Err(self.error(name, allowed(key))),
            None if key.default.is_empty() => return Ok(None),
            None => key.default,
        };
        let found = words.iter().find(|w| **w == text).ok_or_else(|| {
            let near = did_you_mean(text, words.iter().copied()).map_or(String::new(), |w| format!("; did you mean \"{w}\"?"));
            self.error(name, allowed(key) + &near)
        })?;
        self.record(name, Json::from(*found));
        Ok(Some(found))
    }

    /// Text; a number counts as text.
    pub(crate) fn text(&self, name: &'static str) -> Result<String, InputError> {
        self.text_if_set(name)?.ok_or_else(|| self.missing(name))
    }

    /// Text, if set or with a default.
    pub(crate) fn text_if_set(&self, name: &'static str) -> Result<Option<String>, InputError> {
        let text = match self.node(name).map(|n| &n.value) {
            Some(Value::Text(t)) if !t.trim().is_empty() => t.trim().to_owned(),
            Some(Value::Number(t)) => t.clone(),
            Some(_) => return Err(self.error(name, "must be text that is not empty")),
            None => match self.key(name).default {
                "" => return Ok(None),
                text => text.to_owned(),
            },
        };
        self.record(name, Json::from(text.clone()));
        Ok(Some(text))
    }

    /// A list of texts; one text counts as a list of one.
    pub(crate) fn texts(&self, name: &'static str) -> Result<Vec<String>, InputError> {
        let must = "must be a list of texts, e.g. [\"all\"]";
        let one = |n: &Node| match &n.value {
            Value::Text(t) | Value::Number(t) => Ok(t.clone()),
            _ => Err(self.error(name, must)),
        };
        let texts = match self.node(name) {
            None => Vec::new(),
            Some(Node { value: Value::List(items), .. }) => items.iter().map(one).collect::<Result<_, _>>()?,
            Some(node) => vec![one(node)?],
        };
        self.record(name, Json::from(texts.clone()));
        Ok(texts)
    }

    /// The tables of a list in a key.
    pub(crate) fn tables(&self, name: &'static str) -> Vec<Self> {
        let Kind::Tables(inner) = self.key(name).kind else { return Vec::new() };
        match self.table.and_then(|t| t.get(name)) {
            Some(Node { value: Value::List(items), .. }) => {
                if items.is_empty() {
                    self.node(name);
                }
                self.reader.tables(self.path(name), inner, items)
            }
            _ => Vec::new(),
        }
    }

    /// Line of the first key in the file; 0 if there is none.
    pub(crate) fn line(&self) -> usize {
        let line = |n: &Node| if let Layer::File(line) = n.layer { Some(line) } else { None };
        self.table.and_then(|t| t.values().filter_map(line).min()).unwrap_or(0)
    }
}

fn parse_amount(key: &Key, text: &str) -> Result<Amount, String> {
    let Kind::Quantity { unit, min, max, words } = key.kind else { return Err("is not a quantity".to_owned()) };
    if let Some(word) = words.iter().find(|w| **w == text) {
        return Ok(Amount::Word(word));
    }
    let value = unit.parse(text).map_err(|m| match words {
        [] => m,
        _ => format!("{m}; or one of {}", quoted(words)),
    })?;
    if value < min || value > max {
        return Err(format!("is out of range; allowed is {} to {}", unit.format(min), unit.format(max)));
    }
    Ok(Amount::Is(value))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", ")
}

/// What a key takes, as a phrase.
pub(crate) fn allowed(key: &Key) -> String {
    match key.kind {
        Kind::Quantity { unit, words: [], .. } => format!("must be {}, e.g. {}", unit.dimension(), unit.example()),
        Kind::Quantity { unit, words, .. } => format!("must be {}, e.g. {}, or one of {}", unit.dimension(), unit.example(), quoted(words)),
        Kind::Flag => "must be true or false".to_owned(),
        Kind::Word(words) => format!("must be one of {}", quoted(words)),
        Kind::Text => "must be text".to_owned(),
        Kind::Texts => "must be a list of texts".to_owned(),
        Kind::Tables(_) => "must be a list of tables".to_owned(),
    }
}
