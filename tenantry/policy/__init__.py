"""A policy pack for Pulumi: checks every object of a stack, including objects that somebody adds to the program.

It checks what is about to be registered, without the plan and without the code that made it: a check that shared their code
would share their mistakes. It imports only the limits of names from the core, which are Kubernetes' own. What the main file
grants to each tenant it reads anew, as plain YAML.
"""
