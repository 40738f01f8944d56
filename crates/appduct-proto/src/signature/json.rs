//! JSON values as JavaScript shows them: keys in its order, numbers and strings in its notation.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde_json::value::RawValue;

use crate::wire::{Entries, JsonKind, Text, kind_of};

/// The elements of an array; `None` if `raw` is none.
pub(super) fn elements(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The entries of an object; `None` if `raw` is none. Array indexes come first in rising order, then the other keys in
/// the order of their first mention; the last value of a key counts.
pub(super) fn entries(raw: &RawValue) -> Option<Vec<(Text<'_>, &RawValue)>> {
    let Entries(mentions) = serde_json::from_str(raw.get()).ok()?;
    let mut places = BTreeMap::new();
    let mut entries: Vec<(Text<'_>, &RawValue)> = Vec::with_capacity(mentions.len());
    for (key, value) in mentions {
        if let Some(&place) = places.get(&key) {
            let (_, earlier): &mut (Text<'_>, &RawValue) = &mut entries[place];
            *earlier = value;
        } else {
            places.insert(key.clone(), entries.len());
            entries.push((key, value));
        }
    }
    entries.sort_by_key(|(key, _)| key.array_index().map_or((true, 0), |index| (false, index)));
    Some(entries)
}

/// `raw` as compact JSON of at most `max` characters, or the first `max` characters of it.
pub(super) fn compact(raw: &RawValue, max: usize) -> Result<String, String> {
    let mut start = Start { text: String::new(), room: max };
    match start.value(raw) {
        Ok(()) => Ok(start.text),
        Err(fmt::Error) => Err(start.text),
    }
}

/// The start of a text, as far as there is room.
struct Start {
    text: String,
    room: usize,
}

impl Write for Start {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

impl Start {
    /// Each level of nesting takes room, so the depth of the value does not matter.
    fn value(&mut self, raw: &RawValue) -> fmt::Result {
        match kind_of(raw.get()) {
            JsonKind::Null | JsonKind::Boolean => self.write_str(raw.get()),
            JsonKind::Number => self.number(raw),
            JsonKind::String => Text::of(raw).ok_or(fmt::Error)?.write_json(self),
            JsonKind::Array => {
                self.write_char('[')?;
                for (place, element) in elements(raw).ok_or(fmt::Error)?.into_iter().enumerate() {
                    self.separator(place)?;
                    self.value(element)?;
                }
                self.write_char(']')
            }
            JsonKind::Object => {
                self.write_char('{')?;
                for (place, (key, value)) in entries(raw).ok_or(fmt::Error)?.into_iter().enumerate() {
                    self.separator(place)?;
                    key.write_json(self)?;
                    self.write_char(':')?;
                    self.value(value)?;
                }
                self.write_char('}')
            }
        }
    }

    fn number(&mut self, raw: &RawValue) -> fmt::Result {
        match raw.get().parse::<f64>() {
            Ok(number) if number.is_finite() => self.write_str(ryu_js::Buffer::new().format_finite(number)),
            // JavaScript reads such a number as infinity, which JSON has no word for.
            Ok(_) | Err(_) => self.write_str("null"),
        }
    }

    fn separator(&mut self, place: usize) -> fmt::Result {
        if place > 0 { self.write_char(',') } else { Ok(()) }
    }
}
