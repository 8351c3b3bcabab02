"""What `dnsrig sign` says of keys and serial number when the zone is signed."""

from typing import Any

import click

from dnsrig.dates import date_digits
from dnsrig.key_life import key_states, timing_warnings
from dnsrig.signing import ChosenKeys, Signing

SERIALS_A_DAY = 100
"""Serial numbers YYYYMMDDnn of one day."""


def key_lines(chosen: ChosenKeys, signing: Signing, signed: dict[str, Any]) -> list[str]:
    """Give a line on each key, put the same into `signed` as `key_states`, and warn of times that leave gaps."""
    if not signing.signs:
        # Keys and chain were put in, and nothing was signed.
        signed["key_states"] = []
        return []
    states = key_states(chosen.keys, signed, signing.now_s, chosen.saves_keys_in)
    signed["key_states"] = [state.facts for state in states]
    doubts = [serial_doubt(signing.serial, signed["serial"], signing.now_s)]
    if chosen.by_times:
        doubts += timing_warnings(chosen.keys, signing.now_s, signed["dnskey_ttl_s"], signed["ttl_max_s"])
    for doubt in filter(None, doubts):
        click.echo(f"warning: {doubt}", err=True)
    kept = [
        f"{key['file_name']}: KSK, its private key is not at hand, its signature of the DNSKEY RRset is kept, ends at "
        f"{date_digits(key['until_s'])}"
        for key in signed["offline_keys"]
    ]
    return [*(state.text for state in states), *kept]


def serial_doubt(policy: str, serial: int, now_s: int) -> str | None:
    """Say so where the new `serial` is not of `policy`, since the zone had a greater one."""
    match policy:
        case "unixtime":
            is_as_asked = serial == now_s % 2**32
        case "date":
            is_as_asked = serial // SERIALS_A_DAY == int(date_digits(now_s)[:8])
        case _:
            return None
    if is_as_asked:
        return None
    return (
        f"-N {policy}: the zone's serial number is {(serial - 1) % 2**32} already, and {policy} gives none that is "
        "greater, so it is incremented"
    )
