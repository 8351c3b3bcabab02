"""Items about resolvers, one a module; ids of JPRS-2010 where the report has them, F- and a word otherwise."""
