"""The studies: what each asks, how it is run, and the words of its report."""
