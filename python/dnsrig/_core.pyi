"""The part of dnsrig that must be fast, written in Rust (crates/binding). Errors are those of dnsrig.errors."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, final

from dnsrig.signing import Signing

__all__ = [
    "AskedQueries",
    "Internet",
    "InternetServer",
    "KeySet",
    "QueryLog",
    "QueryStream",
    "RebuiltInternet",
    "StandIns",
    "TrafficStatistics",
    "TransactionReader",
    "TransactionWriter",
    "Zone",
    "__version__",
    "ds_records",
    "find_breaking_point",
    "generate_zone",
    "judge_bottleneck",
    "latency_percentiles",
    "load",
    "rebuild_internet",
    "serve",
    "serve_echo",
    "sign_zone",
    "signing_rate",
    "traffic_anonymise",
    "traffic_convert",
    "traffic_filter",
    "traffic_fit",
    "traffic_merge",
    "traffic_mix",
    "traffic_partition",
    "traffic_partition_files",
    "traffic_profile",
    "traffic_profiles",
    "traffic_sample",
    "traffic_stats",
    "traffic_synthesise",
    "traffic_time_ns",
    "traffic_warp",
    "verify_zone",
    "zone_apex",
    "zone_check",
    "zone_compare",
    "zone_join",
    "zone_rules",
    "zone_sort",
    "zone_split",
    "zone_survey",
]
__version__: str

def generate_zone(
    path: str | PathLike[str] | None,
    *,
    model: str,
    origin: str,
    names: int,
    seed: int,
    signed_share: float = 0.05,
    unsorted: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Make a synthetic zone and write it to `path`, or to standard output without one; return counts, and its octets.

    `names` counts what the model counts: delegations, owner names, addresses, hosts, or records for `small`.
    `on_progress` is given the names and octets made so far.
    """

@final
class Internet:
    """A simulated Internet: a signed hierarchy of zones made from a seed."""

    def __new__(
        cls,
        profile: str,
        *,
        seed: int,
        signed_at_s: int,
        domains: int | None = None,
        vantage: str | None = None,
        memory_octets: int = 1 << 30,
        distances: bool = True,
        loopback: bool = False,
    ) -> Internet:
        """Make the Internet of a profile: a name, or a file that ends in `.toml`.

        `domains` replaces the profile's number of second-level domains; distances are those from `vantage`, which the
        profile names; `loopback` puts all servers into 127.0.0.0/8; without `distances` no answer is delayed or lost.
        Signatures are valid from the day before `signed_at_s` on.
        """

    @staticmethod
    def profile_text(name: str) -> str:
        """Return the text of a profile that can be: a named one, or that of a file that ends in `.toml`."""

    def prepare(self) -> None:
        """Make the root zone with its signatures and the NSEC3 chains of the top-level domains."""

    def presign(self, domains: int, threads: int) -> None:
        """Make the zones of the most popular domains, with all signatures, as far as memory reaches."""

    def presign_for(self, stream: QueryStream, threads: int) -> None:
        """Make the zones that the questions of a stream lead to, with all signatures, as far as memory reaches."""

    @property
    def root_hints(self) -> str:
        """The root's servers, as a file of root hints."""

    @property
    def trust_anchor(self) -> str:
        """The root's DS record, as a file of trust anchors; empty if the root is not signed."""

    def summary(self) -> dict[str, Any]:
        """Return `profile`, `domains`, `servers`, and the `prefixes` of all server addresses."""

    @property
    def hosts(self) -> list[str]:
        """What precedes domains in the questions of clients; "" is the domain itself."""

    def memory(self) -> dict[str, int]:
        """Return octets by what they hold, about.

        `zones` are records as they are answered from, `keys` theirs, `to_sign` the RRsets that may have to be signed,
        `signatures` those that were made, `answers` those that were given; `chains` are the hashes of registries' NSEC3
        chains, beyond `memory_octets`.
        """

    def questions(self, count: int, seed: int, missing_share: float) -> str:
        """Return questions that clients would ask, a line `name type` for each."""

@final
class AskedQueries:
    """Queries of clients, in columns: when, by whom, for what. A query takes 20 octets, and a share of its name's."""

    def __init__(self) -> None:
        """Hold none yet."""

    @staticmethod
    def synthesise(profile: str, plan: str) -> AskedQueries:
        """Make traffic as a profile, by name or path, describes it; `plan` is as `traffic_synthesise` takes it."""

    def push(
        self, time_ns: int, client: int, name: str, rtype: int, edns_size: int | None = None, do_bit: bool = False
    ) -> None:
        """Append a query of a client, by any number; one that is earlier than the last is as late."""

    def __len__(self) -> int: ...
    @property
    def client_count(self) -> int:
        """How many clients ask; they are numbered in the order of their first queries."""

    @property
    def name_count(self) -> int:
        """How many different names are asked for; they are numbered in the order in which they are first asked for."""

    @property
    def span_ns(self) -> int:
        """The time from the first query to the last in ns."""

    def addresses(self) -> bytes:
        """Return an octet for each name: 1 if it is that of an address, else 0."""

    def count_before(self, end_ns: int) -> int:
        """Count the queries that come less than `end_ns` after the first."""

    def write_text(
        self,
        path: str | PathLike[str],
        stand_ins: StandIns,
        *,
        start_ns: int,
        end_ns: int,
        kept: bytes | None = None,
    ) -> int:
        """Write queries as a query file with `stand_ins` for names; return how many there are.

        They are those from `start_ns` to before `end_ns` after the first, of clients for which `kept` has an octet
        that is not 0 (None: of all). Times count from `start_ns`. What is at `path` is overwritten.
        """

@final
class StandIns:
    """Questions of an Internet that stand in the place of the names of other traffic: one of its own for each."""

    @staticmethod
    def draw(internet: Internet, kinds: bytes, *, batch: int, seed: int, missing_seed: int) -> StandIns:
        """Draw a question for each name; raise InputError if the Internet has too few.

        `kinds` has an octet for each: 0 for a name that exists, 1 for an address, 2 for a missing name. `batch`
        questions are drawn by `seed`, or by `missing_seed` for missing names; the next ones by the next seed.
        """

    def __len__(self) -> int: ...
    def question(self, number: int) -> str:
        """Return the question that stands in the place of name `number`: `name type`."""

@final
class RebuiltInternet:
    """An Internet rebuilt from captures."""

    def __new__(
        cls, folder: str | PathLike[str], index: str, *, seed: int, signed_at_s: int, memory_octets: int = 1 << 30
    ) -> RebuiltInternet:
        """Read the zones that `index` says are in `folder`; those that were signed get keys of the seed.

        Zones and signatures may take `memory_octets`.
        """

    @property
    def zones(self) -> int:
        """How many zones there are."""

    @property
    def memory_octets(self) -> int:
        """Octets that zones and signatures take now, about."""

    @property
    def root_hints(self) -> str:
        """The root's servers, as a file of root hints."""

    @property
    def trust_anchor(self) -> str:
        """The root's DS record, as a file of trust anchors; empty if the root was not signed."""

    @property
    def addresses(self) -> list[str]:
        """The addresses of all servers."""

def rebuild_internet(
    paths: Sequence[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    memory_octets: int,
    read: str = "{}",
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Rebuild zones of the responses in captures, write them into `folder` and return JSON: `index` and `files`.

    What the captures show may take `memory_octets`, and making zones of it as many again.
    """

@final
class InternetServer:
    """An Internet being served in the background, from the network namespace of the thread that made it."""

    def __new__(
        cls,
        internet: Internet | RebuiltInternet,
        *,
        port: int,
        threads: int,
        loopback: bool = False,
        gives_way: bool = False,
        link: tuple[int, bytes] | None = None,
    ) -> InternetServer:
        """Start serving on a port of all addresses; with `loopback` receive over the loopback device alone.

        With `gives_way` others get most of its processors' time, such as a load generator, whose queries have times.
        With `link`, the number of a device in this namespace and the 6 octets of the hardware address at its other
        end, answers to what came by it leave as whole packets, which is faster; where that is not permitted, the system
        sends them.
        """

    @property
    def port(self) -> int:
        """The port."""

    @property
    def running(self) -> bool:
        """Whether it serves; if not, `stop` raises why."""

    @property
    def sends_packets(self) -> bool:
        """Whether answers leave as whole packets where they can: `link` was told, and the system permits it."""

    def gather(self, us: int) -> None:
        """Gather queries over UDP that come one after the other for so many microseconds at most, from now on.

        They are answered together then; one that comes after a pause is answered at once. 0, as at the start: each is
        answered as it comes. Where servers have distances, these say how long it is, and this says nothing.
        """

    def queries(self) -> int:
        """Return how many queries it was asked; those of the last 50 ms may be missing."""

    def accounts(self) -> list[dict[str, Any]]:
        """Return what was asked and answered: a dictionary for each server, type and transport."""

    def begin_outages(self, elapsed_s: float = 0.0) -> None:
        """Begin the schedule of outages once more: it is so old now; without this it began when serving did."""

    def hold_outages(self) -> None:
        """Have all servers answer until the schedule begins again."""

    def state(self) -> dict[str, Any]:
        """Return `signatures` and `zones` made, `memory_octets` in use by these and by answers, answers `dropped`."""

    def stop(self) -> None:
        """Stop it; raise what it broke off with, if it had."""

def signing_rate(algorithm: str, bits: int | None, threads: int, seconds: float) -> float:
    """Return how many signatures a second this machine makes on so many threads with a new key, and nothing else.

    No signer can be faster than that. `bits` is the size of an RSA key.
    """

@final
class Zone:
    """A zone in memory."""

    @staticmethod
    def read(path: str | PathLike[str], origin: str | None = None) -> Zone:
        """Read an RFC 1035 master file."""

    @staticmethod
    def generate(origin: str, records: int, seed: int) -> Zone:
        """Make a synthetic small domain of exactly `records` records."""

    def write(self, path: str | PathLike[str]) -> None:
        """Write the zone as a master file: beside, then renamed."""

    def without_dnssec(self) -> Zone:
        """Give the zone without what DNSSEC signing adds to it."""

    def sign(
        self,
        keys: KeySet,
        *,
        denial: str,
        iterations: int = 0,
        salt: str = "",
        opt_out: bool = False,
        inception: int | None = None,
        expiration: int | None = None,
    ) -> Zone:
        """Sign the zone; DNSSEC records that it has are replaced. Times are seconds since 1970."""

    @property
    def origin(self) -> str:
        """The name of the apex, with its final dot."""

    @property
    def warnings(self) -> list[str]:
        """What was odd in the file that the zone was read from."""

    def statistics(self) -> dict[str, Any]:
        """Count records, RRsets, names, delegations and so on; `types` has the records by type."""

@final
class KeySet:
    """The keys of a zone, all with different tags."""

    def __new__(cls) -> KeySet: ...
    def __len__(self) -> int: ...
    def generate(
        self,
        origin: str,
        algorithm: str,
        bits: int | None,
        role: Literal["ksk", "zsk"],
        *,
        folder: str | PathLike[str] | None = None,
        timing: Mapping[str, int | None] | None = None,
        ttl_s: int | None = None,
        pkcs11: str | None = None,
        allow_sha1: bool = False,
    ) -> None:
        """Make a key for `origin` and add it; `bits` is for RSA.

        Its tag is none of those of the set's other keys and of the zone's keys in `folder`. `timing` changes times
        (seconds since 1970, None for none) by the names of events in BIND's key files: `Publish`, `Activate`,
        `Revoke`, `Inactive`, `Delete`, `SyncPublish`, `SyncDelete`. `pkcs11` is the URI (RFC 7512) under which the key
        is to be in a token. Algorithms with SHA-1 need `allow_sha1`.
        """

    def read_token(
        self,
        origin: str,
        pkcs11: str,
        role: Literal["ksk", "zsk"],
        *,
        algorithm: str | None = None,
        folder: str | PathLike[str] | None = None,
        timing: Mapping[str, int | None] | None = None,
        ttl_s: int | None = None,
        allow_sha1: bool = False,
    ) -> None:
        """Add the key for `origin` that a token has already; without `algorithm` its kind says it."""

    def read(self, path: str | PathLike[str], role: Literal["ksk", "zsk"] | None = None) -> None:
        """Read a key from its pair of BIND key files and add it; `path` is that of either file, or without suffix.

        A key that the set has already is left out. With `role` it signs what that role signs, whatever its flags say.
        """

    def make_deterministic(self) -> None:
        """Make the same data have the same signature from now on (RFC 6979); keys in a token cannot."""

    def read_directory(self, folder: str | PathLike[str], origin: str) -> list[str]:
        """Read all keys of the zone `origin` in `folder` and add them.

        Return the file names, without suffix, of keys that have no private key there.
        """

    def write(self, folder: str | PathLike[str]) -> None:
        """Write every key as a pair of BIND key files into `folder`; existing files are not overwritten."""

    def check_owner(self, origin: str) -> None:
        """Raise InputError unless every key is for the zone `origin`."""

    def check_active(self, now_s: int) -> None:
        """Raise InputError unless every key signs at `now_s`, in seconds since 1970."""

    def describe(self, now_s: int | None = None) -> list[dict[str, Any]]:
        """Say of each key its file_name, zone, algorithm, algorithm_number, tag, flags, role, ttl_s and timing.

        `revoked_tag` is the tag that it gets once it is revoked. With `now_s` also whether it is_published, is_active
        and is_revoked then.
        """

    @property
    def file_names(self) -> list[str]:
        """The file names of the keys without suffix, such as `Kexample.test.+008+12345`."""

    @property
    def ds_records(self) -> list[str]:
        """The DS records (SHA-256) of the key-signing keys, for the parent zone; without TTL where keys have none."""

def ds_records(
    path: str | PathLike[str],
    digests: Sequence[str],
    *,
    cds: bool = False,
    all_keys: bool = False,
    ttl_s: int | None = None,
) -> list[str]:
    """Make the DS (or CDS) records of a `.key` file, or of a signed zone's secure entry points.

    There is one for each key and each of the digest types `2`, `4` and `1`. Without `ttl_s` they have the TTL of the
    DNSKEY records, or none where a `.key` file says none.
    """

class _Reading(Protocol):
    """How zone files are to be read: dnsrig.cli.zone_reading.Reading.

    `memory` is octets for sorting, beyond which temporary files are used; `on_progress` is called with the octets of
    text read so far.
    """

    @property
    def origin(self) -> str | None: ...
    @property
    def memory(self) -> int | None: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def on_progress(self) -> Callable[[int], None] | None: ...

def zone_apex(path: str | PathLike[str], origin: str | None = None) -> str:
    """Give the apex of a zone file, of which no more is read than that takes."""

def sign_zone(
    path: str | PathLike[str],
    target: str | PathLike[str],
    keys: KeySet,
    signing: Signing,
    reading: _Reading,
) -> dict[str, Any]:
    """Sign the zone file `path` and write it to `target`; `-` is standard input, and output.

    Return zone, serial, records, octets, chain_names; signatures made, kept, verified (of those kept) and dropped, and
    their longest TTL (ttl_max_s); dnskey_ttl_s; the file names of the keys, key_signing_keys, zone_signing_keys and
    published_keys (that do not sign); the ds records; and warnings.
    """

def verify_zone(
    path: str | PathLike[str],
    reading: _Reading,
    *,
    now_s: int,
    ignore_times: bool = False,
    ds: Sequence[bytes] = ...,
    most: int = 100,
) -> dict[str, Any]:
    """Verify the signed zone file `path` as of `now_s`; `ds` has the data of the parent zone's DS records.

    Return zone, records, rrsets, signatures (valid ones), chain_names, chain, algorithms, zonemd (the hashes of its
    digests that are right), fault_count, and `most` of the faults, each with file, line, column, owner, type, what and
    text.
    """

@final
class QueryLog:
    """The questions of a query file in dnsperf's format."""

    def __len__(self) -> int: ...
    @staticmethod
    def read(path: str | PathLike[str], skip_bad: bool = False) -> QueryLog:
        """Read a query file (`-`, gzip and zstd as below); with `skip_bad`, bad lines are left out and counted."""

    @property
    def skipped(self) -> int:
        """How many bad lines were left out."""

    def to_stream(self, *, edns_size: int | None = None, do_bit: bool = False) -> QueryStream:
        """Make query messages of the questions, as they are and in their order."""

@final
class QueryStream:
    """Query messages in an order."""

    def __len__(self) -> int: ...
    @staticmethod
    def synthesise(
        zone: Zone,
        log: QueryLog | None,
        *,
        kind: str,
        queries: int,
        seed: int,
        denial_share: float = 0.08,
        edns_size: int | None = None,
        do_bit: bool = False,
    ) -> tuple[QueryStream, dict[str, Any]]:
        """Make a stream for `zone` by JPRS-2010's method; return it with a summary of what is in it."""

    @staticmethod
    def from_capture(path: str | PathLike[str], options: str = "{}") -> tuple[QueryStream, str]:
        """Read the queries of a pcap or pcapng file (`-` is standard input, gzip and zstd are decompressed).

        `options` is a JSON object: `ports` ([53]), `servers` (prefixes; none means all), `only_udp`, `client_by_port`,
        `max_queries`, `max_span_ns`. Return the timed stream with a summary as JSON.
        """

    @staticmethod
    def from_text(
        path: str | PathLike[str], *, message: str = "{}", skip_bad: bool = False, most_clients: int | None = None
    ) -> tuple[QueryStream, str]:
        """Read a query file whose lines are `name type [class] [key=value ...]`; return it with a summary as JSON.

        With `most_clients`, what further ones ask is asked by those, in turn; the summary has all of them.

        `message`, here and below, is a JSON object of what every message has: `edns_size`, `do_bit`,
        `recursion_desired` (true), `checking_disabled`, `authentic_data`, `nsid`, `client_subnet` (a prefix),
        `options` (a list of `CODE:HEX`), `padding_block`, `cookie`.
        """

    @staticmethod
    def from_updates(
        path: str | PathLike[str], *, message: str = "{}", skip_bad: bool = False
    ) -> tuple[QueryStream, str]:
        """Read dynamic updates in dnsperf's format; return them with a summary as JSON."""

    @staticmethod
    def from_binary(path: str | PathLike[str]) -> tuple[QueryStream, str]:
        """Read messages, each after its length in two octets; return them with a summary as JSON."""

    @staticmethod
    def generate(plan: str, *, message: str = "{}") -> tuple[QueryStream, str]:
        """Make queries for names from patterns; return them with a summary as JSON.

        `plan` is a JSON object: `patterns` (such as `{az:4}.com`), `types` (such as `A=70,AAAA=30`), `queries`, `seed`.
        """

    @property
    def is_timed(self) -> bool:
        """Whether every query has a time and a client."""

    @property
    def client_count(self) -> int:
        """How many clients a timed stream has; else 0."""

    @property
    def span_ns(self) -> int:
        """The time from the first query to the last in ns; 0 unless the stream is timed."""

    def time_ns(self, index: int) -> int | None:
        """Give the time of the query at `index` in ns since the first one; None unless the stream is timed."""

    def client(self, index: int) -> int | None:
        """Give the number of the client of the query at `index`; None unless the stream is timed."""

    def message(self, index: int) -> bytes:
        """Give the message at `index` in wire format, its ID zero."""

    def write_text(self, path: str | PathLike[str]) -> None:
        """Write the questions as a query file in dnsperf's format: beside, then renamed; `-` is standard output."""

def load(
    stream: QueryStream,
    settings: str,
    on_second: Callable[[str], None] | None = None,
    on_start: Callable[[float], None] | None = None,
) -> tuple[str, bool]:
    """Send `stream` as `settings` (JSON) say; return the report as JSON, and whether Ctrl-C ended the load.

    `on_second` gets each second's figures as JSON, and `on_start` before that how many seconds ago the load began.
    """

def find_breaking_point(
    stream: QueryStream,
    settings: str,
    goal: str,
    limits: str,
    on_trial: Callable[[str], None] | None = None,
) -> tuple[str, bool]:
    """Search for the highest rate that a server carries, with the load of `settings`, by `goal` and `limits` (JSON).

    `on_trial` gets each trial as JSON. Return the report as JSON, and whether Ctrl-C ended the search.
    """

def judge_bottleneck(report: str, server_cpu_share: float) -> str:
    """Judge a finished load's bottleneck again, with the share that the server used of the CPU it could use."""

def latency_percentiles(histograms: Sequence[str], percentiles: Sequence[float]) -> list[int]:
    """Merge stored latency histograms; give the latency in ns at each of `percentiles` (0 to 100)."""

def serve(
    zones: Sequence[tuple[str, str | PathLike[str]]],
    address: str,
    port: int,
    threads: int,
    minimal: bool,
    on_ready: Callable[[dict[str, int]], None],
    *,
    dot_port: int | None = None,
    doh_port: int | None = None,
    doq_port: int | None = None,
    certificate: str | PathLike[str] | None = None,
    key: str | PathLike[str] | None = None,
) -> None:
    """Serve `zones` (name, file) until SIGTERM or Ctrl-C; SIGHUP reads the files again.

    `on_ready` gets the ports by transport: `dns` (UDP and TCP), `dot`, `doh`, `doq`. Port 0 takes a free one. The
    encrypted transports need `certificate` (a chain, the server's own first) and `key`, both PEM files.
    """

def serve_echo(address: str, port: int, on_ready: Callable[[int], None], offload: bool = True) -> int:
    """Echo every datagram as an answer until Ctrl-C; `on_ready` gets the port. Return the number of answers.

    With `offload`, answers of one length leave together, which is faster for both ends than any name server.
    """

def zone_sort(path: str | PathLike[str], target: str | PathLike[str], reading: _Reading) -> str:
    """Write a zone in canonical order; return counts and warnings as JSON, as all of these do."""

def zone_split(
    path: str | PathLike[str],
    prefix: str | PathLike[str],
    reading: _Reading,
    *,
    pieces: int | None = None,
    labels: str | None = None,
) -> str:
    """Cut a zone into `pieces` pieces, or one for each of the ranges `labels`; return the manifest."""

def zone_join(
    paths: Sequence[str | PathLike[str]],
    target: str | PathLike[str],
    reading: _Reading,
    *,
    manifest: str | PathLike[str] | None = None,
) -> str:
    """Put pieces together; one of `paths` may be the manifest, and that alone tells where the pieces are."""

def zone_check(path: str | PathLike[str], most: int, reading: _Reading) -> str:
    """Check a zone; return the first `most` findings and the counts of all."""

def zone_rules() -> list[tuple[str, str, str]]:
    """Give the rules of `zone_check`: name, severity and what each says."""

def zone_compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    reading: _Reading,
    *,
    most: int,
    ignore_rrsig_times: bool = False,
    ignore_serial: bool = False,
    ignore_ttl: bool = False,
) -> str:
    """Compare two zones; return the first `most` differences and the counts of all."""

def zone_survey(path: str | PathLike[str], reading: _Reading) -> str:
    """Say what a zone looks like: counts, sizes, algorithms."""

def traffic_anonymise(
    paths: Sequence[str | PathLike[str]],
    output: str | PathLike[str],
    *,
    key: str | PathLike[str] | None = None,
    make_key: bool = False,
    read: str = "{}",
    settings: str = "{}",
    on_progress: Callable[[int], Any] | None = None,
) -> str:
    """Write captures without anything that tells who sent a query; give a summary as JSON.

    Without the key file `key`, a new key is used and forgotten; with `make_key`, a file that is not there is made.
    `settings` is a JSON object: `names` ("keep" or "pseudonyms"), `keep` (suffixes that stay readable, too).
    `read` and `on_progress` are those of `traffic_stats`.
    """

@final
class TrafficStatistics:
    """What is in captures."""

    def report(self) -> str:
        """Give the figures as JSON."""

    def state(self) -> str:
        """Give what is merged as JSON; it may be long."""

    def rates(self) -> list[tuple[int, list[int]]]:
        """Give the requests of each second: the first second of a run since 1970, and the counts from that on."""

def traffic_stats(
    paths: Sequence[str | PathLike[str]],
    read: str = "{}",
    options: str = "{}",
    on_progress: Callable[[int], Any] | None = None,
) -> TrafficStatistics:
    """Read captures and count what is in them.

    `read` is a JSON object: `ports` ([53]), `threads`; so is `options`: `counted_from` ("queries" or "answers"),
    `names` and `clients` (how many are counted exactly), `stores_all` (the state has all of these, and not the most
    frequent alone). `on_progress` gets the octets read of all files.
    """

def traffic_merge(
    paths: Sequence[str | PathLike[str]], on_progress: Callable[[int], Any] | None = None
) -> TrafficStatistics:
    """Add up the statistics of several captures, each a file with a JSON object that has a `state`.

    One of them at a time is in memory beside the sum. `on_progress` gets the octets read of all files.
    """

def traffic_filter(
    paths: Sequence[str | PathLike[str]],
    read: str,
    expression: str,
    output: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write the DNS packets and messages for which `expression` holds to a pcap file; return what was done as JSON.

    For `read` and `on_progress` see `traffic_stats`.
    """

def traffic_time_ns(text: str) -> int | None:
    """Read a time such as 2026-11-22T18:05:00Z, 20261122180500 or seconds since 1970; give ns since 1970."""

def traffic_partition_files(settings: str, prefix: str | PathLike[str]) -> list[str]:
    """Name the files that `traffic_partition` writes."""

def traffic_partition(
    paths: Sequence[str | PathLike[str]],
    read: str,
    settings: str,
    prefix: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write a pcap file beside `prefix` for each part of the captures; return what was done as JSON.

    `settings` is JSON with one of `labels` (`zone`, `ranges`), `manifest` (a path) and `clients` (how many parts).
    """

def traffic_sample(
    paths: Sequence[str | PathLike[str]],
    read: str,
    settings: str,
    output: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write all packets of some clients to a pcap file; return what was done as JSON.

    `settings` is JSON: `clients` (a share) and `target_qps`, of which one may be null, and `key`.
    """

def traffic_mix(
    paths: Sequence[str | PathLike[str]],
    others: Sequence[str | PathLike[str]],
    read: str,
    settings: str,
    output: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write the queries of `paths` with those of `others` among them; return what was done as JSON.

    `settings` is JSON: the forms `base`, `other` and `to`, `augment`, `substitute`, `seed` and `stand_ins`.
    """

def traffic_warp(
    paths: Sequence[str | PathLike[str]],
    read: str,
    settings: str,
    output: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write the captures to a pcap file at other times; return what was done as JSON.

    `settings` is JSON: `speed`, `start_ns` or null, `shift_ns`, `loops` and `same_names`.
    """

def traffic_convert(
    paths: Sequence[str | PathLike[str]],
    read: str,
    settings: str,
    output: str | PathLike[str],
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Convert captures, query files and binary messages into one another; return what was done as JSON.

    `settings` is JSON: the forms `from` and `to` (`capture`, `text`, `binary`), and `stand_ins`: `server`, `port`,
    `rate_qps`, `skip_bad`.
    """

@final
class TransactionReader:
    """Transactions, a batch of columns at a time: name, kind, values as Arrow has them, and where these end or None.

    Kinds are `time`, `duration`, `number`, `number_or_none`, `text` and `octets`.
    """

    def __new__(cls, paths: Sequence[str | PathLike[str]], read: str, settings: str) -> TransactionReader: ...
    def __iter__(self) -> TransactionReader: ...
    def __next__(self) -> list[tuple[str, str, bytes, bytes | None]]: ...
    def counts(self) -> str:
        """Give what was read and made as JSON, after the last batch."""

@final
class TransactionWriter:
    """Writes the queries of transactions as a capture, a query file or binary messages."""

    def __new__(cls, path: str | PathLike[str], form: str) -> TransactionWriter: ...
    def write(
        self,
        file: str | PathLike[str],
        first_row: int,
        times_ns: bytes,
        ids: bytes,
        client_ports: bytes,
        server_ports: bytes,
        client_ends: bytes,
        clients: bytes,
        server_ends: bytes,
        servers: bytes,
        transport_ends: bytes,
        transports: bytes,
        query_ends: bytes,
        queries: bytes,
    ) -> None:
        """Write a batch, which begins at `first_row` of `file`: each other argument is a buffer as Arrow has it."""

    def finish(self) -> str:
        """End the file and give it its name; return what was written as JSON. If that is nothing, no file is left."""

def traffic_synthesise(
    profile: str, plan: str, path: str | PathLike[str], on_progress: Callable[[int], None] | None = None
) -> str:
    """Write traffic as `profile`, a name or path, describes it to `path` (`-`: standard output); return facts as JSON.

    `plan` is JSON: rate_qps, duration_s, queries, start_ns, seed, format (pcap, text, binary), packets (queries,
    answers, both). `on_progress` is given the requests made so far.
    """

def traffic_fit(
    paths: Sequence[str | PathLike[str]],
    name: str,
    output: str | PathLike[str],
    read: str = "{}",
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Write the profile `name` of captures to `output`; return what it was made of as JSON."""

def traffic_profiles() -> list[tuple[str, str]]:
    """Return the names and titles of the profiles that come with dnsrig."""

def traffic_profile(source: str) -> tuple[str, str]:
    """Return the text of a profile, a name or path, and as JSON its figures and where each is from."""
