//! The value under validation, as the validator sees it: `serde_json`'s, with a price on every look.

use std::borrow::Cow;
use std::iter::Inspect;
use std::slice;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value, map};

use super::meter::{charge, charge_error};

/// So many bytes of a string are read at the price of one look.
const BYTES_PER_LOOK: u64 = 64;

/// `serde_json` values, metered.
#[derive(Debug)]
pub(super) struct Metered;

impl Json for Metered {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = ();

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;
    const ACYCLIC: bool = SerdeJson::ACYCLIC;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(buffer: &mut (), string: &str, f: impl FnOnce(&Value) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, f)
    }
}

impl<'a> Node<'a, Metered> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<Self::Object> {
        charge(1);
        Node::<SerdeJson>::as_object(self)
    }

    fn as_array(&self) -> Option<Self::Array> {
        charge(1);
        Node::<SerdeJson>::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        charge_string(self);
        Node::<SerdeJson>::as_string(self)
    }

    fn as_number(&self) -> Option<Self::Number> {
        charge(1);
        Node::<SerdeJson>::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        charge(1);
        Node::<SerdeJson>::as_boolean(self)
    }

    fn is_null(&self) -> bool {
        charge(1);
        Node::<SerdeJson>::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        charge(1);
        Node::<SerdeJson>::json_type(self)
    }

    fn string_length(&self) -> Option<u64> {
        charge_string(self);
        Node::<SerdeJson>::string_length(self)
    }

    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        charge_string(self);
        Node::<SerdeJson>::string_length_within(self, min, max)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        charge_string(self);
        Node::<SerdeJson>::equals_value(self, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        // The validator wants the value itself when it writes an error about it.
        charge_error();
        Node::<SerdeJson>::to_value(self)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        charge(1);
        Node::<SerdeJson>::identity(self)
    }
}

fn charge_string(value: &Value) {
    let bytes = value.as_str().map_or(0, str::len) as u64;
    charge(1 + bytes / BYTES_PER_LOOK);
}

impl<'a> Object<'a, Metered> for &'a Map<String, Value> {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        charge(1);
        Map::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        charge(1);
        Object::<SerdeJson>::get(self, key)
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

/// The members of an object.
#[derive(Debug)]
pub(super) struct Members<'a>(map::Iter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        charge(1);
        self.0.next().map(|(name, value)| (name.as_str(), value))
    }
}

impl<'a> Array<'a, Metered> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = Inspect<slice::Iter<'a, Value>, fn(&&'a Value)>;

    fn len(&self) -> usize {
        charge(1);
        <[Value]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        self.iter().inspect(|_| charge(1))
    }

    fn is_unique(&self) -> bool {
        charge(<[Value]>::len(self) as u64);
        Array::<SerdeJson>::is_unique(self)
    }
}
