"""What a sandbox command tells its user when it cannot go on."""


class SandboxError(Exception):
    """A failure the user can act on: what happened, and what to do about it.

    Neither text ever holds a key, a token or a kubeconfig: both are shown and may be logged.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class Unreachable(SandboxError):
    """A cluster does not answer, be it that it is not ready yet or that its API server has ended."""
