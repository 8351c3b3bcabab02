"""The parts of the study encrypted-cost: its settings, cases, inputs, measurements and sections of the report."""
