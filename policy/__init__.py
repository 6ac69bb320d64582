"""A policy pack for Pulumi: checks every object of a stack, including objects that somebody adds to the program.

It checks what is about to be registered, and knows neither tenants.yaml nor the plan: a check that shared their code
would share their mistakes. It imports only the limits of names from the core, which are Kubernetes' own.
"""
