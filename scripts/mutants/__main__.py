"""The command for mutation testing."""

from scripts.mutants.runs import main

if __name__ == "__main__":
    main()
