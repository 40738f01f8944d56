//! Both ends.
