"""`python -m cereus` is the command `cereus`."""

from cereus.cli.main import app

if __name__ == "__main__":
    app(prog_name="cereus")
