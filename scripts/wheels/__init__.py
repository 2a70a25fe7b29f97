"""Tries the wheel of dist/ as a new user would, and on emulated processors (`make test-wheels`)."""
