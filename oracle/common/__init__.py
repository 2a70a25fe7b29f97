"""What oracle, clusters and rnng_dy share: text files, tables, errors and plugins."""
