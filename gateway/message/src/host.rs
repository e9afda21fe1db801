//! `Host` (RFC 9110 §7.2): a host name or address, and perhaps a port.
//!
//! Narrower than the `reg-name` of RFC 3986: letters, digits, `-`, `.`, `_` and `~` in labels that are not empty. What
//! else that grammar allows (`,`, `;`, `%` and the like) is in no name that resolves, but splits lists and paths.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::bytes::ascii;

/// The longest host name (RFC 1035 §2.3.4, with the dot at its end).
const NAME_BYTES_MAX: usize = 255;

/// Validates `host [ ":" port ]` and returns it in lower case.
///
/// # Errors
/// What is wrong with it.
pub fn authority(value: &[u8]) -> Result<String, &'static str> {
    let (host, port) = if value.first() == Some(&b'[') {
        let end = memchr::memchr(b']', value).ok_or("an address bracket is not closed")?;
        ascii(&value[1..end]).parse::<Ipv6Addr>().map_err(|_| "not an IPv6 address")?;
        value.split_at(end + 1)
    } else {
        let (name, port) = value.split_at(memchr::memchr(b':', value).unwrap_or(value.len()));
        check_name(name)?;
        (name, port)
    };
    match port {
        [] => {}
        [b':', digits @ ..] => check_port(digits)?,
        _ => return Err("something stands after the address"),
    }
    debug_assert!(host.is_ascii());
    Ok(ascii(value).to_ascii_lowercase())
}

fn check_name(name: &[u8]) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("the host is empty");
    }
    if name.len() > NAME_BYTES_MAX {
        return Err("the host is too long");
    }
    let mut label_bytes = 0;
    let mut is_numeric = true;
    for &b in name {
        if b == b'.' {
            if label_bytes == 0 {
                return Err("the host has an empty label");
            }
            label_bytes = 0;
        } else if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'~') {
            label_bytes += 1;
            is_numeric &= b.is_ascii_digit();
        } else {
            return Err("the host has a byte that is not allowed");
        }
    }
    if is_numeric && name.contains(&b'.') && ascii(name).parse::<Ipv4Addr>().is_err() {
        return Err("not an IPv4 address");
    }
    Ok(())
}

fn check_port(digits: &[u8]) -> Result<(), &'static str> {
    let is_number = (1..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if is_number && ascii(digits).parse::<u16>().is_ok() { Ok(()) } else { Err("the port is not a number up to 65535") }
}
