"""DS records of a parent zone, as users give them."""

from collections.abc import Sequence
from pathlib import Path

import dns.exception
import dns.name
import dns.rdatatype
import dns.zonefile

from dnsrig.errors import InputError
from dnsrig.servers.interruption import raise_interruption


def read_ds(sources: Sequence[str], origin: str) -> list[bytes]:
    """Give the data of the DS records of the zone `origin` in `sources`.

    Each source is a file of records in zone file format, such as dnssec-signzone's dsset file, a record, or a record's
    data. Other records in a file are left aside. Raises InputError where nothing is left.
    """
    found = []
    for source in sources:
        path = Path(source)
        # Records have spaces, and no file's name has to be asked for.
        if " " in source.strip() and not path.exists():
            found.append(_read_record(source, origin))
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(
                f"--ds {source}: cannot read the file: {error.strerror}; give a file or a record"
            ) from error
        form = f"give a file of the DS records of {origin}, as dnssec-signzone's dsset file has them"
        of_file = _read_records(text, source, origin, form)
        if not of_file:
            raise InputError(f"--ds {source}: no DS record of {origin} in it; check the file and the zone's name")
        found.extend(of_file)
    return found


def _read_record(text: str, origin: str) -> bytes:
    words = text.split()
    if words[0].isdigit() and words[1].isdigit():
        words = [origin, "IN", "DS", *words]
    form = "write one such as '12345 13 2 0123...'"
    found = _read_records(" ".join(words), text, origin, form)
    if not found:
        raise InputError(f"--ds {text}: not a DS record of {origin}; {form}")
    return found[0]


def _read_records(text: str, source: str, origin: str, form: str) -> list[bytes]:
    try:
        apex = dns.name.from_text(origin)
        rrsets = dns.zonefile.read_rrsets(text, origin=dns.name.root, relativize=False, rdclass=None, default_ttl=0)
    except dns.exception.DNSException as error:
        raise_interruption(error)
        raise InputError(f"--ds {source}: not a DS record: {error}; {form}") from error
    except ValueError as error:
        # What dnspython says of an SOA record is no help to who gave a zone file.
        raise InputError(f"--ds {source}: a zone's other records are in it; {form}") from error
    return [
        rdata.to_wire()
        for rrset in rrsets
        if rrset.name == apex and rrset.rdtype == dns.rdatatype.DS
        for rdata in rrset
    ]
