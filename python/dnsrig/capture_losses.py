"""What a capture has that may be queries and cannot be sent, in words."""

from collections.abc import Mapping
from typing import Any

LOST = {
    "truncated": "cut off by the snapshot length",
    "fragments": "in fragments (`dnsrig traffic filter query FILE -f whole.pcap` puts them together)",
    "bad_header": "with bad headers",
    "unknown_link": "of an unknown link type",
    "malformed": "malformed",
    "gaps": "gaps in TCP connections",
    "unplaced": "TCP segments of which it is not known where a message begins",
    "incomplete": "messages by TCP that are not whole",
}
"""Words for it, by its key in the summary of a stream."""
TCP_LOST = ("gaps", "unplaced", "incomplete")


def lost_of(summary: Mapping[str, Any]) -> dict[str, int]:
    """Count packets and messages by the reason that they are not sent for, from the summary of a stream."""
    packets, messages, tcp = (summary.get(key, {}) for key in ("packets_left_out", "messages_left_out", "tcp"))
    counts = {**packets, **{key: tcp.get(key, 0) for key in TCP_LOST}, "malformed": messages.get("malformed", 0)}
    return {reason: counts[reason] for reason in LOST if counts.get(reason)}


def losses_said(lost: Mapping[str, int], cut_packet: int | None) -> list[str]:
    """Say what was left out, by what `lost_of` counted, and where the capture ends early; nothing, if nothing was."""
    sentences = []
    if lost:
        reasons = ", ".join(f"{number:,} {LOST[reason]}" for reason, number in lost.items())
        sentences.append(f"left out packets and messages of the capture that may be queries: {reasons}")
    if cut_packet:
        sentences.append(f"the capture ends inside packet {cut_packet:,}; what is before it is sent")
    return sentences
