"""What only a real process shows: the command line as a program, the cage, git and programs that render."""
