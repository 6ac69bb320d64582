"""Runs the clusters of one environment as local processes on loopback, so that people can try a fleet before it meets a real one.

It must never touch anything outside its own directory, which `down` removes, and apart from `spec` it must not know tenants.yaml.
"""
