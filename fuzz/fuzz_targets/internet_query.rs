//! The simulated Internet: any octets sent to any of its servers get a whole message or none, and no panic.
#![no_main]

use dnsrig_answer::Transport;
use dnsrig_internet::{Arrived, Internet, InternetOptions, Profile, Scratch};
use domain::base::Message;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::Duration;

static INTERNET: LazyLock<Internet> = LazyLock::new(|| {
    let profile = Profile::load("small").expect("a named profile");
    let options = InternetOptions::new(1, 1_669_900_000);
    Internet::new(&profile, options).expect("an Internet")
});

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (server, is_tcp, octets) = input;
    let servers = INTERNET.servers().servers();
    let arrived = Arrived {
        server: servers[usize::from(server) % servers.len()].ipv4.into(),
        transport: if is_tcp { Transport::Tcp } else { Transport::Udp },
        message: octets,
        now: Duration::ZERO,
    };
    let mut out = vec![0; 65_535];
    let answer = INTERNET.answer(&arrived, &mut Scratch::default(), &mut out);
    if let Some(len) = answer.len {
        let message = Message::from_octets(&out[..len]).expect("a message");
        for section in [message.answer(), message.authority(), message.additional()] {
            for record in section.expect("a whole section") {
                record.expect("a whole record");
            }
        }
    }
});
