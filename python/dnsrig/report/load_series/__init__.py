"""A load's intervals as a file that other programs read: JSON Lines as it goes, CSV or Parquet at its end.

The formats are described in docs/guide/load-output.md.
"""

from dnsrig.report.load_series.context import LoadContext
from dnsrig.report.load_series.writers import FORMS, SeriesWriter, open_series

__all__ = ["FORMS", "LoadContext", "SeriesWriter", "open_series"]
