"""Builds and finds the programs that the sandbox needs and that cannot be installed as Python packages. It knows no fleets."""
