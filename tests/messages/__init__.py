"""Tests of the replay of message traces."""
