"""The command."""

from scripts.torture.campaign import main

if __name__ == "__main__":
    main()
