"""The command line: one file for each command. Nothing heavy is imported before a command needs it."""
