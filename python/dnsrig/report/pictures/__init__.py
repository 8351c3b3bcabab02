"""Pictures of a run, drawn by matplotlib; each module draws one kind and returns a figure."""
