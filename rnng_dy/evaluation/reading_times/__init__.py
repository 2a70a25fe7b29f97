"""Reading times explained by surprisals: tables, their alignment, regressions, comparison of systems."""
