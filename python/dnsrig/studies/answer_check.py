"""Does a server give the answers that a case is about? Asked before it is loaded."""

from collections.abc import Callable
from dataclasses import dataclass

import dns.dnssec
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.node
import dns.query
import dns.rcode
import dns.rdataset
import dns.rdatatype

from dnsrig import _core
from dnsrig.servers.interruption import raise_interruption
from dnsrig.studies.inputs import Variant

QUESTIONS = 20
TIMEOUT_S = 3.0
Keys = dict[dns.name.Name, dns.rdataset.Rdataset | dns.node.Node]
_PROOF = {"nsec": dns.rdatatype.NSEC, "nsec3": dns.rdatatype.NSEC3}


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """What the first answers to a stream looked like; `faults` is empty when they were as the case needs them."""

    asked: int
    faults: tuple[str, ...]


def check_answers(
    address: tuple[str, int],
    origin: str,
    queries: _core.QueryStream,
    variant: Variant,
    on_silence: Callable[[], None] = lambda: None,
) -> AnswerCheck:
    """Ask `address` the stream's first queries by UDP (TCP when truncated); look at rcode, AA and DNSSEC records.

    Every NXDOMAIN from a signed zone must bring the variant's kind of denial, NSEC3 with the zone's own number of
    iterations (RFC 5155 section 7.2); every other answer with data must bring signatures (RFC 4035 section 3.1). All
    signatures must be valid under the zone's own DNSKEY RRset. `on_silence` is called after each question without
    answer, and may raise to spare waiting for the others.
    """
    faults: dict[str, None] = {}
    keys: Keys = {}
    if variant.denial != "none":
        try:
            keys = _zone_keys(address, origin)
        except (dns.exception.DNSException, OSError) as error:
            raise_interruption(error)
            faults[f"no usable answer to {origin} DNSKEY: {error or type(error).__name__}"] = None
            on_silence()
    asked = min(QUESTIONS, len(queries))
    for index in range(asked):
        query = dns.message.from_wire(queries.message(index))
        query.id = index + 1
        try:
            answer, _ = dns.query.udp_with_fallback(query, address[0], timeout=TIMEOUT_S, port=address[1])
        except (dns.exception.DNSException, OSError) as error:
            raise_interruption(error)
            faults[f"no usable answer to {query.question[0]}: {error or type(error).__name__}"] = None
            on_silence()
            continue
        for fault in (*_faults(query, answer, variant), *_bad_signatures(answer, keys)):
            faults[fault] = None
    return AnswerCheck(asked, tuple(faults))


def _faults(query: dns.message.Message, answer: dns.message.Message, variant: Variant) -> list[str]:
    rcode = answer.rcode()
    if rcode not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return [f"answers {dns.rcode.to_text(rcode)}"]
    is_referral = not answer.answer and any(rrset.rdtype == dns.rdatatype.NS for rrset in answer.authority)
    faults = []
    if not answer.flags & dns.flags.AA and not is_referral:
        faults.append("answers without AA")
    if variant.denial == "none" or not query.ednsflags & dns.flags.DO:
        return faults
    if rcode == dns.rcode.NOERROR:
        signed = any(rrset.rdtype == dns.rdatatype.RRSIG for rrset in answer.answer + answer.authority)
        return faults if signed or is_referral else [*faults, "answers from a signed zone without RRSIG"]
    proofs = [rrset for rrset in answer.authority if rrset.rdtype == _PROOF[variant.denial]]
    if not proofs:
        return [*faults, f"NXDOMAIN without {variant.denial.upper()} records"]
    if variant.denial == "nsec3":
        found = {record.iterations for rrset in proofs for record in rrset}
        if found != {variant.iterations}:
            faults.append(f"NSEC3 records with {sorted(found)} iterations where the zone has {variant.iterations}")
    return faults


def _zone_keys(address: tuple[str, int], origin: str) -> Keys:
    query = dns.message.make_query(origin, dns.rdatatype.DNSKEY, want_dnssec=True)
    answer = dns.query.tcp(query, address[0], timeout=TIMEOUT_S, port=address[1])
    return {rrset.name: rrset for rrset in answer.answer if rrset.rdtype == dns.rdatatype.DNSKEY}


def _bad_signatures(answer: dns.message.Message, keys: Keys) -> list[str]:
    """Say which RRsets of the answer have a signature that is not valid (RFC 4035 section 5.3)."""
    if not keys:
        return []
    faults = []
    for section in (answer.answer, answer.authority):
        signatures = {(rrset.name, rrset.covers): rrset for rrset in section if rrset.rdtype == dns.rdatatype.RRSIG}
        for rrset in section:
            signature = signatures.get((rrset.name, rrset.rdtype))
            if signature is None:
                continue
            try:
                dns.dnssec.validate(rrset, signature, keys)
            except dns.exception.DNSException as error:
                raise_interruption(error)
                faults.append(f"signature of {dns.rdatatype.to_text(rrset.rdtype)} records is not valid: {error}")
    return faults
