"""Broken and hostile fleets: files in `files/`, and what the modules here make of sound ones, the same on every run."""
