//! TCP: segments of any flags, places and lengths, of two connections, are taken without a panic, whether queries or any messages
//! are wanted.
//!
//! An octet says which; six octets say how a segment is, then come its data.
#![no_main]

use dnsrig_stream::capture::tcp::{FlowKey, Segment, TcpFlows, Wanted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Some((which, octets)) = octets.split_first() else {
        return;
    };
    let wanted = if which % 2 == 0 { Wanted::Queries } else { Wanted::Messages };
    let (mut flows, mut messages, mut rest) = (TcpFlows::new(wanted), 0, octets);
    while let Some(([client, flags, high, low, missing, len], after)) = rest.split_first_chunk::<6>() {
        let (data, after) = after.split_at(usize::from(*len).min(after.len()));
        let mut segment = [&[0; 4], &[0, 0, *high, *low][..], &[0, 0, 0, 0, 0x50, *flags, 0, 0, 0, 0, 0, 0]].concat();
        segment.extend_from_slice(data);
        let key = FlowKey { client: u128::from(client % 2), server: 0, client_port: 0, server_port: 53 };
        let segment = Segment::parse(&segment).expect("a whole header");
        flows.segment(key, segment, usize::from(missing % 4), 0, &mut |_| messages += 1).expect("memory");
        rest = after;
    }
    flows.finish(&mut |_| messages += 1);
    assert_eq!(messages, flows.summary.messages);
});
