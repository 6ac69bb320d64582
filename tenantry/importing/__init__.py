"""Existing Flux objects to tenants.yaml: what `tenantry import` reads, infers, writes, and proves. Its modules in their order:

    documents, reading     files, kustomize trees and live clusters to objects; kustomize: what it builds
    follow                 what Kustomizations apply, inside of the repository that is read
    resources              what was read, by kind and namespace, and what becomes of each
    leaving                what stays where it is: what others apply, and what may be a secret
    survey                 one environment: whose a namespace is, remote clusters from the kubeconfigs that Flux objects name, apps
    blocks, apps           Flux's objects backward: without what the fleet sets itself and what the plan says anyway
    entries, tenants       the same thing in several places to one entry with overrides: those of the platform and of tenants
    drafting               the whole document, without what would make it invalid, and as it is written
    proof                  its plan, compared with what was read, as the report has it

Called by: the command `import`.
Never: changes a cluster, copies the value of a Secret, or guesses a value. What cannot be expressed is left, with the reason.
"""
