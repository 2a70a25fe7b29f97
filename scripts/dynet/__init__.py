"""Makes, caches and installs the DyNet wheel (scripts/install_dynet)."""
