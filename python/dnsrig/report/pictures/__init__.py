"""Pictures of a run, drawn by matplotlib; each module draws one kind and returns a figure."""

import logging

# Without a writable home folder matplotlib keeps its cache in a temporary one, which it removes at exit. It says so,
# and where it looked, in warnings that tell the reader of a report nothing.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
