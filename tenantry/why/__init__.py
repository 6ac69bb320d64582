"""Why an app is not well on a cluster: the trail from the file to Flux's objects, what Flux applied, pods and events.

Called by: `tenantry why`.
    reading    reads the management cluster and the app's clusters, and puts the answer together
    judges     judge by the management cluster, and by the app's cluster
    findings   what a judge reports: a cause in one line, its evidence, lines of the file, and what to type next
Never: writes, or reads the value of a Secret other than a kubeconfig.
"""
