"""Runs the clusters of one environment as local processes on loopback.

People can try a fleet before it meets a real cluster: each management and remote cluster becomes a control plane with
simulated nodes, the management cluster gets Flux, and one server stands in for the Git and chart hosts of the sources.

`tenantry sandbox` calls it, and the end-to-end tests do. It must never touch anything outside its own directory, which `down`
removes, and apart from `fleet` it must not know tenants.yaml: it is given a `SandboxSpec`.
"""
