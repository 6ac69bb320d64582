"""What Kubernetes itself defines: objects and their identity, names and their limits, the data of Secrets.

Called by: every package that handles objects, and the components.
Never: knows Flux or tenants.yaml.
"""
