"""Reports on runs: statistics, tables, pictures, pages, comparisons."""
