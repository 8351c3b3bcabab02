"""What a resolver may leave undone: faults that no change of messages before it can show."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weakness:
    """A care that a resolver does not take."""

    name: str
    """Such as `takes-any-id`; no fault has the same."""
    does: str
    """What it does, in words that go on after "The resolver"."""


WEAKNESSES = (
    Weakness("takes-any-id", "takes responses whatever their ID"),
    Weakness("takes-any-question", "takes responses whatever question they have"),
    Weakness("takes-any-source", "takes responses from any address and port"),
    Weakness("takes-truncated", "uses what is in truncated responses"),
    Weakness("takes-any-name", "keeps addresses that a server tells of names elsewhere"),
    Weakness("takes-any-delegation", "keeps name servers that a server tells of zones elsewhere"),
    Weakness("gives-up-at-once", "asks one server of a zone alone"),
    Weakness("gives-up-on-bogus", "asks no other server where the data of one do not validate"),
    Weakness("insists-on-edns", "does not ask again without EDNS"),
    Weakness("has-no-tcp", "does not ask by TCP"),
    Weakness("hurries", "waits 0.7 s for a response, once"),
    Weakness("compares-case", "takes names in another case for others"),
    Weakness("forgets-failures", "does not remember that a name could not be resolved"),
    Weakness("keeps-failures", "remembers for ever that a name could not be resolved"),
    Weakness("forgets-bogus", "does not remember that a name is bogus"),
    Weakness("asks-without-do", "asks for DNSSEC records only where its client does"),
    Weakness("retries-often", "asks a silent server five times"),
    Weakness("takes-any-alias", "follows aliases that do not follow from the DNAME record beside them"),
    Weakness("recurses-unasked", "asks upstream for queries without RD"),
    Weakness("passes-options", "sends the EDNS options of its client upstream"),
    Weakness("asks-for-every-server", "asks for the addresses of all name servers of a delegation"),
    Weakness("follows-circles", "follows delegations in circles more than a hundred times"),
    Weakness("follows-aliases-endlessly", "follows more than a hundred aliases"),
    Weakness("never-ages", "gives the TTL of what it keeps as it came"),
    Weakness("keeps-expired", "keeps what it has for ever"),
    Weakness("keeps-denials", "keeps denials for ever"),
    Weakness("keeps-denials-too-long", "keeps denials for five minutes, whatever their TTL"),
    Weakness("few-ports", "asks from eight ports"),
    Weakness("counts-ports", "takes one port after the other"),
    Weakness("steps-ports", "adds the same to its port each time, within a range"),
    Weakness("computes-ports", "makes each port of the one before by multiplication"),
    Weakness("draws-few-ports", "draws its ports from 200"),
    Weakness("ports-of-ids", "takes the ID for the port too"),
    Weakness("fixed-id", "has one ID for all queries"),
    Weakness("counts-ids", "counts its IDs"),
    Weakness("steps-ids", "adds the same to its ID each time"),
    Weakness("swaps-ids", "counts its IDs in the other order of octets"),
    Weakness("computes-ids", "makes each ID of the one before by multiplication and addition"),
    Weakness("shifts-ids", "makes each ID of the one before by a shift register"),
    Weakness("draws-few-ids", "draws its IDs from 200"),
    Weakness("stops-at-empty-names", "takes the fourth empty non-terminal above a name for the name"),
    Weakness("believes-refused-names", "takes the refusal of an empty non-terminal for one of the names below it"),
    Weakness("asks-for-whole-names", "asks servers of the root and of TLDs for the whole name"),
    Weakness("asks-for-special-names", "asks the root for names that are to stay with it"),
    Weakness("keeps-its-cookie", "takes BADCOOKIE for a failure"),
    Weakness("takes-any-cookie", "takes responses whatever client cookie they have"),
    Weakness("gives-stale-for-hours", "gives what has expired, where servers fail, with a TTL of an hour"),
    Weakness("mixes-case-alike", "writes the same letters of each name as capitals"),
    Weakness("verifies-all-pairs", "verifies every signature by every key that has its tag"),
    Weakness("hashes-all-candidates", "hashes every name that may be the closest encloser, up to 150 iterations"),
    Weakness("hashes-without-bounds", "hashes every name that may be the closest encloser, whatever the iterations"),
)
"""Those of `weak_resolver.WeakResolver`."""
BELIEVING = Weakness("believes-denied-names", "takes the denial of an empty non-terminal for one of the names below it")
"""As RFC 8020 says, which is no fault."""
ANCHOR_WEAKNESSES = (
    Weakness("loses-all-with-revoked", "trusts no key any more when one of two is revoked"),
    Weakness("keeps-anchors-fixed", "does not follow the keys of its trust anchors' zone"),
    Weakness("trusts-new-keys-early", "trusts a new key after a second"),
    Weakness("drops-missing-keys", "gives up a trust anchor that its zone has not had for a second"),
    Weakness("trusts-any-new-key", "trusts a new key whoever has signed it"),
)
"""Those of RFC 5011; real resolvers are set up so."""


def all_weaknesses() -> tuple[Weakness, ...]:
    """Give them all."""
    return (*WEAKNESSES, *ANCHOR_WEAKNESSES)
