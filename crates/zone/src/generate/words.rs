//! The words that synthetic names are made of.

/// Hosts that most domains in operation have, in the order in which they are used.
pub(super) const HOSTS: [&str; 48] = [
    "shop", "vpn", "blog", "api", "webmail", "smtp", "pop", "intranet", "dev", "test", "stage",
    "git", "wiki", "proxy", "ldap", "radius", "ntp", "syslog", "monitor", "backup", "db1", "db2",
    "app1", "app2", "cache", "cdn", "static", "img", "video", "chat", "meet", "sso", "auth",
    "portal", "support", "status", "docs", "forum", "news", "search", "print", "nas", "gw", "fw1",
    "fw2", "voip", "pbx", "mx-out",
];

/// Further hosts: one of these and a number.
pub(super) const NUMBERED: [&str; 40] = [
    "host", "node", "srv", "web", "app", "db", "pc", "desk", "lab", "cam", "sensor", "switch",
    "router", "ap", "printer", "phone", "tablet", "vm", "build", "worker", "store", "edge", "mail",
    "queue", "batch", "render", "cluster", "disk", "log", "metric", "train", "guest", "kiosk",
    "branch", "office", "plant", "scan", "door", "meter", "panel",
];

/// Parts of the domain with names below them and often no records of their own.
pub(super) const BRANCHES: [&str; 16] = [
    "corp", "eu", "us", "asia", "tokyo", "osaka", "berlin", "paris", "prod", "staging", "research",
    "sales", "factory", "campus", "students", "edge-dc",
];

/// Child zones.
pub(super) const CHILDREN: [&str; 12] = [
    "cloud",
    "k8s",
    "partners",
    "customers",
    "labs",
    "events",
    "media",
    "careers",
    "press",
    "store-de",
    "store-jp",
    "games",
];

/// Services for SRV records with their usual port.
pub(super) const SERVICES: [(&str, u16); 10] = [
    ("_sip._tcp", 5060),
    ("_sips._tcp", 5061),
    ("_sip._udp", 5060),
    ("_xmpp-client._tcp", 5222),
    ("_xmpp-server._tcp", 5269),
    ("_caldavs._tcp", 443),
    ("_carddavs._tcp", 443),
    ("_ldap._tcp", 389),
    ("_kerberos._udp", 88),
    ("_autodiscover._tcp", 443),
];
