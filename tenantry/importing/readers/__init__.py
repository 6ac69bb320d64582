"""Files, kustomize trees and live clusters to objects, each with the place where it was found.

Called by: the command `import`.
Never: keeps the value of a Secret.
"""
