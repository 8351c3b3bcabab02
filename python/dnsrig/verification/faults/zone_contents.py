"""Faults of zones in the data that somebody wrote into them; they are signed as they stand."""

from dns.rdatatype import RdataType

from dnsrig.verification.faults.zone_chains import change_types
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.zones.editing import ZoneEditor

SOA_TIMES = "7200 900 604800 300"
SERVER = "ns1 hostmaster"


def _sign_glue(zone: ZoneEditor) -> None:
    """Sign the addresses of a delegation's server, as a signer does that takes them for the zone's own."""
    zone.sign(zone.name("ns.insecure"), RdataType.A)


def _add_ds_to_host(zone: ZoneEditor) -> None:
    """Make what signers refuse to sign."""
    host, ds = zone.name("host"), zone.rdataset(zone.name("secure"), RdataType.DS)
    zone.put(host, RdataType.DS, ds.ttl, [*ds])
    change_types(zone, host, set(), {RdataType.DS})
    zone.sign(host, RdataType.DS)


ZONE_FAULTS = (
    ZoneFault(name="mx-to-alias", does="has an MX record that leads to an alias", adds="post MX 10 alias\n"),
    ZoneFault(name="srv-to-alias", does="has an SRV record that leads to an alias", adds="_s._tcp SRV 0 0 5 alias\n"),
    ZoneFault(
        name="delegation-to-alias",
        does="has a delegation whose server is an alias",
        adds="zz-cut NS ns1\nzz-cut NS alias\n",
    ),
    ZoneFault(name="mx-to-nothing", does="has an MX record that leads to no host", adds="post MX 10 mail-that-was\n"),
    ZoneFault(
        name="srv-to-nothing", does="has an SRV record that leads to no host", adds="_s._tcp SRV 0 0 5 host-that-was\n"
    ),
    ZoneFault(
        name="delegation-to-nothing",
        does="has a delegation one server of which does not exist",
        adds="zz-cut NS ns1\nzz-cut NS ns-that-was\n",
    ),
    ZoneFault(
        name="delegation-without-glue",
        does="has a delegation that lacks the address of a server below it",
        adds="zz-cut NS ns1\nzz-cut NS ns.zz-cut\n",
    ),
    ZoneFault(
        name="delegations-in-circle",
        does="has delegations each of which has its server in the other",
        adds="zy-cut NS ns.zz-cut\nzz-cut NS ns.zy-cut\n",
    ),
    ZoneFault(
        name="ds-of-unknown-algorithm",
        does="has a secure delegation of an algorithm that nobody knows",
        adds=f"zz-cut NS ns1\nzz-cut DS 12345 200 2 {'01' * 32}\n",
    ),
    ZoneFault(
        name="sha-1-ds-of-delegation",
        does="has a delegation with a DS record of digest type 1 (SHA-1) only",
        adds=f"zz-cut NS ns1\nzz-cut DS 12345 13 1 {'01' * 20}\n",
    ),
    ZoneFault(name="mx-to-address", does="has an MX record with an address for a name", adds="post MX 10 192.0.2.3.\n"),
    ZoneFault(
        name="null-mx-beside-others",
        does="has an MX record that says that there is no mail beside another",
        adds="post MX 0 .\npost MX 10 mail\n",
    ),
    ZoneFault(name="alias-to-nothing", does="has an alias of a name that does not exist", adds="zz CNAME was\n"),
    ZoneFault(name="aliases-in-circle", does="has aliases of each other", adds="yy CNAME zz\nzz CNAME yy\n"),
    ZoneFault(name="dnames-in-circle", does="has DNAME records of each other", adds="yy DNAME zz\nzz DNAME yy\n"),
    ZoneFault(
        name="wildcard-alias-of-itself",
        does="has a wildcard that is an alias of a name that it covers",
        adds="*.zz CNAME yy.zz\n",
    ),
    ZoneFault(name="data-below-dname", does="has data below a DNAME record", adds="host.bridge A 192.0.2.20\n"),
    ZoneFault(name="data-below-delegation", does="has data below a delegation", adds="host.insecure TXT below\n"),
    ZoneFault(name="data-at-delegation", does="has MX records at a delegation", adds="insecure MX 10 mail\n"),
    ZoneFault(name="wildcard-ns", does="has a wildcard with NS records", adds="*.zz NS ns1\n"),
    ZoneFault(name="wildcard-dname", does="has a wildcard with a DNAME record", adds="*.zz DNAME target\n"),
    ZoneFault(name="signs-glue", does="has signatures of glue", edit=_sign_glue),
    ZoneFault(name="ds-without-ns", does="has DS records at a host", edit=_add_ds_to_host),
    ZoneFault(
        name="expires-before-refresh",
        does="expires before secondaries look for a new version",
        turns=(SOA_TIMES, "604800 900 86400 300"),
    ),
    ZoneFault(name="retries-late", does="has a longer RETRY than REFRESH", turns=(SOA_TIMES, "7200 14400 604800 300")),
    ZoneFault(
        name="minimum-zero", does="has denials that are not to be cached", turns=(SOA_TIMES, "7200 900 604800 0")
    ),
    ZoneFault(name="long-minimum", does="has names denied for a week", turns=(SOA_TIMES, "7200 900 1209600 604800")),
    ZoneFault(
        name="mname-without-address",
        does="names a primary that does not exist",
        turns=(SERVER, "ns-that-was hostmaster"),
    ),
    ZoneFault(name="rname-with-at", does="has a mail address as people write it", turns=(SERVER, "ns1 host\\@master")),
    ZoneFault(name="ns-ttl-zero", does="has a delegation with the TTL 0", adds="zz-cut 0 NS ns1\n"),
    ZoneFault(
        name="address-ttl-zero",
        does="has an address of its server with the TTL 0",
        turns=("ns2 A 192.0.2.2\n", "ns2 0 A 192.0.2.2\n"),
    ),
    ZoneFault(name="csync-of-mx", does="has a CSYNC record for MX records", adds="@ CSYNC 1 3 A MX NS\n"),
    ZoneFault(name="csync-flags", does="has a CSYNC record with flags of no meaning", adds="@ CSYNC 1 16 A NS\n"),
    ZoneFault(name="csync-below-apex", does="has a CSYNC record below the apex", adds="host CSYNC 1 3 A NS\n"),
    ZoneFault(name="cds-below-apex", does="has a CDS record below the apex", adds=f"host CDS 12345 13 2 {'01' * 32}\n"),
    ZoneFault(
        name="two-spf-records",
        does="has two SPF records at a name",
        adds='post TXT "v=spf1 mx -all"\npost TXT "v=spf1 -all"\n',
    ),
    ZoneFault(
        name="two-dmarc-records",
        does="has two DMARC records",
        adds='_dmarc TXT "v=DMARC1; p=none"\n_dmarc TXT "v=DMARC1; p=reject"\n',
    ),
    ZoneFault(
        name="caa-with-url-as-issuer",
        does="has a CAA record with a URL for an issuer",
        adds='host CAA 0 issue "https://ca.example/"\n',
    ),
    ZoneFault(
        name="caa-unknown-critical",
        does="has a critical CAA record with a tag that is not known",
        adds='host CAA 128 tbs "unknown"\n',
    ),
    ZoneFault(
        name="https-alias-beside-service",
        does="has HTTPS records of both modes at a name",
        adds="post HTTPS 0 host\npost HTTPS 1 . alpn=h2\n",
    ),
    ZoneFault(
        name="https-alias-to-itself", does="has an HTTPS record that leads to itself", adds="post HTTPS 0 post\n"
    ),
)
