"""Faults that servers and proxies have had, to prove that items notice them; they live only inside the rig."""
