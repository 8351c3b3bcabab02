"""Items about network paths, one a module: N-85 to N-87 for JPRS-2010 case 6, others are N- and a word."""
