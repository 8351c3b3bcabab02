"""What processes and the machine use while a load runs."""
