//! Both ends joined by a bad link, in virtual time.

mod bad_link;
mod storms;
