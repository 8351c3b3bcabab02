"""A zone with records of many types."""

from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import ZonePlan

ZONE = "types.nsec."
TYPED = f"all.{ZONE}"
"""The name that has them."""
DATA = {
    RdataType.HTTPS: '1 . alpn="h2,h3" ipv4hint=198.18.2.80',
    RdataType.SVCB: "1 svc.types.nsec. port=853",
    RdataType.TLSA: f"3 1 1 {'ab' * 32}",
    RdataType.CAA: '0 issue "ca.example"',
    RdataType.SRV: "0 5 5060 sip.types.nsec.",
    RdataType.SSHFP: f"4 2 {'cd' * 32}",
    RdataType.NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:info@types.nsec!" .',
    RdataType.URI: '10 1 "https://www.types.nsec/"',
    RdataType.OPENPGPKEY: "ZG5zcmln",
    RdataType.LOC: "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m",
    RdataType.PTR: "www.types.nsec.",
    RdataType.MX: "10 mail.types.nsec.",
}
TYPES = tuple(DATA)
PLANS = (
    ZonePlan(
        name=ZONE,
        what="right, with records of many types",
        records=tuple(f"all IN {rtype.name} {data}" for rtype, data in DATA.items()),
    ),
)
