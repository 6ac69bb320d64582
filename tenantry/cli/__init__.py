"""The command line: options in, data on stdout, messages on stderr, exit codes out.

Called by: the installed command `tenantry`. Each module is one command; `app` finds it by its name.
Never: contains logic that another command or the Pulumi program could need. Such code belongs in a lower layer.
"""

import gc

# Before all imports: they, and the plan of a large fleet, make millions of objects without cycles. Looking for cycles took a
# quarter of the time.
gc.set_threshold(200_000)
