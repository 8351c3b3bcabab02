//! One line of a query file: `name type [class] [key=value ...]`.

use super::lines;
use crate::message::{MessageOptions, compose_query};
use dnsrig_zone::Name;
use domain::base::iana::{Class, Rtype};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// What the line says.
#[derive(Debug)]
pub struct QueryLine {
    pub name: Name,
    pub rtype: Rtype,
    pub class: Class,
    /// The options, if the line changes any of those that all messages have.
    pub options: Option<MessageOptions>,
    /// The time of `time=`, in ns.
    pub time_ns: Option<i64>,
    /// The client of `client=`.
    pub client: Option<Client>,
}

/// A client as a query file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// By a number.
    Number(u32),
    /// By its address.
    Address(IpAddr),
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// Reads a line; `None` if it is empty or a comment.
pub fn parse(line: &str, base: &MessageOptions) -> Result<Option<QueryLine>, String> {
    let mut fields = line.split_ascii_whitespace();
    let Some(name) = fields.next().filter(|name| !lines::is_comment(name)) else {
        return Ok(None);
    };
    let rtype = fields
        .next()
        .ok_or_else(|| format!("'{name}' without a type after it"))?;
    let mut query = QueryLine {
        name: lines::name(name)?,
        rtype: lines::rtype(rtype)?,
        class: Class::IN,
        options: None,
        time_ns: None,
        client: None,
    };
    for (place, field) in fields.enumerate() {
        if let Some((key, value)) = field.split_once('=') {
            query.set(key, value, base)?;
        } else if place == 0 {
            query.class = class(field)?;
        } else {
            return Err(format!("'{field}' is not an option such as do=1"));
        }
    }
    Ok(Some(query))
}

fn class(text: &str) -> Result<Class, String> {
    // The one mnemonic that is written `*` elsewhere.
    if text.eq_ignore_ascii_case("ANY") {
        return Ok(Class::ANY);
    }
    Class::from_str(text).map_err(|_| {
        format!("'{text}' after the type is neither a class nor an option such as do=1")
    })
}

impl QueryLine {
    /// Appends its message; `base` is what all messages have.
    pub fn compose(&self, base: &MessageOptions, message: &mut Vec<u8>) {
        let options = self.options.as_ref().unwrap_or(base);
        compose_query(
            self.name.for_slice(),
            self.rtype,
            self.class,
            options,
            message,
        );
    }

    fn set(&mut self, key: &str, value: &str, base: &MessageOptions) -> Result<(), String> {
        match key {
            "time" => self.time_ns = Some(nanoseconds(value)?),
            "client" => self.client = Some(client(value)?),
            _ => {
                let options = self.options.get_or_insert_with(|| base.clone());
                set_option(options, key, value)?;
            }
        }
        Ok(())
    }
}

fn set_option(options: &mut MessageOptions, key: &str, value: &str) -> Result<(), String> {
    match key {
        "rd" => options.recursion_desired = flag(key, value)?,
        "cd" => options.checking_disabled = flag(key, value)?,
        "ad" => options.authentic_data = flag(key, value)?,
        "do" => options.do_bit = flag(key, value)?,
        "nsid" => options.nsid = flag(key, value)?,
        "cookie" => options.cookie = flag(key, value)?,
        "edns" => options.edns_size = Some(number(key, value)?),
        "padding" => options.padding_block = Some(number(key, value)?),
        "ecs" => options.client_subnet = Some(value.parse()?),
        "option" => options.options.push(value.parse()?)?,
        _ => {
            return Err(format!(
                "'{key}=' is not known; there are rd, cd, ad, do, edns, nsid, ecs, padding, cookie, option, client and time"
            ));
        }
    }
    Ok(())
}

fn flag(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("'{key}={value}': write {key}=0 or {key}=1")),
    }
}

fn number(key: &str, value: &str) -> Result<u16, String> {
    value
        .parse()
        .map_err(|_| format!("'{key}={value}': write a number of octets from 0 to 65535"))
}

fn client(value: &str) -> Result<Client, String> {
    (value.parse().map(Client::Number))
        .or_else(|_| value.parse().map(Client::Address))
        .map_err(|_| format!("'client={value}': write a number or an IP address"))
}

/// Reads seconds with at most nine decimals, exactly.
fn nanoseconds(value: &str) -> Result<i64, String> {
    let (seconds, decimals) = value.split_once('.').unwrap_or((value, ""));
    let is_decimal = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    let is_number = !seconds.is_empty() && is_decimal(seconds) && is_decimal(decimals);
    let exact = || -> Option<i64> {
        let seconds: i64 = seconds.parse().ok()?;
        let nanoseconds: i64 = format!("{decimals:0<9}").parse().ok()?;
        seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    };
    Some(())
        .filter(|()| is_number && decimals.len() <= 9)
        .and_then(|()| exact())
        .ok_or_else(|| {
            format!("'time={value}': write seconds such as 12.000345, with at most nine decimals")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert_eq!(
            nanoseconds("1700000000.123456789"),
            Ok(1_700_000_000_123_456_789)
        );
        assert_eq!(nanoseconds("0.1"), Ok(100_000_000));
        assert_eq!(nanoseconds("7"), Ok(7_000_000_000));
        for wrong in [
            "",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1.0000000001",
            "99999999999",
            "1.2.3",
            "nan",
        ] {
            assert!(nanoseconds(wrong).is_err(), "{wrong}");
        }
    }
}
