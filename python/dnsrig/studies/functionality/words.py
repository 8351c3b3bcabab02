"""The words of the study functionality."""

from dnsrig.studies.functionality.settings import FunctionalitySettings
from dnsrig.studies.wording import JPRS_2010

TITLE = "What servers, resolvers, proxies and paths do, item by item"
SOURCE = f"{JPRS_2010}, verification of functionality"
QUESTION = (
    "Which of the sentences that should hold of an authoritative server, a resolver, a DNS proxy and a network path "
    "hold of the programs on this machine, as the rig starts them; and what did JPRS-2010 find of its own ones?"
)
PUBLISHED_NOTE = (
    "JPRS-2010 names no products: its column says what was found of those that took part in 2010. Verified: evidence "
    "is told, without reservation. Not told: this project's digest of the report has the procedure and no outcome. A "
    "pass by TCP is what servers give today that limit responses by UDP to 1232 octets, as is advised; the report "
    "wanted UDP."
)
SUPPORT_NOTE = (
    "Digest types of DS records with which each resolver validates zones of the algorithm, so that their names come "
    "with AD; those that it takes for insecure are not validated, and SERVFAIL keeps users from their names. "
    "Whose wrong signatures or digests are given as well are not validated, either. RFC 8624 says which a validator "
    "must know: algorithms 8, 10 and 13, and SHA-256."
)
LIMITS = (
    "An item that passes says that nothing was seen against it in one configuration: the one that the rig starts.",
    "Versions are those of this machine; others may do otherwise.",
    "Everything runs on one machine; `dnsrig verify path` shows what routers and firewalls of yours do.",
    "Inconclusive items could not be found out; a busy machine makes more of them.",
)


def method(settings: FunctionalitySettings) -> tuple[str, ...]:
    """Give the paragraphs about the method."""
    told = [
        "An item is a sentence that should hold, with the RFC that says it. Each ends as pass, pass by TCP, fail, not "
        "applicable or inconclusive. A query without response is asked again; a verdict never rests on one lost "
        "message.",
        "Authoritative servers serve zones made for that, on loopback. Resolvers validate in a private tree of signed "
        "zones, good ones and some that are broken in one way each, in a network namespace. Proxies stand between a "
        "client and an upstream that answers as the name asks; the path is this machine's kernel, as router and as "
        "bridge, without rules.",
        "Every program is started afresh in its usual configuration, and ended; where the rig can set the limit of "
        "octets by UDP, a second time with 4096, as servers had it in 2010, for the items about size. What a current "
        "version is known to do otherwise is marked as known, with the reason; it fails all the same. Items that take "
        "minutes, most of which they wait, run beside those of the next targets.",
    ]
    if settings.scope == "published":
        told.append("This run has JPRS-2010's items alone, without those of RFC 5011.")
    if settings.repetitions > 1:
        told.append(f"Everything was verified {settings.repetitions} times; verdicts that vary are inconclusive.")
    return tuple(told)
