"""Why an app is not well on a cluster: the trail from the file to Flux's objects, what Flux applied, pods and events.

Called by: `tenantry why`.
    reading    reads the management cluster and the app's clusters, and puts the answer together
    flux       judges what the management cluster says: the file's state, sources, Flux's own errors, dependencies
    cluster    judges what the app's cluster says: objects, pods, quotas, or that it does not answer
    findings   what a judge says: a cause in one line, its evidence, and what to type next
    texts      recognizes what Flux, Kubernetes and Helm say in their messages
Never: writes, or reads the value of a Secret other than a kubeconfig.
"""

from tenantry.why.findings import Answer, Evidence, Finding, Stage
from tenantry.why.reading import Asking, answers

__all__ = ["Answer", "Asking", "Evidence", "Finding", "Stage", "answers"]
