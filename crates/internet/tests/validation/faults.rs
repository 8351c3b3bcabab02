//! What servers do wrong, and when they are away.

use crate::options;
use crate::walk::query;
use dnsrig_answer::Transport;
use dnsrig_internet::{
    Answer, Arrived, Internet, InternetOptions, NameServer, Outage, Profile, QueryNames, RateLimit,
    Responding, Scratch, ServerId, profile_text,
};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const FORMERR: u8 = 1;
const REFUSED: u8 = 5;
/// The header's flag that the message is truncated.
const TC: u8 = 2;

/// An Internet of the small profile, changed, and a domain with one of its operator's servers.
struct Place {
    internet: Internet,
    name: Name,
    servers: Vec<Ipv4Addr>,
}

impl Place {
    fn new(has_distances: bool, change: impl FnOnce(&mut Profile)) -> Self {
        let mut profile = Profile::load("small").unwrap();
        profile.hosting.own_servers_share = 0.0;
        profile.hosting.operator[0].share = 1.0;
        profile.hosting.operator[0].sets = 1;
        change(&mut profile);
        let options = InternetOptions {
            has_distances,
            ..options(1)
        };
        let internet = Internet::new(&profile, options).unwrap();
        let asked = QueryNames::new(&internet, 1, 0.0).next().unwrap().name;
        let name = asked.iter_suffixes().find(|name| name.label_count() == 3);
        let is_of = |server: &&NameServer| server.name.to_string().ends_with("large-dns.net");
        let servers = internet.servers().servers().iter().filter(is_of);
        Self {
            name: name.unwrap(),
            servers: servers.map(|server| server.ipv4).collect(),
            internet,
        }
    }

    fn ask(
        &self,
        server: usize,
        message: &[u8],
        transport: Transport,
        now_s: f64,
    ) -> (Answer, Vec<u8>) {
        let arrived = Arrived {
            server: IpAddr::V4(self.servers[server]),
            transport,
            message,
            now: Duration::from_secs_f64(now_s),
        };
        let mut out = vec![0; 65_535];
        let answer = self
            .internet
            .answer(&arrived, &mut Scratch::default(), &mut out);
        out.truncate(answer.len.unwrap_or(0));
        (answer, out)
    }

    /// The answer to a query with EDNS and DO, at once.
    fn simply(&self, server: usize, rtype: Rtype) -> Vec<u8> {
        self.ask(server, &query(&self.name, rtype, true), Transport::Udp, 0.0)
            .1
    }
}

/// The same query without its OPT record.
fn without_edns(mut message: Vec<u8>) -> Vec<u8> {
    message.truncate(message.len() - 11);
    message[11] = 0;
    message
}

#[test]
fn servers_that_cannot_edns() {
    let formerr = Place::new(false, |profile| profile.faults.edns_formerr_share = 1.0);
    let message = query(&formerr.name, Rtype::A, true);
    let (_, with) = formerr.ask(0, &message, Transport::Udp, 0.0);
    assert_eq!((with[3] & 15, with.len()), (FORMERR, message.len() - 11));
    let (_, without) = formerr.ask(0, &without_edns(message.clone()), Transport::Udp, 0.0);
    assert_eq!((without[3] & 15, without[7] > 0), (0, true));

    let ignored = Place::new(false, |profile| profile.faults.edns_ignored_share = 1.0);
    let (_, with) = ignored.ask(0, &message, Transport::Udp, 0.0);
    assert_eq!(with, without, "as if there were no OPT record");
}

#[test]
fn sizes_over_udp() {
    for (payload, change) in [
        (
            512,
            (|profile: &mut Profile| profile.faults.udp_512_share = 1.0) as fn(&mut Profile),
        ),
        (1232, |_| {}),
        (4096, |profile| profile.faults.udp_4096_share = 1.0),
    ] {
        let place = Place::new(false, change);
        let out = place.simply(0, Rtype::SOA);
        let opt = &out[out.len() - 11..];
        assert_eq!(u16::from_be_bytes([opt[3], opt[4]]), payload, "announced");
        assert!(out.len() <= usize::from(payload));
    }
    let small = Place::new(false, |profile| {
        profile.faults.udp_512_share = 1.0;
        profile.signing.without_ds_share = 1.0;
    });
    let message = query(&small.name, Rtype::ANY, true);
    let large = query(&small.name, Rtype::DNSKEY, true);
    let (_, whole) = small.ask(0, &message, Transport::Tcp, 0.0);
    assert!(whole.len() > 512 && whole[2] & TC == 0);
    let (_, udp) = small.ask(0, &large, Transport::Udp, 0.0);
    let (_, tcp) = small.ask(0, &large, Transport::Tcp, 0.0);
    assert!(udp.len() <= 512);
    assert_eq!(udp[2] & TC != 0, tcp.len() > 512);
}

#[test]
fn lame_servers_refuse_but_never_the_first() {
    let place = Place::new(false, |profile| profile.faults.lame_share = 1.0);
    let rcode = |server| place.simply(server, Rtype::A)[3] & 15;
    assert_eq!((rcode(0), rcode(1)), (0, REFUSED));
}

#[test]
fn outages_by_schedule() {
    let place = Place::new(false, |profile| {
        profile.outage.push(Outage {
            operator: "large-dns".to_owned(),
            from_s: 2.0,
            for_s: 1.5,
        });
    });
    let message = query(&place.name, Rtype::A, true);
    for (now_s, is_there) in [(1.9, true), (2.0, false), (3.4, false), (3.5, true)] {
        for transport in [Transport::Udp, Transport::Tcp] {
            let (answer, _) = place.ask(0, &message, transport, now_s);
            assert_eq!(answer.len.is_some(), is_there, "after {now_s} s");
        }
    }
    let is_there = |now_s| {
        place
            .ask(0, &message, Transport::Udp, now_s)
            .0
            .len
            .is_some()
    };
    place.internet.hold_outages();
    assert!(is_there(2.5));
    place
        .internet
        .begin_outages(Duration::from_secs(10), Duration::ZERO);
    assert!(is_there(2.5) && is_there(11.9));
    assert!(!is_there(12.0) && !is_there(13.4));
    assert!(is_there(13.5));
    // It may have begun before the clock did.
    place
        .internet
        .begin_outages(Duration::from_secs(1), Duration::from_secs(3));
    assert!(!is_there(1.0) && !is_there(1.4));
    assert!(is_there(1.5));
}

#[test]
fn rate_limits_leave_tcp_alone() {
    let place = Place::new(false, |profile| profile.faults.rate_limit_qps = Some(3));
    let message = query(&place.name, Rtype::A, true);
    let over_udp: Vec<Option<bool>> = (0..6)
        .map(|_| place.ask(0, &message, Transport::Udp, 0.5))
        .map(|(answer, out)| answer.len.map(|_| out[2] & TC != 0))
        .collect();
    let (whole, truncated) = (Some(false), Some(true));
    assert_eq!(over_udp, [whole, whole, whole, truncated, None, truncated]);
    let (answer, out) = place.ask(0, &message, Transport::Tcp, 0.5);
    assert!(answer.len.is_some() && out[2] & TC == 0);
    assert!(
        place.ask(1, &message, Transport::Udp, 0.5).0.len.is_some(),
        "another server"
    );
}

#[test]
fn an_operator_has_its_own_limit() {
    let sent = |limited: &str| {
        let place = Place::new(false, |profile| {
            profile.faults.rate_limit_qps = Some(2);
            profile.rate_limit.push(RateLimit {
                operator: limited.to_owned(),
                qps: 4,
            });
        });
        let message = query(&place.name, Rtype::A, true);
        let answers = (0..6).map(|_| place.ask(0, &message, Transport::Udp, 0.5));
        let whole = answers.filter(|(answer, out)| answer.len.is_some() && out[2] & TC == 0);
        whole.count()
    };
    assert_eq!(sent("large-dns"), 4);
    assert_eq!(sent("."), 2);
}

#[test]
fn all_operators_that_accounts_name_can_be_out_and_no_others() {
    let with = |operator: &str| {
        let mut profile = Profile::load("small").unwrap();
        profile.outage.push(Outage {
            operator: operator.to_owned(),
            from_s: 0.0,
            for_s: 1.0,
        });
        Internet::new(&profile, options(1))
    };
    for operator in [
        ".",
        ".com",
        "large-dns",
        "dns-h1",
        "registry-1",
        "own servers",
    ] {
        assert!(with(operator).is_ok(), "{operator}");
    }
    let error = with("dns-h9999").unwrap_err().to_string();
    assert!(
        error.contains("outage of dns-h9999: there is no such operator"),
        "{error}"
    );
}

#[test]
fn servers_of_domains_that_have_their_own_can_be_out() {
    let mut place = Place::new(false, |profile| {
        profile.outage.push(Outage {
            operator: "own servers".to_owned(),
            from_s: 0.0,
            for_s: 1.0,
        });
    });
    let message = query(&place.name, Rtype::A, true);
    let is_there = |place: &Place, now_s| {
        let (answer, _) = place.ask(0, &message, Transport::Udp, now_s);
        answer.len.is_some()
    };
    assert!(is_there(&place, 0.5), "an operator's");
    // The prefix of the small profile has its upper half for them.
    place.servers[0] = Ipv4Addr::new(198, 19, 0, 5);
    let found = place.internet.servers().at(place.servers[0].into());
    assert!(matches!(found, Some(ServerId::Own(_))), "{found:?}");
    assert_eq!(
        [0.5, 1.5].map(|now_s| is_there(&place, now_s)),
        [false, true]
    );
}

#[test]
fn limits_and_outages_that_the_profile_shows_can_be_taken_in() {
    let keys = ["rate_limit_qps", "[[", "operator", "qps", "from_s", "for_s"];
    let text = profile_text("internet-2022").unwrap();
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if keys.iter().any(|key| rest.starts_with(key)) => rest,
        _ => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let profile = Profile::parse("mine", &text).unwrap();
    assert_eq!(profile.faults.rate_limit_qps, Some(1000));
    assert_eq!((profile.rate_limit.len(), profile.outage.len()), (1, 1));
    Internet::new(&profile, options(1)).unwrap();
}

#[test]
fn distances_are_the_servers_and_lost_answers_come_another_time() {
    let place = Place::new(true, |profile| {
        let near = profile.latency.get_mut("near").unwrap();
        near.median_ms = 50.0;
        near.sigma = 0.2;
        near.jitter_ms = 1.0;
        near.loss_share = 0.3;
    });
    let ask = |server, id: u8| {
        let mut message = query(&place.name, Rtype::A, true);
        message[0] = id;
        place.ask(server, &message, Transport::Udp, 0.0).0
    };
    let mut means = [0.0; 2];
    for (server, mean) in means.iter_mut().enumerate() {
        let answers: Vec<Answer> = (0..=255).map(|id| ask(server, id)).collect();
        let lost = answers.iter().filter(|answer| answer.len.is_none()).count();
        assert!((40..120).contains(&lost), "{lost} of 256 are lost");
        let delays = answers
            .iter()
            .map(|answer| answer.delay.as_secs_f64() * 1e3);
        assert!(delays.clone().all(|ms| (20.0..130.0).contains(&ms)));
        *mean = delays.sum::<f64>() / 256.0;
        assert_eq!(ask(server, 9), ask(server, 9));
    }
    assert!(
        (means[0] - means[1]).abs() > 0.5,
        "each server has its own: {means:?}"
    );
}

#[test]
fn distances_are_those_of_the_vantage() {
    let mut profile = Profile::load("internet-2022").unwrap();
    profile.domains = 20_000;
    let delays = |profile: &Profile| -> Vec<Duration> {
        let internet = Internet::new(profile, InternetOptions::new(1, 0)).unwrap();
        let name: Name = "x.test.".parse().unwrap();
        let message = query(&name, Rtype::A, false);
        let mut out = vec![0; 65_535];
        let servers = internet.servers().servers().iter();
        let mut delay = |server: IpAddr| {
            let transport = Transport::Tcp;
            let now = Duration::ZERO;
            let arrived = Arrived {
                server,
                transport,
                message: &message,
                now,
            };
            internet
                .answer(&arrived, &mut Scratch::default(), &mut out)
                .delay
        };
        let of_cn = servers.filter(|server| server.name.to_string().ends_with("nic.cn"));
        of_cn.map(|server| delay(server.ipv4.into())).collect()
    };
    let from_europe = delays(&profile);
    let mut in_asia = profile.clone();
    in_asia.see_from("asia").unwrap();
    let from_asia = delays(&in_asia);
    assert_eq!(from_europe.len(), 6);
    let is_nearer = |(near, far): (&Duration, &Duration)| near < far;
    assert!(
        from_asia.iter().zip(&from_europe).all(is_nearer),
        "{from_asia:?} {from_europe:?}"
    );
    let unknown = profile.see_from("moon").unwrap_err().to_string();
    assert!(
        unknown.ends_with("there is no vantage moon; choose asia or north-america"),
        "{unknown}"
    );
}
