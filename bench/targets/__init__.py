"""What `bench/load_targets` is made of: each row of the load generator's table of targets as a repeatable run."""
