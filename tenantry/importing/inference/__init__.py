"""What was read to a draft of tenants.yaml: a module for each subject.

    world        the objects of one environment, by kind and namespace
    clusters     remote clusters, from the kubeconfigs that Flux objects name
    owners       whose a namespace is, and whose an app is
    settings     what a tenant's namespaces hold
    sources, kustomizations, releases    one object of Flux's to a block of the file
    overlay      the same thing in several places to one entry with overrides
    assemble     the whole document
    settle       leaves out what would make the document invalid

Called by: the command `import`.
Never: guesses a value. What cannot be expressed is left over, with the reason.
"""
