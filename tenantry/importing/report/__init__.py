"""What import tells: what became what, what did not and why, what adoption changes, and the steps to it.

    report    all of it, from the inventory, the draft and the proof
    steps     what to do before and after the first `tenantry up`

Called by: the command `import`, which prints it as text, Markdown and JSON.
Never: shows the value of a Secret. The proof masks secrets.
"""
