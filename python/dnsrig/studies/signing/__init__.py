"""The parts of the study signing: settings, cases, inputs, signers, measurements and sections of the report."""
