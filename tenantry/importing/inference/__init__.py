"""What was read to a draft of tenants.yaml: a module for each subject.

    world        the objects of one environment, by kind and namespace
    owners       whose a namespace is: the platform's or a tenant's
    clusters     remote clusters, from the kubeconfigs that Flux objects name
    survey       the apps of one environment: whose they are, and where they run
    appliers     which Kustomization applies an object today
    apps         the content of an app, by `kustomizations`, `releases` and `sources`
    settings     what a tenant's namespaces hold; `namespaces`: what differs in extra ones
    attached     alerts, receivers, image automation, rights on clusters
    overlay      the same thing in several places to one entry with overrides; `variables` where there are none
    tenants, entries, assemble    the whole document
    settle       leaves out what would make the document invalid

Called by: the command `import`.
Never: guesses a value. What cannot be expressed is left over, with the reason.
"""
