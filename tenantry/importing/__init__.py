"""Existing Flux objects to tenants.yaml: what `tenantry import` reads, infers, writes, and proves. Its modules in their order:

    documents, reading   files, kustomize trees and live clusters to objects; model: what they are collected in
    checkouts, follow    what Kustomizations apply from the source at hand; applied: one of them
    kustomize, programs  what kustomize builds; yaml_text, variables: the text of that, read as documents are
    appliers             what applies an object, by its labels
    environments         reads one environment without Flux itself, and says why nothing can be written
    world                the objects of one environment, by kind and namespace, and its apps
    leaving, secrets     what stays where it is: what others apply, and what may be a secret
    owners, clusters     whose a namespace is; remote clusters, from the kubeconfigs that Flux objects name
    survey               the apps of one environment: whose they are, and where they run
    blocks, apps         Flux's objects backward: without what the fleet sets itself and what the plan says anyway
    settings, attached   what a tenant's namespaces hold; alerts, receivers, rights on clusters
    overlay              the same thing in several places to one entry with overrides, or with variables
    entries              what tenants and the platform have in common; their entries: tenants, platform
    assemble             the whole document
    settle               leaves out what would make the document invalid
    text, proof          the document as it is written; its plan, compared with what was read; equivalence: values that
                         mean the same
    report, steps        what import tells, and how to adopt the fleet

Called by: the command `import`.
Never: changes a cluster, copies the value of a Secret, or guesses a value. What cannot be expressed is left over, with the reason.
"""
