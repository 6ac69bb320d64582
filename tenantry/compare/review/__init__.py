"""What a reviewer has to know about a difference, in the words of tenants, apps and clusters.

Called by: `tenantry diff`, for text, Markdown, JSON and the page alike.
Never: formats output, or reads anything but the two plans of each environment.
"""
