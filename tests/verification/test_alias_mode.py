"""SVCB and HTTPS records of alias mode with parameters, which recipients ignore (RFC 9460 section 2.4.2)."""

import dns.exception
import dns.message
import dns.rrset
import dns.zone
import pytest
from dns.rdatatype import RdataType
from dnsrig.cli.app import run_command_line
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded
from dnsrig.verification.exchange import Endpoint

ZONE = """\
@ 60 SOA ns hostmaster 1 2000 300 604800 300
@ 60 NS ns
ns 60 A 127.0.0.1
alias 60 HTTPS 0 ns alpn="h2,h3" port=443
_53._dns 60 SVCB 0 ns alpn=dot
"""


@pytest.mark.parametrize("rtype", ["HTTPS", "SVCB"])
@pytest.mark.parametrize(
    "data",
    ['0 a. alpn="h2,h3" port="4" key667="x \\" y"', "0 .", "0 a.", '1 . alpn="h2" port="443"', '3 b. key667="0"'],
)
def test_they_are_read_and_written(rtype: str, data: str) -> None:
    rrset = dns.rrset.from_text("x.", 60, "IN", rtype, data)
    assert str(rrset[0]) == data
    message = dns.message.Message()
    message.answer.append(rrset)
    assert dns.message.from_wire(message.to_wire()).answer == [rrset]


@pytest.mark.parametrize("data", ["0", "0 a. =x", "0 a. alpn=h2 alpn=h3", "0 a. mandatory=port", "1 a. =x"])
def test_what_is_no_record_is_refused(data: str) -> None:
    with pytest.raises((dns.exception.DNSException, ValueError)):
        dns.rrset.from_text("x.", 60, "IN", "HTTPS", data)


@pytest.mark.parametrize(
    "octets", ["0000 00 0001", "0000 00 0003 0003 0101", "0000", "0000 00 0003 0002 0101 0001 0000"]
)
def test_what_is_cut_or_out_of_order_is_malformed(octets: str) -> None:
    data = bytes.fromhex(octets)
    record = b"\1x\0" + RdataType.HTTPS.to_bytes(2) + b"\0\1" + bytes(4) + len(data).to_bytes(2) + data
    with pytest.raises(dns.exception.DNSException):
        dns.message.from_wire(bytes.fromhex("0001 8400 0000 0001 0000 0000") + record)


def test_no_item_accuses_a_server_of_them(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    path = tmp_path / "zone"
    path.write_text(dns.zone.from_text(ZONE, "alias.test.", relativize=False).to_text())
    with Embedded([ServedZone("alias.test.", path)], ServerSettings(), tmp_path / "server") as server:
        command = ["verify", "authoritative", str(Endpoint(*server.address)), "--zone", "alias.test", "--zone-file"]
        chosen = [word for one in ("A-rdata", "A-form", "A-svcb", "A-data") for word in ("--item", one)]
        assert run_command_line([*command, str(path), *chosen]) == 0, capsys.readouterr().out
