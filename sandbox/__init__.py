"""Runs the clusters of one environment as local processes on loopback.

A fleet can be tried before it meets a real cluster: every management and remote cluster becomes a control plane of its
own with simulated nodes, the management cluster gets Flux, and one server plays the Git and chart hosts that the
sources name. The package knows nothing of tenants.yaml; it is given a `SandboxSpec` and works in one directory, which
`down` removes.
"""
