"""Items about DNS proxies (RFC 5625), one a module; JPRS-2010 case 7 has P-1 to P-5, others are P- and a word."""
