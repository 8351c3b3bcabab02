"""Memory that replays of one traffic take, at several rates and with the names of several Internets."""

from collections.abc import Sequence

from dnsrig.errors import InputError
from dnsrig.studies.resolving.room import (
    CLIENT_OCTETS,
    GB,
    HELD_OCTETS,
    MADE_OCTETS,
    left_octets,
    refuse_too_many,
)

USED_SHARE = 0.9
"""Of what is left, rates that are not chosen use so much: it changes until they are looked at again."""


def refuse_replays(rates: Sequence[int], span_s: float, signed: Sequence[str], sockets: float) -> None:
    """Raise InputError if there is no memory for the traffic while streams are made of it, or for all streams later.

    Args:
        rates: queries per second of the traffic, each that of some of the highest one's clients.
        span_s: length of the traffic.
        signed: words for the Internets, each of which has streams of its own.
        sockets: how many are open at a time at the highest rate; 0 where that is not known yet.

    """
    highest, how_long = max(rates), f"for {span_s:g} s (--load-seconds by --periods)"
    refuse_too_many(highest * span_s, f"--rate {highest:,} {how_long}", MADE_OCTETS)
    said = f", --signed {','.join(signed)}" if len(signed) > 1 else ""
    what = f"--rate {','.join(str(rate) for rate in rates)} {how_long}{said}"
    refuse_too_many(sum(rates) * span_s * len(signed), what, HELD_OCTETS, sockets * CLIENT_OCTETS)


def refuse_sockets(sockets: int, whose: str) -> None:
    """Raise InputError if there is no memory for so many sockets beside the streams that are held already.

    Args:
        sockets: how many are open at a time.
        whose: what has so many clients.

    """
    needed, left = sockets * CLIENT_OCTETS, left_octets()
    if needed > left:
        raise InputError(
            f"{whose}: clients ask from {sockets:,} sockets within a part, for which about {needed / GB:,.1f} GB of "
            f"memory are needed, and {left / GB:,.1f} are left for them: take a lower --rate, shorter parts "
            "(--load-seconds), or a machine with more memory"
        )


def rate_with_room(span_s: float, streams: float, clients_per_qps: float, most_sockets: float) -> float:
    """Give the highest rate, in queries per second, for which there surely is memory; at least 0.

    Args:
        span_s: length of the traffic.
        streams: how many times as many queries all streams have together as that of the highest rate alone.
        clients_per_qps: how many clients ask in a part for each query a second, with a socket each.
        most_sockets: further clients share these.

    """
    left = left_octets() * USED_SHARE
    held = span_s * streams * HELD_OCTETS
    of_own_sockets = left / (held + clients_per_qps * CLIENT_OCTETS)
    of_shared_ones = (left - most_sockets * CLIENT_OCTETS) / held
    return max(0.0, min(left / (span_s * MADE_OCTETS), max(of_own_sockets, of_shared_ones)))
