"""`tenantry reconcile`, `suspend` and `resume`: what a person does to apps between two runs of `tenantry up`."""
