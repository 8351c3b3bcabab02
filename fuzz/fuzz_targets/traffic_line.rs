//! Messages as lines of query files, and expressions: a line that is written of any octets is read back to them; octets are
//! judged by an expression, and read as one, without a panic.
#![no_main]

use dnsrig_stream::MessageOptions;
use dnsrig_stream::text::queries;
use dnsrig_traffic::Transport;
use dnsrig_traffic::select::{Expression, Travel};
use dnsrig_traffic::wire::View;
use dnsrig_traffic::write::text::push_line;
use libfuzzer_sys::fuzz_target;
use std::net::IpAddr;
use std::sync::LazyLock;

static EXPRESSION: LazyLock<Expression> = LazyLock::new(|| {
    let terms =
        "zone com and (rcode BADVERS or not do) or name a,b and type A and class IN and opcode 5";
    Expression::parse(terms).expect("an expression")
});

fuzz_target!(|octets: &[u8]| {
    let mut text = Vec::new();
    if push_line(octets, None, None, &mut text).is_ok() {
        let options = MessageOptions::default();
        let (stream, _, bad) = queries::parse(&text[..], &options).expect("memory can be read");
        assert_eq!((stream.len(), bad.count()), (1, 0));
        assert_eq!(stream.message(0)[2..], octets[2..]);
    }
    let travel = Travel {
        time_ns: 0,
        client: IpAddr::from([192, 0, 2, 1]),
        server: IpAddr::from([192, 0, 2, 2]),
        transport: Transport::Udp,
    };
    EXPRESSION.takes(&travel, View::parse(octets).ok().as_ref());
    let said = String::from_utf8_lossy(octets);
    let _ = Expression::parse(&said);
});
