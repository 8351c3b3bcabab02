"""The words of encrypted-cost's report."""

from dnsrig.report.layout import RatioQuestion
from dnsrig.servers.certificates import LABELS as CERTIFICATE_LABELS
from dnsrig.studies.encrypted.cases import RESUMED_LENGTH, TCP_NEW, UDP, new, reused
from dnsrig.studies.encrypted.settings import EncryptedSettings
from dnsrig.studies.wording import repetitions
from dnsrig.wording import counted

QUESTION = (
    "How many queries a second does an authoritative server answer over UDP, TCP, DNS over TLS, over HTTPS and over "
    "QUIC, when each query has a session of its own, new or resumed, and when a session carries many? What does each "
    "query and each session cost the server, by the key of its certificate? What is left for UDP while DoT rises to "
    "its maximum, and while connections to the DoT port come to nothing?"
)


def method(settings: EncryptedSettings) -> tuple[str, ...]:
    """Say what was built, sent, measured and how often, a paragraph each."""
    keys = " and ".join(CERTIFICATE_LABELS[key] for key in settings.certificates)
    threads = ", ".join(str(count) for count in settings.threads)
    return (
        "The zone is synthetic: com. with 1,000 delegations of four letters, unsigned. Every query asks for the "
        "address of one of them, without EDNS, and is answered by a referral with two name servers and their "
        "addresses: 26 octets of query and 94 of response, all the same size, like the published ones (below 100).",
        f"Each load is a closed loop for {settings.load_s:g} s after {settings.warm_up_s:g} s of warm-up. UDP, and "
        f"sessions that carry many queries ({settings.queries_per_session:,}; TCP: no limit), have "
        f"{settings.in_flight} queries in flight over {counted(settings.sockets, 'socket')} or sessions. Sessions of "
        f"one query have {settings.sessions} in flight: each opens, asks, is answered, and is closed, and the next one "
        "opens. That many hide that servers hold each answer back, for some 40 ms, until their tickets are "
        "acknowledged (Nagle's algorithm, RFC 896). New sessions, and those that carry many queries, make a full "
        "handshake; resumed ones use a ticket of the client's earlier one (no early data). Their loads are "
        f"{RESUMED_LENGTH} times as long, because each client's first session cannot be resumed; the table of sessions "
        "says what share was.",
        f"Certificates are self-signed, with keys of {keys}; they are not verified. TLS versions and ciphers are as "
        "server and generator agree by their defaults. DoH is HTTP/2 by POST. Servers run with this many threads: "
        f"{threads}, on processors of their own where the machine has two or more; the generator has those that the "
        "largest number leaves, and a thread on each. The server's CPU time is read from the kernel at both ends of "
        "the load. Before each load one answer over its transport (not QUIC) is compared with that over UDP, and "
        "after it the rcodes of all answers and their octets are checked.",
        repetitions(settings),
    )


def questions(settings: EncryptedSettings) -> tuple[RatioQuestion, ...]:
    """Ask what the report's first lines answer."""
    found: list[RatioQuestion] = []
    many = f"{settings.queries_per_session:,} queries a session"
    setup = (settings.certificates[0], settings.threads[0])
    if "dot" in settings.transports:
        once, often = "DoT with a new session for each query", f"DoT with {many}"
        found.append(_below(new("dot"), once, (UDP, "UDP"), setup))
        found.append(_below(new("dot"), once, (TCP_NEW, "TCP with a new session for each query"), setup))
        found.append(_below(reused("dot"), often, (UDP, "UDP"), setup))
    if "dot" in settings.transports and {"rsa-2048", "ecdsa-p256"} <= set(settings.certificates):
        found.append(
            RatioQuestion(
                figure="server_cpu_us_per_session",
                of={"kind": new("dot"), "certificate": "rsa-2048", "server_threads": settings.threads[0]},
                to={"kind": new("dot"), "certificate": "ecdsa-p256", "server_threads": settings.threads[0]},
                sentence="{server}: a new DoT session with an RSA 2048 certificate costs {ratio} times the CPU of one "
                "with ECDSA P-256",
                no_difference="{server}: no difference in CPU was seen between new DoT sessions with RSA 2048 and with "
                "ECDSA P-256",
            )
        )
    return tuple(found)


def _below(kind: str, label: str, base: tuple[str, str], setup: tuple[str, int]) -> RatioQuestion:
    (base_kind, base_label), (certificate, threads) = base, setup
    return RatioQuestion(
        figure="server_cpu_us_per_query",
        of={"kind": kind, "certificate": certificate, "server_threads": threads},
        to={"kind": base_kind, "server_threads": threads},
        sentence=f"{{server}}: a query over {label} costs {{ratio}} times the CPU of one over {base_label}"
        ", {orders} orders of magnitude",
        no_difference=f"{{server}}: no difference in CPU per query was seen between {label} and {base_label}",
    )


def limits() -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    return (
        "Server and generator run on one machine and talk over its loopback interface: no network card, and no round "
        "trips, which on a network make a handshake slow and leave the processor time for other sessions.",
        "A closed loop finds the rate at which a fixed number of outstanding queries is answered; its latencies and "
        "times of handshakes are those at saturation.",
        "Where many queries share a session, several wait for one read and go out in one write, with loopback at its "
        "largest segments: TCP and DoT can then cost less a query than UDP, where each is a datagram of its own. "
        "Clients of an authoritative server that send one query at a time do not see that.",
        "Few sessions are open at once (--clients, --sessions). What thousands of idle ones cost in memory is another "
        "question.",
        "TLS libraries differ between servers and between generator and servers; CPU per session is of the server's "
        "library as its distribution builds it, its rate also of the generator's.",
        "All queries are of one size and for one zone that stays in the processor's caches, as in the published study.",
    )
