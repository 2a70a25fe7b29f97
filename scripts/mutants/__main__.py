"""The command."""

from scripts.mutants.runs import main

if __name__ == "__main__":
    main()
