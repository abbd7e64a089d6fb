"""`python -m constrint`: the `constrint` command."""

from constrint.support.children import leave_current_folder

if __name__ == "__main__":
    leave_current_folder()

    from constrint.cli.main import main

    main()
