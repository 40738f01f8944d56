//! Whether a value is free of numbers that JSON does not have.
//!
//! `serde_json` writes them as `null`, which a caller could not tell from a `null` that was meant.

use std::fmt;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Whether every number in `value` is finite. `false` as well for a value that refuses to be serialised.
pub(super) fn is_finite(value: &(impl Serialize + ?Sized)) -> bool {
    value.serialize(Check).is_ok()
}

/// Looks at a value and writes nothing.
struct Check;

#[derive(Debug)]
struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number is not finite")
    }
}

impl std::error::Error for NotFinite {}

impl Error for NotFinite {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Checked = Result<(), NotFinite>;

macro_rules! harmless {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Checked {
            Ok(())
        })*
    };
}

impl Serializer for Check {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    harmless! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_f32(self, number: f32) -> Checked {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Checked {
        if number.is_finite() { Ok(()) } else { Err(NotFinite) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }
}

macro_rules! parts {
    ($($kind:ident { $($method:ident($($name:ty)?);)+ })*) => {
        $(impl $kind for Check {
            type Ok = ();
            type Error = NotFinite;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Checked {
                value.serialize(Self)
            })+

            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

parts! {
    SerializeSeq { serialize_element(); }
    SerializeTuple { serialize_element(); }
    SerializeTupleStruct { serialize_field(); }
    SerializeTupleVariant { serialize_field(); }
    SerializeMap { serialize_key(); serialize_value(); }
    SerializeStruct { serialize_field(&'static str); }
    SerializeStructVariant { serialize_field(&'static str); }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(serde::Serialize)]
    enum Shape {
        Point,
        Circle(f64),
        Line(f32, f32),
        Box { width: f64 },
    }

    #[test]
    fn numbers_are_found_wherever_they_are() {
        for good in [Shape::Point, Shape::Circle(1.0), Shape::Line(0.5, -0.0), Shape::Box { width: f64::MAX }] {
            assert!(is_finite(&[Some(BTreeMap::from([("shape", good)]))]));
        }
        for bad in [Shape::Circle(f64::NAN), Shape::Line(0.0, f32::INFINITY), Shape::Box { width: f64::NEG_INFINITY }] {
            assert!(!is_finite(&[Some(BTreeMap::from([("shape", bad)]))]));
        }
        assert!(is_finite(&serde_json::json!({ "a": [1, "b", null, 2.5, { "c": true }] })));
        assert!(is_finite(&appduct_proto::wire::RawJson::parse("[1e400]").unwrap()));
    }
}
