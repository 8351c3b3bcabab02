//! The kernel's count of datagrams for which a socket had no room.

use std::fs;

/// UDP receive-buffer errors of the caller's network namespace since it was made, IPv4 and IPv6; 0 where unknown.
pub fn udp_receive_drops() -> u64 {
    let v4 = fs::read_to_string("/proc/thread-self/net/snmp").map_or(0, |text| from_snmp(&text));
    let v6 = fs::read_to_string("/proc/thread-self/net/snmp6").map_or(0, |text| from_snmp6(&text));
    v4 + v6
}

/// A line of names, then a line of values, both beginning with `Udp:`.
fn from_snmp(text: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with("Udp:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    pairs
        .find(|(name, _)| *name == "RcvbufErrors")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0)
}

/// A name and a value a line.
fn from_snmp6(text: &str) -> u64 {
    let mut pairs = text
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace));
    pairs
        .find(|(name, _)| *name == "Udp6RcvbufErrors")
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_tables() {
        let v4 = "Ip: Forwarding\nIp: 1\nUdp: InDatagrams RcvbufErrors SndbufErrors\nUdp: 10 7 0\nUdpLite: x\n";
        assert_eq!(from_snmp(v4), 7);
        assert_eq!(
            from_snmp6("Udp6InDatagrams   \t3\nUdp6RcvbufErrors                \t5\n"),
            5
        );
        assert_eq!(from_snmp("nothing") + from_snmp6("nothing"), 0);
    }
}
