"""Tests of referee, match, journal, service and command line."""
