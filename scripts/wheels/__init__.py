"""Tries the wheel of dist/ as a new user would (`make test-wheels`)."""
