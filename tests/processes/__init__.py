"""What only a real process shows: the command line as a program, git and kustomize."""
