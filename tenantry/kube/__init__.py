"""What Kubernetes itself defines: objects and their identity, names and their limits, the data of Secrets.

Called by: every package that handles objects, the components, and the policy pack for the limits of names.
Never: knows Flux or tenants.yaml.
"""
